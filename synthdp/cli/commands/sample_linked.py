"""``synthdp sample`` of releases whose rows hang together."""

from synthdp.cli.arguments.options import SampleOptions
from synthdp.cli.commands.histories import sample_history
from synthdp.cli.commands.packages import sample_package
from synthdp.linked.histories.history_package import is_history
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.linked.linked_synthesis import LinkedSynthesis


def sample_linked(options: SampleOptions) -> None:
    """Draw one table of persons with their rows, or a folder of linked tables."""
    linked = LinkedSynthesis.load(options.model)
    if is_history(linked.package):
        sample_history(HistorySynthesis(linked), options)
    else:
        sample_package(linked, options)
