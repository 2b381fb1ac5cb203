"""One run over one table of persons with several rows each: the release of the package that it
stands for.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Self, final

from synthdp.core.reporting import Report, finishing, silent
from synthdp.data.loading import chunks_of
from synthdp.data.rows import Here
from synthdp.linked.histories.history_package import PERSONS, check_rows, history_package
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.linked.linked_release import LinkedRelease
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.linking.linked_rows import LinkedRows, LinkedTableReader
from synthdp.linked.package.package import Package
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.persistence.kept_run import KeptRun
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.run_settings import RunSettings
from synthdp.schema.open_schema import OpenSchema


@final
class HistoryRelease:
    """A run over one table, with everything public settled before the records are there.

    Parameters
    ----------
    schema
        What is public of the table, without persons.
    header
        The table's columns.
    settings
        What decides the run; it keeps rows of a person together.
    """

    def __init__(
        self,
        *,
        schema: OpenSchema,
        header: Sequence[str],
        settings: RunSettings,
    ) -> None:
        settings.check_combined("persons", {})
        check_rows(settings)
        assert settings.unit is not None
        self._schema = schema.reordered(header, unit=settings.unit)
        self._of_persons = [settings.unit, *settings.constant]
        self._constant = list(settings.constant)
        self._run = LinkedRelease(
            package=history_package(self._schema, header, settings),
            settings=replace(
                settings,
                unit=None,
                max_rows_per_unit=None,
                together=False,
                order=None,
                constant=(),
            ),
        )

    @property
    def run(self) -> KeptRun:
        """What is kept of the run, and whether it was there before."""
        return self._run.run

    @contextmanager
    def kept(self, persistence: Persistence) -> Iterator[Self]:
        """Keep answers in a journal, and charge a population's budget; as `LinkedRelease.kept`."""
        with self._run.kept(persistence):
            yield self

    @scrub_tracebacks
    def of(
        self,
        table: Here,
        *,
        report: Report = silent,
        rescue: Callable[[HistorySynthesis | LearntDomain], object] | None = None,
    ) -> HistorySynthesis:
        """Read the table, once, and spend the budget on it.

        Parameters
        ----------
        table
            An open file, or a frame, in memory or in partitions, of the columns of the header.
        report, rescue
            As in `synthesize`.
        """

        def kept(paid: LinkedSynthesis | LearntDomain) -> None:
            assert rescue is not None
            if isinstance(paid, LinkedSynthesis):
                rescue(HistorySynthesis(paid))
                return
            assert isinstance(paid.schema, Package)
            rescue(LearntDomain(self._closed(paid.schema), paid.certificate))

        handed = None if rescue is None else kept  # a budget is told if something is handed out
        return HistorySynthesis(
            self._run.of(lambda: self._read(table, report), report=report, rescue=handed)
        )

    def _closed(self, package: Package) -> OpenSchema:
        """What is public of the table, with columns as the package has them."""
        declared = [table.declared for table in package.tables if table.declared is not None]
        found = {field["name"]: field for each in declared for field in each.to_dict()["fields"]}
        plain = self._schema.to_dict()
        fields = [found.get(field["name"], field) for field in plain["fields"]]
        return OpenSchema.from_dict({**plain, "fields": fields})

    def _read(self, table: Here, report: Report) -> LinkedRows:
        """Persons are those who have a row: the first table is read off the second one, and of each
        key one is used.

        Sensitivity: which row says what is the same in all rows of a person follows from the key
        and what the person's rows are, as for roots of one key.
        """
        readers = {each.name: LinkedTableReader(each) for each in self._run.package.tables}

        with finishing(report) as progress:

            def read(share: float) -> None:
                progress("reading", round(100 * share), 100)

            for chunk in chunks_of(table, read):
                for name, reader in readers.items():
                    of_persons = name == PERSONS
                    reader.add(
                        chunk[self._of_persons]
                        if of_persons
                        else chunk.drop(columns=self._constant)
                    )
                del chunk  # as in `held_rows`
        return LinkedRows(self._run.package.tables, readers, self._run.unit)
