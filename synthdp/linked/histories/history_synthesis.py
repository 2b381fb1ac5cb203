"""A fitted release of one table of persons with several rows each: what `synthesize` returns with
``together`` or ``order``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, final

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.requests import check_seed
from synthdp.linked.histories.history_package import PERSONS, ROWS
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.not_taken import refuse_parameter
from synthdp.linked.package.qualified import OTHER
from synthdp.release.certificate.fit_facts import UNKNOWN_ROWS
from synthdp.release.result import FittedPart, Result
from synthdp.schema.dialect import Dialect
from synthdp.schema.words.headers import listed

_COUNT = f"number of {ROWS}"


@final
class HistorySynthesis(Result):
    """A fitted release of one table whose rows hang together by person, and may come in an order.
    It holds no records.

    All it does is post-processing, and costs no privacy however often.

    Parameters
    ----------
    linked
        The release of the package that the table stands for: persons, and their rows.
    """

    def __init__(self, linked: LinkedSynthesis) -> None:
        self._linked = linked

    @property
    def linked(self) -> LinkedSynthesis:
        """The same as a release of two linked tables, ``persons`` and ``rows``."""
        return self._linked

    @property
    def unit(self) -> str:
        """The column of the persons' keys."""
        return self._linked.package[PERSONS].key[0]

    @property
    def dialect(self) -> Dialect:
        """How files of the table are written."""
        return self._linked.package[ROWS].dialect

    @property
    def n_measured(self) -> int:
        """How many marginals were measured."""
        return self._linked.n_measured

    @property
    def certificate(self) -> dict[str, Any]:
        """What the release says about its guarantee."""
        return self._linked.certificate

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of the table, by the name ``rows``."""
        own = self._linked.tables[ROWS]
        return {ROWS: tuple(self._linked.package.content.get("columns", own))}

    @property
    def fitted_parts(self) -> tuple[FittedPart, ...]:
        """The releases of persons, of their first rows, and of their later ones."""
        return tuple(replace(part, unit="persons") for part in self._linked.fitted_parts)

    @property
    def knows_size(self) -> bool:
        """Whether the number of persons stands out of its noise; if not, say how many `sample` is
        to draw.
        """
        return self._linked.knows_size

    @property
    def can_sample(self) -> bool:
        """Whether rows can be drawn; if not, the run was stopped before its end."""
        return self._linked.can_sample

    def sample(
        self,
        n_persons: int | None = None,
        *,
        seed: int | None = None,
        text: bool = False,
        where: Mapping[str, object] | None = None,
        given: Any = None,
    ) -> pd.DataFrame:
        """Draw a synthetic table: persons with all their rows, in the order of the column that
        orders them.

        Parameters
        ----------
        n_persons
            How many; by default the (noisy) estimate of the sensitive table's, unless noise hides
            it. Each has a row at least, so that the table is longer.
        seed
            Makes the draw repeatable. It has nothing to do with the noise, which has no seed.
        text
            Values as texts in the formats of the schema, as a CSV file holds them.
        where, given
            Nothing: they are for one table whose rows stand by themselves.

        Returns
        -------
        pandas.DataFrame
            The columns of the sensitive table in its order; persons are numbered from 1, and have
            nothing to do with those of the data.

        Raises
        ------
        ParameterError
            If ``n_persons`` is missing and the estimate is hidden by noise, or is no number of
            persons; or the run was stopped before its end.
        """
        check_seed(seed)
        refuse_parameter("where", where)
        refuse_parameter("given", given)
        if n_persons is not None and (
            not isinstance(n_persons, int) or isinstance(n_persons, bool) or n_persons < 0
        ):
            raise ParameterError(f"n_persons is {n_persons!r}; give a whole number of 0 or more")
        if n_persons is None and self.can_sample and not self.knows_size:
            raise ParameterError(f"n_persons: {UNKNOWN_ROWS}; say how many persons you want")
        drawn = self._linked.sample(n_persons, seed=seed, text=text)
        if not self._constant:
            return drawn[ROWS]
        whole = drawn[ROWS].merge(drawn[PERSONS], on=self.unit, validate="many_to_one")
        return whole[list(self.tables[ROWS])]

    def marginal(self, columns: Sequence[str]) -> pd.Series:
        """Expected numbers of rows with all combinations of levels of some columns.

        Parameters
        ----------
        columns
            Names, each once. ``other`` before a name stands for the row before of the same person:
            then rows that are not their person's first are counted. ``number of rows`` is how many
            its person has. Of columns that are constant alone, and of that number, persons are
            counted.

        Returns
        -------
        pandas.Series
            One float a combination, indexed by the levels' labels.

        Raises
        ------
        ParameterError
            If a column is unknown or repeats.
        ModelTooLargeError
            If there are too many combinations.
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        schema = self._linked.package[ROWS].schema
        of_rows = [*(() if schema is None else schema.names), _COUNT]
        valid = [*self._constant, *of_rows]
        if unknown := [
            name for name in names if name not in valid and name.removeprefix(OTHER) not in of_rows
        ]:
            raise ParameterError(
                f"columns: there is no {unknown[0]!r}; there are {listed(valid)}, and with {OTHER!r} before its name a "
                "column of the row before"
            )
        counts = self._linked.marginal([self._in_package(name) for name in names])
        return counts.rename_axis(index=names)

    @property
    def _constant(self) -> tuple[str, ...]:
        """The columns that are the same in all rows of a person."""
        schema = self._linked.package[PERSONS].schema
        return () if schema is None else schema.names

    def _in_package(self, name: str) -> str:
        """What a column is called in the package."""
        if name == _COUNT:
            return name
        if name in self._constant:
            return f"{PERSONS}.{name}"
        schema = self._linked.package[ROWS].schema
        # A column may be called so itself: "other diagnosis".
        is_own = schema is not None and name in schema.names
        plain = name if is_own else name.removeprefix(OTHER)
        return f"{OTHER if name != plain else ''}{ROWS}.{plain}"

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to one file, from which `synthdp.load` restores it; no pickle.

        Raises
        ------
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        self._linked.save(path, force=force)

    def __repr__(self) -> str:
        return f"<HistorySynthesis by {self.unit!r}: {self.certificate.get('guarantee')}>"
