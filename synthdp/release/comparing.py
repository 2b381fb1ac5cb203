"""Drawn tables beside the records, once a model is fitted: a choice among models, and the quality
of the one that is taken.
"""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement, clear_total
from synthdp.core.reporting import Report
from synthdp.inference.model import Model
from synthdp.release.checked_table import CheckedTable
from synthdp.release.compared import Compared
from synthdp.release.filled_table import FilledTable
from synthdp.release.on_demand import CHOSEN_MODEL, MEASURED_PREDICTION, UNUSED_LEVELS, VERDICTS
from synthdp.release.quality import kept_table, measured_quality
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesis import Drawn
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal
    from synthdp.release.prediction_quality import PrivateDerived


def compared(
    table: FilledTable,
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    model: Model,
    *,
    settings: RunSettings,
    learnt: Mapping[str, Collection[str]],
    carried: Sequence[LinearMeasurement],
    known: "Sequence[KnownMarginal]",
    target: str | None,
    checked: CheckedTable,
    derived: "PrivateDerived | None",
    for_choice: Fraction,
    for_quality: Fraction,
    report: Report,
) -> Compared:
    """Choose among models for ``for_choice``, and measure the quality of one for ``for_quality``.

    Parameters
    ----------
    table
        The records, behind a ledger that has both left; 0 asks for nothing.
    schema, measurements, model
        What was released, and the model that the mechanism made of it.
    settings
        Which engines there are to choose from, whose prediction is measured, and what is to be met.
    learnt
        What was learnt of each column: levels of which only noise is left are not drawn.
    carried, known
        What an earlier release still says, and what is published: all models have it.
    target
        What rows get last, if they get something so.
    checked
        Which table is drawn; it has rows.
    derived
        Counts public functions of each record; None if the source cannot.
    report
        Told about fits.
    """
    unused = import_named(UNUSED_LEVELS)(schema, measurements, learnt) if learnt else {}
    engine = settings.engine
    stated: dict[str, object] = {}
    drawn: Drawn | None = None
    if for_choice:
        left = table.ledger.remaining
        choice = import_named(CHOSEN_MODEL)(
            table,
            schema,
            measurements,
            model,
            unused,
            carried=carried,
            default=engine,
            engines=settings.choose,
            mechanisms=settings.mechanism.parts,
            known=known,
            target=target,
            rho=for_choice,
            checked=checked,
            report=report,
        )
        engine = choice.engine
        model = choice.model
        drawn = choice.drawn
        measurements = choice.measurements
        stated["choice"] = choice.stated
        if for_quality:
            # Where models draw the same table there is nothing to ask: quality has the more.
            for_quality += for_choice - (left - table.ledger.remaining)
    if for_quality:
        prediction = None
        if settings.target is not None:
            prediction = partial(
                import_named(MEASURED_PREDICTION),
                schema,
                target=settings.target,
                counted=table.placed_domain,
                derived=derived,
            )
        quality, drawn = measured_quality(
            table,
            model,
            unused,
            rho=for_quality,
            checked=checked,
            drawn=drawn,
            prediction=prediction,
        )
        # Noise that hides how many records there are hides their errors, too. The same was asked
        # all the same.
        is_hidden = bool(measurements) and clear_total(measurements) is None
        if not is_hidden:
            stated |= {"quality": quality}
        if settings.accept is not None:
            stated["acceptance"] = import_named(VERDICTS)(
                settings.accept, None if is_hidden else quality
            )
    kept = None if drawn is None else kept_table(drawn)
    return Compared(
        model=model, engine=engine, measurements=measurements, drawn=kept, stated=stated
    )
