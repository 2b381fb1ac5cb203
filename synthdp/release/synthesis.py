"""A fitted release: what `synthesize` returns and `load` restores, to be sampled from as often as
wanted.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, final

from synthdp.core.errors import CautionWarning, ParameterError
from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement, clear_total
from synthdp.core.reporting import Report, silent
from synthdp.core.requests import check_rows, check_seed
from synthdp.core.sealing import sealed
from synthdp.inference.arrays import Codes
from synthdp.inference.engine import Engine
from synthdp.inference.jobs import thread_count
from synthdp.inference.model import Model
from synthdp.release.answers import Answers
from synthdp.release.asked import Asked
from synthdp.release.certificate.fit_facts import UNKNOWN_ROWS, fit_cautions, fit_status
from synthdp.release.drawing.draw import Checked, drawn_table
from synthdp.release.drawing.form import PLAIN_FORM, Form
from synthdp.release.drawing.unused_levels import Unused, learnt_parts
from synthdp.release.on_demand import (
    ARCHIVE,
    BATCHES,
    BY_WEIGHT,
    CALIBRATED,
    COMPLETION,
    FIT,
    FURTHER_FIT,
    REFITTED,
    UNUSED_LEVELS,
    VERIFY,
)
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.result import TABLE, FittedPart, Result
from synthdp.release.saving.pieces import Pieces
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal
    from synthdp.core.totals_check import TotalsCheck
    from synthdp.release.rows_check import FitSummary
    from synthdp.release.verified import Verification


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """The codes of a table that was drawn already, kept so that it is drawn once."""

    n_rows: int
    seed: int
    codes: Codes

    def of(self, n_rows: int | None, seed: int | None) -> Codes | None:
        """The codes, if it is that table."""
        return self.codes if (n_rows, seed) == (self.n_rows, self.seed) else None


@final
class Synthesis(Answers, Result):
    """A fitted release: schema, noisy measurements, model and certificate. It holds no records.

    `synthesize` and `synthdp.load` make one; all it does is post-processing, and costs no privacy
    however often.

    Parameters
    ----------
    schema
        What the columns mean.
    measurements
        Everything that was measured, noise included.
    model
        The model that explains them; None fits one when it is needed.
    certificate
        What the release says about its guarantee, as plain JSON values.
    form
        What drawn tables look like: by default they are data frames of pandas with dtypes by the
        schema.
    drawn
        A table that this model drew already, if any.
    known
        What is published, for a model that is fitted when it is needed; a model knows by itself.
    checked
        Called with how rows compare with what is published; by default users are warned.
    carried
        What an earlier release still says, which the model is fitted to as well.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        measurements: Sequence[LinearMeasurement],
        model: Model | None,
        certificate: Mapping[str, Any],
        form: Form = PLAIN_FORM,
        drawn: Drawn | None = None,
        known: "Sequence[KnownMarginal]" = (),
        checked: "Checked | None" = None,
        carried: Sequence[LinearMeasurement] = (),
    ) -> None:
        self._schema = schema
        self._measurements = tuple(measurements)
        self._carried = tuple(carried)
        self._fitted = model
        self._certificate = dict(certificate)
        self._form = form
        self._drawn = drawn
        self._known = tuple(known) if model is None else model.known
        self._checked = _warn_of_totals if checked is None else checked

    @property
    def schema(self) -> Schema:
        """What the columns mean."""
        return self._schema

    @property
    def measurements(self) -> tuple[LinearMeasurement, ...]:
        """Everything that was measured, noise included."""
        return self._measurements

    @property
    def carried(self) -> tuple[LinearMeasurement, ...]:
        """What an earlier release (``prior``) still says: its measurements, moved to this table's
        columns, with the drift since in their noise. No interval rests on it.
        """
        return self._carried

    @property
    def certificate(self) -> dict[str, Any]:
        """What the release says about its guarantee, and about a fit made since; also written
        beside every table.
        """
        cautions = self._certificate.get("cautions", [])
        # A release may be written before any model was fitted to it; what is to be said of the
        # later fit belongs on every table that is drawn from it.
        late = [caution for caution in fit_cautions(self.existing_model) if caution not in cautions]
        certificate = dict(self._certificate)
        if late:
            certificate["cautions"] = [*cautions, *late]
        if self._fitted is None and self.existing_model is not None and "engine" in certificate:
            certificate["engine"] = certificate["engine"] | fit_status(self.existing_model)
        return sealed(certificate)

    @property
    def known(self) -> "tuple[KnownMarginal, ...]":
        """Published totals, which cost nothing and which its rows have."""
        return self._known

    @cached_property
    def model(self) -> Model:
        """The model that explains the measurements."""
        if self._fitted is not None:
            return self._fitted
        # Reached by releases that were loaded from measurements alone: fitting is post-processing,
        # and costs nothing.
        model: Model = import_named(FURTHER_FIT)(
            self._schema, self.evidence, self._certificate, self._known
        )
        return model

    @cached_property
    def fit(self) -> "FitSummary":
        """How the fit ended, its loss, and how far a table of the release's own size is from the
        model: it is drawn with seed 0, when this is first asked for.

        ``rows`` has total variation distances from the model's marginals of the measured columns,
        and what chance alone would make of so many rows: by so much `marginal` and rows differ.
        """
        summary: FitSummary = import_named(FIT)(self)
        return summary

    @cached_property
    def unused(self) -> Unused:
        """Levels without records, by attribute: columns were learnt to have them, and noise is all
        that is left.
        """
        learnt = learnt_parts(self._certificate)
        if not learnt:
            return {}
        unused: Unused = import_named(UNUSED_LEVELS)(self._schema, self._measurements, learnt)
        return unused

    @property
    def n_measured(self) -> int:
        """How many marginals were measured."""
        return len(self._measurements)

    @property
    def can_sample(self) -> bool:
        """Whether there is a model, or something to fit one to."""
        return bool(self._measurements) or self.existing_model is not None

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of the table, by the name ``table``."""
        return {TABLE: tuple(self._schema.table_names)}

    @property
    def fitted_parts(self) -> tuple[FittedPart, ...]:
        """The release itself, which is all of it."""
        return (FittedPart(answers=self, drawn=self._schema.domain.attributes),)

    @property
    def knows_size(self) -> bool:
        """Whether the number of records stands out of its noise; if not, `sample` needs a number."""
        return (
            not self._measurements
            or any(marginal.is_count for marginal in self._known)
            or clear_total(self._measurements) is not None
        )

    def sample(
        self,
        n_rows: int | None = None,
        *,
        seed: int | None = None,
        text: bool = False,
        where: Mapping[str, object] | None = None,
        given: Any = None,
        weighted: bool | Literal["calibrated"] = False,
        totals: Any = None,
        n_jobs: int = 1,
    ) -> Any:
        """Draw a synthetic table, a slice of it, or complete partial records.

        Columns that the schema generates (ids, fakes) come with every draw: ids begin again at
        their ``start``, and the same seed gives the same fakes.

        Parameters
        ----------
        n_rows
            Number of rows; by default the (noisy) estimate of the sensitive table's, unless noise
            hides it.
        seed
            Makes the draw repeatable. It has nothing to do with the noise, which has no seed.
        text
            Values as texts in the schema's formats, as a CSV file holds them.
        where
            Draw from a slice only: a condition for each of some columns, such as ``{"sex": ["F"],
            "age": {"minimum": 18, "maximum": 64}}``. Levels are read as the column reads values of
            a table, so 1 is the level "1"; None is "missing". Where a limit cuts a bin, what lies
            inside is drawn as often as it weighs there.
        given
            Complete these records: some of the columns, as a table of any kind that `synthesize`
            takes, one column as a Series of pandas, a dict of lists or a list of dicts. What it
            holds is used as it is and is not protected, so it must not be sensitive. Empty cells
            (None, NaN, blank texts) are completed; a text of ``missingValues``, such as ``"NA"``,
            says that a value is missing. A value that the schema does not know is refused, unless
            its column has an ``other`` level: then the rest is drawn as for ``other``, and the
            value stays. With ``where`` the rest is drawn inside the slice. Given values of a
            generated column stay, too.
        weighted
            True draws the population that the column of weights describes: rows in proportion to
            it, and without it; by default as many as the weights sum to. ``"calibrated"`` draws
            rows as of the survey, whose weights are raked: to the weighted counts that the release
            has of each column, and exactly to ``totals``.
        totals
            Published totals of the population for calibrated weights, in the forms that ``known``
            of `synthesize` takes.
        n_jobs
            Threads that draw, -1 for as many as there are cores: the same rows sooner, of tables of
            some 100,000 rows or more. Slices and given records are drawn by one.

        Returns
        -------
        pandas.DataFrame, or the kind of table that was given to `synthesize`
            With an index from 0. Its dtypes follow from the schema, or are those that were declared
            public by ``kinds``; columns of ``given`` keep their own. A loaded synthesis gives data
            frames of pandas, with the same dtypes.

        Raises
        ------
        ParameterError
            If ``n_rows`` is missing and the estimate is hidden by its noise, ``n_rows`` or ``seed``
            is no whole number of at least 0, the rows would take more than 64 GiB (see
            `synthdp.inference.model.Model.sample`), ``n_jobs`` is neither a whole number from 1 nor
            -1, ``n_rows`` and ``given`` are both there, ``where`` or ``given`` is of no form that
            is taken, or both name a column, or a slice or record is impossible under the model, a
            slice is under the schema's checks, or ``where`` names a generated column.
        SchemaError
            If ``where`` or ``given`` does not fit the schema, or a given record breaks a check.
        MissingExtraError
            If the schema has fakes generated and faker is not installed.
        """
        if n_rows is not None:
            check_rows(self._schema.domain, n_rows)
        check_seed(seed)
        thread_count(n_jobs)
        if given is not None and n_rows is not None:
            raise ParameterError("given: each of its rows is completed once; leave out n_rows")
        if weighted not in (False, True, "calibrated"):
            raise ParameterError(f"weighted is {weighted!r}; give True or 'calibrated'")
        if totals is not None and weighted != "calibrated":
            raise ParameterError(
                "totals: weights are calibrated to them; add weighted='calibrated'"
            )
        if weighted == "calibrated" and where is not None:
            raise ParameterError("where: weights are calibrated of a whole table; leave out one")
        if given is not None and weighted:
            raise ParameterError("weighted: given rows are completed as they are; leave out one")
        if given is None and n_rows is None and not self.knows_size:
            raise ParameterError(f"n_rows: {UNKNOWN_ROWS}; say how many rows you want")
        if weighted == "calibrated":
            calibrated = import_named(CALIBRATED)(
                self,
                n_rows,
                seed=seed,
                text=text,
                totals=totals,
                checked=self._checked,
                n_jobs=n_jobs,
            )
            return self._form.filled(calibrated, text=text, kept=[str(self._schema.weight)])
        if given is None:
            table = drawn_table(
                self.model,
                self._schema,
                n_rows,
                seed=seed,
                text=text,
                by_weight=import_named(BY_WEIGHT) if weighted else None,
                where=where,
                unused=self.unused,
                # Rows of this number and seed may have been drawn before; see `Drawn`.
                codes=self.drawn_before(n_rows, seed) if where is None and not weighted else None,
                checked=self._checked,
                n_jobs=n_jobs,
            )
            return self._form.filled(table, text=text)
        table, kept = import_named(COMPLETION)(
            self.model,
            self._schema,
            given,
            seed=seed,
            text=text,
            where=where,
            unused=self.unused,
            checked=self._checked,
        )
        return self._form.filled(table, text=text, kept=kept)

    def sample_batches(
        self,
        n_rows: int,
        batch_rows: int = 100_000,
        *,
        seed: int | None = None,
        offset: int = 0,
        where: Mapping[str, object] | None = None,
        n_jobs: int = 1,
    ) -> Any:
        """Draw a synthetic table of any length as a stream of Arrow, in bounded memory; needs
        pyarrow.

        Rows are drawn in blocks of 131,072, each for itself: rows 0 to 9 of a seed are the same in
        every stream, but not those of `sample`, which rounds the whole table at once. So counts of
        a long table differ from the model's by about the square root of the number of blocks;
        independent draws differ by that of the number of rows. Ids go on from batch to batch.

        Parameters
        ----------
        n_rows
            Number of rows.
        batch_rows
            Rows of a batch; the last one may have fewer.
        seed, where
            As for `sample`.
        offset
            Row of the seed's endless table to begin with: what was drawn before need not be drawn
            again.
        n_jobs
            Blocks that are drawn at the same time, each by a thread, and held until it is their
            turn; -1 for as many as there are cores. Rows are the same.

        Returns
        -------
        pyarrow.RecordBatchReader
            Types follow from the schema.

        Raises
        ------
        ParameterError
            If a number is none, there is an ``offset`` without a seed, ids are numbered within
            other columns (``synthdp.per``), or as `sample` does of ``where``.
        MissingExtraError
            If pyarrow is not installed, or the schema has fakes generated and faker is not.
        """
        return import_named(BATCHES)(
            self.model,
            self._schema,
            n_rows,
            batch_rows,
            offset=offset,
            n_jobs=n_jobs,
            seed=seed,
            where=where,
            unused=self.unused,
            checked=self._checked,
        )

    def in_dialect(self, dialect: str | Mapping[str, Any]) -> Self:
        """The same release, to be written as another dialect says.

        Parameters
        ----------
        dialect
            A name or properties, as ``"dialect"`` of a schema; what it leaves out stays as it is.
            Texts of numbers (``sample(text=True)``) then have its decimal mark, also in fields that
            name one.

        Raises
        ------
        SchemaError
            If it is no dialect.
        """
        return self._with(schema=self._schema.in_dialect(dialect))

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to one file, from which `synthdp.load` restores it; no pickle.

        Raises
        ------
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        import_named(ARCHIVE)(self.pieces, path, force=force)

    @property
    def pieces(self) -> Pieces:
        """What is written to its file."""
        return Pieces(
            schema=self._schema,
            measurements=self._measurements,
            carried=self._carried,
            model=self.existing_model,
            certificate=sealed(self._certificate),
            dtypes=self._form.dtypes,
            known=[] if self.existing_model else [each.to_dict() for each in self._known],
        )

    def refit(self, engine: str | Engine, *, report: Report = silent) -> Self:
        """The same release with another engine's model of what was measured, which costs no
        privacy.

        The certificate keeps guarantee and events, and names the engine, and the software that
        fitted.

        Parameters
        ----------
        engine
            How to rebuild a table: a name or an `Engine`.
        report
            Called with (what is going on, steps done, steps at most).

        Raises
        ------
        ParameterError
            If there is no engine of that name, or nothing was measured.
        ModelTooLargeError
            If the engine cannot hold a model of these measurements.
        MissingExtraError
            If a library that the engine needs is not installed.
        """
        model, certificate = import_named(REFITTED)(
            self._schema,
            self.evidence,
            self._certificate,
            self._known,
            before=self.existing_model,
            engine=engine,
            report=report,
        )
        return self._with(model=model, certificate=certificate, drawn=None)

    def verify(
        self,
        data: Any,
        questions: str | Sequence[str],
        *,
        epsilon: float,
        delta: float,
        seed: int = 0,
        unit: str | None = None,
        max_rows_per_unit: int | None = None,
        journal: str | PathLike[str] | None = None,
        budget: Any = None,
        budget_note: str = "",
    ) -> "Verification":
        """Hold what synthetic rows say against the real table, by paid and noisy answers.

        Parameters
        ----------
        data
            The sensitive table that was released, as `synthesize` takes one.
        questions
            One or more: ``"marginal sex, income"``, ``"mean age"`` or
            ``"regression income ~ age + hours"``.
        epsilon, delta
            What the answers cost, beside what the release did: the two add up.
        seed
            Which synthetic rows are meant.
        unit, max_rows_per_unit
            As in `synthesize`; a release that protects persons asks for them.
        journal, budget, budget_note
            As in `synthesize`: a budget refuses what would overspend it.

        Returns
        -------
        Verification
            The answers, each with how near the truth lies with 95 %, and their certificate.

        Raises `ParameterError` if a question is none, and as `synthesize`; warns as that does.
        """
        asked = Asked(questions, epsilon, delta, seed, unit, max_rows_per_unit)
        persistence = Persistence(journal=journal, budget=budget, budget_note=budget_note)
        verification: Verification = import_named(VERIFY)(
            self, data, asked, persistence=persistence
        )
        for caution in verification.cautions:
            warnings.warn(caution, CautionWarning, stacklevel=2)
        return verification

    def drawn_before(self, n_rows: int | None, seed: int | None) -> Codes | None:
        """The codes of a table of so many rows and that seed, if it was drawn already."""
        if self._drawn is None:
            return None
        return self._drawn.of(round(self.model.total) if n_rows is None else n_rows, seed)

    @property
    def existing_model(self) -> Model | None:
        """The model if there is one already."""
        return self._fitted or self.__dict__.get("model")

    def in_form(self, form: Form) -> Self:
        """The same release, with tables drawn in some form."""
        return self._with(form=form)

    def checked_by(self, checked: Checked) -> Self:
        """The same release, where ``checked`` is called with how rows compare with what is
        published, and nobody is warned.
        """
        return self._with(checked=checked)

    def _with(self, **changes: Any) -> Self:
        pieces: dict[str, Any] = {
            "schema": self._schema,
            "measurements": self._measurements,
            "carried": self._carried,
            "model": self.existing_model,
            "certificate": self._certificate,
            "form": self._form,
            "drawn": self._drawn,
            "known": self._known,
            "checked": self._checked,
        }
        return type(self)(**(pieces | changes))

    def __repr__(self) -> str:
        return f"<Synthesis of {len(self._schema.table_names)} columns: {self._certificate.get('guarantee')}>"


def _warn_of_totals(check: "TotalsCheck") -> None:
    """Warn who drew rows that do not have what is published."""
    for caution in check.cautions:
        warnings.warn(caution, CautionWarning, stacklevel=4)
