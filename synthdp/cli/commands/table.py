"""What the shell finds by name: its commands, what stands in for them where rows hang together, and
kinds of saved files.

What a name stands for is loaded when it is asked for: `synthdp --help` loads none of it, and a run
of one table nothing of packages. Names go down like imports, and no other file of the shell names a
module that is still to be loaded, but `synthdp.cli.projects.declared`, below the commands, what is
said of packages.
"""

from dataclasses import dataclass
from typing import NamedTuple, final


class Command(NamedTuple):
    """Where a command stands: its module, the function, and the class of its options."""

    module: str
    function: str
    options: str


COMMANDS = {
    "audit": Command("synthdp.cli.commands.audit", "audit_command", "AuditOptions"),
    "budget add": Command("synthdp.cli.commands.budgets", "add_command", "AddToBudgetOptions"),
    "budget create": Command(
        "synthdp.cli.commands.budgets", "create_command", "CreateBudgetOptions"
    ),
    "budget show": Command("synthdp.cli.commands.budgets", "show_command", "FileOptions"),
    "budget verify": Command(
        "synthdp.cli.commands.budgets", "verify_command", "VerifyBudgetOptions"
    ),
    "certificate": Command(
        "synthdp.cli.commands.certificate", "certificate_command", "CertificateOptions"
    ),
    "combine": Command("synthdp.cli.commands.sites", "combine_command", "CombineOptions"),
    "journal rescue": Command("synthdp.cli.commands.journals", "rescue_command", "RescueOptions"),
    "journal show": Command("synthdp.cli.commands.journals", "show_command", "FileOptions"),
    "marginal": Command("synthdp.cli.commands.uncertainty", "marginal_command", "MarginalOptions"),
    "measure": Command("synthdp.cli.commands.sites", "measure_command", "MeasureOptions"),
    "plan": Command("synthdp.cli.commands.planning", "plan_command", "PlanOptions"),
    "plan-measure": Command(
        "synthdp.cli.commands.sites", "plan_measure_command", "PlanMeasureOptions"
    ),
    "refit": Command("synthdp.cli.commands.refit", "refit_command", "RefitOptions"),
    "replicates": Command(
        "synthdp.cli.commands.uncertainty", "replicates_command", "ReplicatesOptions"
    ),
    "report": Command("synthdp.cli.commands.report", "report_command", "ReportOptions"),
    "run": Command("synthdp.cli.commands.run", "run_command", "RunOptions"),
    "sample": Command("synthdp.cli.commands.sample", "sample_command", "SampleOptions"),
    "schema check": Command("synthdp.cli.commands.planning", "check_command", "CheckOptions"),
    "schema draft": Command("synthdp.cli.commands.draft", "draft_command", "DraftOptions"),
    "show": Command("synthdp.cli.commands.show", "show_command", "ShowOptions"),
    "studio": Command("synthdp.cli.commands.studio", "studio_command", "StudioOptions"),
    "verify": Command("synthdp.cli.commands.verify", "verify_command", "VerifyOptions"),
}
"""Every command by the words of the shell."""

PACKAGE_COMMANDS = {
    "report": "synthdp.cli.commands.package_reports:report_on_package",
    "run": "synthdp.cli.commands.packages:run_package",
    "schema check": "synthdp.cli.commands.packages:check_package",
    "schema draft": "synthdp.cli.commands.packages:draft_package",
}
"""What some commands do where a package of linked tables is given in place of a table."""

RUN_HISTORY = "synthdp.cli.commands.histories:run_history"
"""What `synthdp run` does with ``--together`` or ``--order``."""

SERVE_STUDIO = "synthdp.cli.studio.server:serve"
"""What `synthdp studio` does once its libraries are there."""

LOAD_RELEASE = "synthdp.linked.doors.loading:load"
"""Saved releases of any kind; for runs that go on after one of their answers was rescued."""


@final
@dataclass(frozen=True, kw_only=True)
class SavedFile:
    """The names of what restores one kind of saved release from its path, samples it, and explains
    it to whoever asks `synthdp show`.
    """

    load: str
    sample: str
    explain: str


SAVED_FILES = {
    "table": SavedFile(
        load="synthdp.release.loading:load",
        sample="synthdp.cli.commands.sample:sample_table",
        explain="synthdp.cli.commands.describe:explained_table",
    ),
    "linked": SavedFile(
        load="synthdp.linked.doors.loading:load_linked",
        sample="synthdp.cli.commands.sample_linked:sample_linked",
        explain="synthdp.cli.describing.packages:explained_tables",
    ),
}
"""Kinds of saved releases, as `synthdp.release.saving.kinds.kind_of` calls them."""
