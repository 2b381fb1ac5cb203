"""What the shell finds by name: its commands, what stands in for them where rows hang together, and
kinds of saved files.

What a name stands for is loaded when it is asked for: `synthdp --help` loads none of it, and a run
of one table nothing of packages. Names go down like imports, and no other file of this folder names
a module that is still to be loaded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from synthdp.release.on_demand import OnDemand

Command: TypeAlias = Callable[..., None]

COMMANDS = {
    "audit": "synthdp.cli.commands.audit:audit_command",
    "budget add": "synthdp.cli.commands.budgets:add_command",
    "budget create": "synthdp.cli.commands.budgets:create_command",
    "budget show": "synthdp.cli.commands.budgets:show_command",
    "budget verify": "synthdp.cli.commands.budgets:verify_command",
    "certificate": "synthdp.cli.commands.certificate:certificate_command",
    "journal rescue": "synthdp.cli.commands.journals:rescue_command",
    "journal show": "synthdp.cli.commands.journals:show_command",
    "marginal": "synthdp.cli.commands.uncertainty:marginal_command",
    "plan": "synthdp.cli.commands.planning:plan_command",
    "refit": "synthdp.cli.commands.refit:refit_command",
    "replicates": "synthdp.cli.commands.uncertainty:replicates_command",
    "report": "synthdp.cli.commands.report:report_command",
    "run": "synthdp.cli.commands.run:run_command",
    "sample": "synthdp.cli.commands.sample:sample_command",
    "schema check": "synthdp.cli.commands.planning:check_command",
    "schema draft": "synthdp.cli.commands.draft:draft_command",
    "show": "synthdp.cli.commands.show:show_command",
}
"""The function of each command, by the words of the shell."""

PACKAGE_COMMANDS: dict[str, OnDemand[Command]] = {
    "report": OnDemand("synthdp.cli.commands.package_reports:report_on_package"),
    "run": OnDemand("synthdp.cli.commands.packages:run_package"),
    "schema check": OnDemand("synthdp.cli.commands.packages:check_package"),
    "schema draft": OnDemand("synthdp.cli.commands.packages:draft_package"),
}
"""What some commands do where a package of linked tables is given in place of a table."""

RUN_HISTORY: OnDemand[Command] = OnDemand("synthdp.cli.commands.histories:run_history")
"""What `synthdp run` does with ``--order``."""


@final
@dataclass(frozen=True, kw_only=True)
class SavedFile:
    """What is done with one kind of saved release.

    Parameters
    ----------
    load
        Restores it from its path.
    sample
        `synthdp sample` of it.
    explain
        What `synthdp show` says of it besides its certificate.
    """

    load: OnDemand[Callable[[str], Any]]
    sample: OnDemand[Command]
    explain: OnDemand[Callable[[str], tuple[dict[str, Any], Callable[[bool], str]]]]


SAVED_FILES = {
    "table": SavedFile(
        load=OnDemand("synthdp.release.loading:load"),
        sample=OnDemand("synthdp.cli.commands.sample:sample_table"),
        explain=OnDemand("synthdp.cli.commands.describe:explained_table"),
    ),
    "linked": SavedFile(
        load=OnDemand("synthdp.linked.histories.loading:load_linked"),
        sample=OnDemand("synthdp.cli.commands.sample_linked:sample_linked"),
        explain=OnDemand("synthdp.cli.describing.packages:explained_tables"),
    ),
}
"""Kinds of saved releases, as `synthdp.release.saving.kinds.kind_of` calls them."""
