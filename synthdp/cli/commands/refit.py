"""``synthdp refit``: another engine's model of what a saved release measured."""

import sys
from dataclasses import dataclass
from typing import final

from synthdp.cli.commands.models import release_of_one_table
from synthdp.cli.shared.announcing import caution, print_result
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import check_distinct
from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.core.reporting import logged
from synthdp.release.registry import engine_named


@final
@dataclass(frozen=True, kw_only=True)
class RefitOptions:
    """``synthdp refit``."""

    model: str
    engine: str
    output: str
    force: bool
    json: bool
    verbose: int
    log_format: str


def refit_command(options: RefitOptions) -> None:
    """``synthdp refit``: opens nothing but the saved release, and costs no privacy."""
    engine = engine_named(options.engine)
    if options.output == STANDARD_STREAM:
        raise ParameterError(
            f"--output is {options.output!r}; a release is a file, give the name of one"
        )
    check_distinct([options.output], inputs=(options.model,))
    check_writable(options.output, force=options.force)
    synthesis = release_of_one_table(options.model)
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        refitted = synthesis.refit(engine, report=logged(status))
    refitted.save(options.output, force=options.force)
    certificate = refitted.certificate
    if options.json:
        print_result({"output": options.output, "engine": certificate["engine"]}, certificate)
    else:
        name = certificate["engine"]["name"]
        before = certificate["refitted"]["engine"]["name"]
        fitted = f"fitted by {name}, at first by {before}; what was released, and its guarantee, is the same"
        sys.stderr.write(f"{options.output}: {fitted}\n")
    caution(certificate["cautions"], is_said=options.json)
