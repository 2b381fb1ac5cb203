"""A view fitted once more, with what was known only after it was released."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from synthdp.core.constraint import Constraint
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import Report, silent
from synthdp.inference.engine import Engine
from synthdp.learning.unused_levels import levels_without_records
from synthdp.linked.families.child_numbers import SeenNumbers
from synthdp.linked.informed import InformedEngine
from synthdp.linked.package.view import LinkedView
from synthdp.release.drawing.unused_levels import used_levels
from synthdp.release.synthesis import Synthesis


def refitted_view(
    view: LinkedView,
    part: Synthesis,
    engine: Engine,
    *,
    known: Sequence[LinearMeasurement] = (),
    learnt: Mapping[str, Collection[str]] = MappingProxyType({}),
    report: Report = silent,
) -> Synthesis:
    """The release of a view whose model has no numbers of children but those that noise shows, no
    level where there are no records but noise, and knows what the rows
    before others are like.

    All of it is post-processing: what was measured stays as it is.

    Parameters
    ----------
    view, part
        The view, and its release.
    engine
        What fits.
    known
        Marginals of ancestors and siblings, as the engine was given them.
    learnt
        What was learnt of each column.
    report
        Called with the progress.
    """
    seen = SeenNumbers(view, part.measurements)
    unused = _unused(view, part, learnt)
    if not seen.counts and view.position is None and not unused:
        return part
    # In place of what was measured of the numbers alone, of which they are a summary.
    others = [each for each in part.measurements if each.clique not in seen.cliques]
    fitted = Synthesis(
        schema=part.schema,
        measurements=[*others, *seen.counts],
        model=part.existing_model,
        certificate=part.certificate,
    ).refit(InformedEngine(engine, known, [*seen.constraints, *unused]), report=report)
    return Synthesis(
        schema=part.schema,
        measurements=part.measurements,
        model=fitted.model,
        certificate=fitted.certificate,
    )


def _unused(
    view: LinkedView, part: Synthesis, learnt: Mapping[str, Collection[str]]
) -> list[Constraint]:
    """Which levels of own columns there are, where noise is all that others have."""
    own = {name: learnt[name] for name in view.drawn if name in learnt}
    unused = levels_without_records(part.schema, part.measurements, own) if own else {}
    return [
        Constraint((name,), used_levels(part.schema[name].size, codes))
        for name, codes in unused.items()
    ]
