"""``synthdp show``: what a file says."""

from dataclasses import dataclass
from typing import final

from synthdp.cli.commands.describe import describe
from synthdp.cli.shared.printing import print_text
from synthdp.core.files.json_files import json_text


@final
@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """``synthdp show``."""

    file: str
    all: bool
    json: bool


def show_command(options: ShowOptions) -> None:
    """``synthdp show``: a schema, a saved model or a certificate, for people or as JSON."""
    content, text = describe(options.file, is_whole=options.all)
    print_text(json_text(content) if options.json else text + "\n")
