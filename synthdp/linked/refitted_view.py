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
    below: Sequence[tuple[LinkedView, Sequence[LinearMeasurement]]] = (),
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
    below
        As `SeenNumbers` takes it.
    report
        Called with the progress.
    """
    seen = SeenNumbers(view, part.measurements, below)
    unused = _unused(view, part, learnt)
    if not (seen.counts or view.position or view.repeats or unused):
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


def root_with_numbers_below(
    views: Mapping[str, LinkedView],
    parts: Mapping[str, Synthesis],
    engine: Engine,
    *,
    learnt: Mapping[str, Collection[str]] = MappingProxyType({}),
    report: Report = silent,
) -> Synthesis:
    """The release of the root once more, with what the views of the tables right below say of its
    numbers of children: of each, how much its rows weigh.

    The root's own marginals have at most a few parts in a hundred of the budget for that, and a
    mean number of children is off by the noise of many numbers. Further down a row's weight depends
    on several numbers, and what it says of one of them on the others.

    Parameters
    ----------
    views, parts
        All views, and those that were released, with that of the root among them.
    engine, learnt, report
        As `refitted_view` takes them.
    """
    root = next(label for label, view in views.items() if view.table.parent is None)
    below = [
        (views[label], part.measurements)
        for label, part in parts.items()
        if views[label].table.parent == root
    ]
    if not below:
        return parts[root]
    return refitted_view(
        views[root], parts[root], engine, learnt=learnt, below=below, report=report
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
