"""What a run states of itself, ended or not: from what was public before it began, and from what it
released.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self, final

from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement, clear_total
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.learning.filling import UnreadCount
from synthdp.learning.parse_cautions import unread_cautions, unread_facts
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness
from synthdp.release.certificate.certificate import privacy_certificate, unfinished_facts
from synthdp.release.certificate.fit_facts import count_cautions, fit_cautions, fit_facts
from synthdp.schema.columns.column import Column
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

TAILS = "synthdp.learning.tails_beyond"
LOST_BINS = "synthdp.learning.bins_lost:lost_bins"
UNUSED_LEVELS = "synthdp.learning.unused_levels:levels_without_records"
"""Loaded by runs that learnt a column."""


@final
@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What is public of a run besides its budget."""

    schema: OpenSchema
    """As it was declared, before anything was learnt."""
    domain_share: float
    """Share of the budget for what it leaves open."""
    public: Mapping[str, Any]
    """Mechanism, workload, unprotected quantities and what the curator says, as plain JSON values.
    """
    known: Sequence[Mapping[str, Any]] = ()
    """What is published, so that whoever rescues the run fits it as the run would have."""

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], schema: OpenSchema) -> Self:
        """What `to_dict` wrote, with the schema that is in it; raises `LookupError`, `TypeError` or
        `ValueError` if it is no such.
        """
        share = content["domain_share"]
        public = content["public"]
        if not isinstance(share, float) or not 0 < share < 1 or not isinstance(public, Mapping):
            raise ValueError("not the facts of a run")
        return cls(schema=schema, domain_share=share, public=public, known=content.get("known", ()))

    def to_dict(self) -> dict[str, Any]:
        """These facts as plain JSON values."""
        return {
            "schema": self.schema.to_dict(),
            "domain_share": self.domain_share,
            "public": dict(self.public),
            **({"known": list(self.known)} if self.known else {}),
        }

    def with_workload(self, workload: Mapping[str, object] | None) -> Self:
        """The same of a run whose workload was read anew over a domain that it learnt; None if it
        was not.
        """
        if workload is None:
            return self
        return replace(self, public={**self.public, "workload": dict(workload)})

    def drawn_schema(
        self,
        schema: Schema,
        measurements: Sequence[LinearMeasurement],
        unread: Mapping[str, UnreadCount],
    ) -> Schema:
        """The closed schema as values are drawn by it: beyond bounds that were learnt from tails."""
        if not self.schema.is_open:
            return schema
        drawn: Schema = import_named(f"{TAILS}:with_tails")(
            self.schema, schema, measurements, unread
        )
        return drawn

    def certificate(
        self,
        *,
        ledger: PrivacyLedger,
        randomness: Randomness,
        engine: Engine,
        learnt: Mapping[str, Column],
        run: Mapping[str, Any],
        findings: Sequence[str] = (),
        schema: Schema | None = None,
        drawn: Schema | None = None,
        measurements: Sequence[LinearMeasurement] = (),
        unread: Mapping[str, UnreadCount] = MappingProxyType({}),
        model: Model | None = None,
    ) -> dict[str, object]:
        """The certificate of what was released so far.

        Parameters
        ----------
        ledger, randomness, engine
            Those of the run.
        learnt
            The columns that were learnt, by their names.
        run
            Which run it is, and when its answers were given, as `privacy_certificate` takes it.
        findings
            What learning them found out.
        schema
            The schema with learnt columns closed; None if the run ended before.
        drawn
            The same as `drawn_schema` has it; by default the schema itself.
        measurements, model
            What was measured and fitted.
        unread
            Of columns with a place for unread values how many there are.
        """
        opened = self.schema.open_columns
        open_ = [each.name for each in opened if "missing" in each.open_parts]
        without_bounds = [each.name for each in opened if "bounds" in each.open_parts]
        if schema is None:
            unread_lines = []
        else:
            unread_lines = unread_cautions(schema, measurements, unread, open_, without_bounds)
        lost_lines: Sequence[str] = ()
        if learnt and schema is not None:
            lost_lines = import_named(LOST_BINS)(opened, learnt, schema.columns)
        return privacy_certificate(
            ledger=ledger,
            randomness=randomness,
            release=self._stated(engine, learnt, schema, drawn or schema, measurements, model)
            | unread_facts(unread),
            run=run,
            findings=[
                *findings,
                *lost_lines,
                *count_cautions(measurements),
                *unread_lines,
                *fit_cautions(model),
            ],
            n_rows=clear_total(measurements) if measurements else None,
        )

    def _stated(
        self,
        engine: Engine,
        learnt: Collection[str],
        schema: Schema | None,
        drawn: Schema | None,
        measurements: Sequence[LinearMeasurement],
        model: Model | None,
    ) -> dict[str, object]:
        findings = {"findings": model.findings} if model is not None and model.findings else {}
        opened = self.schema.open_columns
        derived = {
            column.name: sorted(column.open_parts) for column in opened if column.name in learnt
        }
        if drawn is None:
            facts = unfinished_facts()
        else:
            facts = fit_facts(drawn, engine, model, derived=derived)
        still_open = [column.name for column in opened if column.name not in learnt]
        learning: dict[str, object] = {
            "share_of_budget": self.domain_share,
            "derived": derived,
            "open": still_open,
        }
        if schema is not None and drawn is not None and opened:
            learning |= {
                name: said
                for name, said in self._learnt(schema, drawn, measurements, derived).items()
                if said
            }
        return {**self.public, **({"domain": learning} if opened else {}), **findings, **facts}

    def _learnt(
        self,
        schema: Schema,
        drawn: Schema,
        measurements: Sequence[LinearMeasurement],
        derived: Mapping[str, Sequence[str]],
    ) -> Mapping[str, Mapping[str, object]]:
        """What drawn values owe to what was learnt: levels that are never drawn, tails beyond
        bounds, and values that are round.
        """
        columns = {column.name: column for column in drawn.table_columns}
        unused = import_named(UNUSED_LEVELS)(schema, measurements, derived)
        asked = [
            each.name
            for each in self.schema.open_columns
            if each.name in derived and not each.declares_heaping
        ]
        heaped = {name: columns[name].field().get("synthdp", {}).get("heaping") for name in asked}
        return {
            "not_drawn": {name: _texts(columns[name], codes) for name, codes in unused.items()},
            "tails": import_named(f"{TAILS}:passed_bounds")(schema, drawn),
            "heaping": {name: shares for name, shares in heaped.items() if shares},
        }


def _texts(column: Column, codes: Collection[int]) -> object:
    """Levels as a certificate names them: ``other`` itself, bins by their first and last values."""
    if column.other is not None and [*codes] == [column.unknown_code]:
        return column.other
    special = {} if column.required else {column.missing_code: "missing"}
    if column.other is not None:
        special[column.unknown_code] = str(column.other)
    return [special.get(code) or column.code_texts[code] for code in codes]
