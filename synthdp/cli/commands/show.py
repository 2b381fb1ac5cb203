"""``synthdp show``: what a file says."""

import argparse

from synthdp.cli.commands.describe import describe
from synthdp.cli.shared.announcing import print_text
from synthdp.core.files.json_files import json_text


def show_command(options: argparse.Namespace) -> None:
    """``synthdp show``: a schema, a saved model or a certificate, for people or as JSON."""
    content, text = describe(options.file, is_whole=options.all)
    print_text(json_text(content) if options.json else text + "\n")
