"""Whether rows were found to hang on others at all, by noisy counts: keys written differently match
nowhere.
"""

from collections.abc import Iterator, Mapping

from synthdp.core.measurement import CLEAR_TOTAL, clear_total, total_and_noise
from synthdp.linked.package.view import LinkedView
from synthdp.release.synthesis import Synthesis

FEW = 0.05
"""Share of parents: where no more of them can have rows, and noise hides whether any has, it is
said.
"""


def unlinked(
    views: Mapping[str, LinkedView], parts: Mapping[str, Synthesis]
) -> Iterator[tuple[str, str]]:
    """The view and a sentence for each table of which no row was found to hang on the table above,
    which has rows.

    The rows of its first view weigh what their parents do, and those of all parents what the first
    view of the table above does, in units of a family: so of the two totals, which are released,
    one is a share of the other.
    """
    for label, part in parts.items():
        view, parent = views[label], views[label].table.parent
        if (
            view.is_later
            or parent is None
            or parent not in parts
            or not part.measurements
            or not parts[parent].measurements
        ):
            continue
        total, stddev = (number / view.grid for number in total_and_noise(part.measurements))
        parents = clear_total(parts[parent].measurements)
        if parents is None or total >= CLEAR_TOTAL * stddev:
            continue
        most = (max(total, 0.0) + CLEAR_TOTAL * stddev) * views[parent].grid / parents
        if most <= FEW:
            yield (
                label,
                f"no row was found to hang on one of {parent!r}: at most {most:.1%} of these have any, by noisy "
                "counts; if the tables have more, keys are written differently in them (texts against numbers, leading "
                "zeros, formats of dates): write them the same way",
            )
