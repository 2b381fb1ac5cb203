"""What a release by `auto` says of itself: what each round scored and measured, by which rule, and
what the noise hides.
"""

from collections.abc import Iterable, Sequence
from math import log, sqrt
from typing import final

from synthdp.core.cliques import Clique
from synthdp.core.workload import MAX_DEFAULT_CELLS
from synthdp.inference.model import Model
from synthdp.mechanisms.auto.candidates import MAX_COLUMNS, Candidates

_FIRST_RULE = "all pairs of columns that the workload holds, of up to {n_cells} cells"
_SECOND_RULE = (
    "the {n_pairs} pairs that depended most by the look before, and wider marginals whose pairs did"
)
_JOINT_RULE = "sets of three and four columns, smallest first, over groups of levels, against what smaller ones say"
_HIDDEN = (
    "{n_pairs} pairs of columns were scored against independence: noise hides those that depend by a total "
    "variation distance of less than about {distance:.2g}, so that in the synthetic table many of them "
    "are independent; more epsilon or records, or fewer columns, would show more"
)
_ONLY_COLUMNS = (
    "only single columns{named} were measured: noise would hide how {columns} depend on each other, so that in the "
    "synthetic table they are independent; more epsilon or records, or fewer columns, would show more"
)
_NARROWED = (
    f"workload: marginals of more than {MAX_COLUMNS} columns were planned for as all pairs of their columns; "
    "ask for narrower ones to have them measured whole"
)
_MUCH_HIDDEN = 0.05
"""A total variation distance: the noise mostly hides less, and few people would miss it."""
_MAX_LISTED = 200
"""Candidates that are named one by one; of more the rule and the numbers have to do."""


@final
class Findings:
    """Facts of the rounds of one release, from released values and public ones, and its cautions.

    Parameters
    ----------
    candidates
        The marginals that may be scored.
    """

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._rounds: list[dict[str, object]] = []
        # Cautions that follow from public input come first, whatever the rounds say.
        self._joint: dict[str, object] | None = None
        self._heavy_values: list[list[str]] = []
        self._names: list[str] = []
        self._cautions = too_large(candidates.too_large)
        if candidates.is_narrowed:
            self._cautions.append(_NARROWED)

    def scored(self, scored: Sequence[Clique], *, stddev: float, total: float) -> None:
        """Note what a round scored, with what noise; `considered` has the parameters."""
        n_pairs = len(self._candidates.pairs) + len(self._candidates.too_large)
        if not self._rounds:
            rule = _FIRST_RULE.format(n_cells=MAX_DEFAULT_CELLS)
            n_asked = n_pairs
            # Of a narrow table the scores show nearly everything, and a caution in each certificate
            # would be read by nobody.
            if self._candidates.wide_share > 0:
                self._cautions += hidden(len(scored), stddev, total)
        else:
            rule = _SECOND_RULE.format(n_pairs=self._candidates.n_pairs_again)
            # The second round is about all that the workload holds, so what it leaves out is
            # counted against that.
            n_asked = n_pairs + len(self._candidates.wider)
        facts = considered(scored, rule=rule, n_asked=n_asked, stddev=stddev, total=total)
        self._rounds.append(facts)

    def measured(self, n_measured: int, n_merged: int) -> None:
        """Note how many marginals the round measured, and how many of them over merged levels."""
        self._rounds[-1] |= {"measured": n_measured, "over_merged_levels": n_merged}

    def looked_for_joint(
        self, scored: Sequence[Clique], strong: Sequence[Clique], *, stddev: float, total: float
    ) -> None:
        """Note the look for sets of columns that depend all together, and what it saw."""
        facts = considered(
            scored, rule=_JOINT_RULE, n_asked=len(scored), stddev=stddev, total=total
        )
        self._joint = facts | {"measured": [list(clique) for clique in strong]}

    def measured_heavy_values(self, pairs: Sequence[Clique]) -> None:
        """Note the pairs of numbers of which it was measured whether both have their usual value."""
        self._heavy_values = [list(pair) for pair in pairs]

    def took_for_names(self, columns: Iterable[str]) -> None:
        """Note the columns whose levels have nothing in common with the next ones, as it seems."""
        self._names = sorted(columns)

    def measured_only_columns(self, *, n_named: int = 0) -> None:
        """Note that nothing was scored, for the noise would have hidden everything, and how many
        marginals were measured all the same, because the workload names them.
        """
        # A table of one column, or a workload of columns: nothing was to be scored in the first
        # place.
        if not self._candidates.pairs:
            return
        words = {"named": "", "columns": "columns"}
        if n_named > 0:
            words = {"named": " and named marginals", "columns": "other columns"}
        self._cautions.append(_ONLY_COLUMNS.format(**words))

    def attached_to(self, model: Model, cautions: Sequence[str] = ()) -> Model:
        """The model, with the rounds among its findings, and with the cautions and some more."""
        model.findings["rounds"] = self._rounds
        if self._joint is not None:
            model.findings["joint_dependences"] = self._joint
        if self._heavy_values:
            model.findings["heavy_values_together"] = self._heavy_values
        if self._names:
            model.findings["taken_for_names"] = self._names
        model.cautions += [*self._cautions, *cautions]
        return model


def considered(
    candidates: Sequence[Clique], *, rule: str, n_asked: int, stddev: float, total: float
) -> dict[str, object]:
    """Facts of a round of scores, from released values and public ones; plain JSON values.

    Parameters
    ----------
    candidates
        The marginals that were scored.
    rule
        How they were chosen, in words.
    n_asked
        Number of marginals, of two columns and more, that the workload holds and the rule is about.
    stddev
        Of the noise of each error, in records.
    total
        Number of records.

    Returns
    -------
    dict
        ``visible_distance`` is the total variation distance from what was expected that a marginal
        must have to stand out: about the largest of k normal errors, ``stddev sqrt(2 log k)``
        [extreme values].

    >>> considered([("a", "b")], rule="all pairs", n_asked=3, stddev=2.0, total=100)["left_out"]
    2
    """
    if len(candidates) <= _MAX_LISTED:
        listed = {"candidates": [list(clique) for clique in candidates]}
    else:
        listed = {}
    return {
        "looked_at": len(candidates),
        "rule": rule,
        "left_out": n_asked - len(candidates),
        "stddev_records": round(stddev, 3),
        "visible_distance": float(f"{visible_distance(len(candidates), stddev, total):.3g}"),
        **listed,
    }


def visible_distance(n_candidates: int, stddev: float, total: float) -> float:
    """Expected maximum of so many normal errors, as a total variation distance, capped at 1."""
    # Half of an L1 distance as a share of the records is a total variation distance. What stands
    # out of one noise by chance stands out of k noises all the time, hence the maximum.
    return min(stddev * sqrt(2.0 * log(max(n_candidates, 2))) / (2.0 * total), 1.0)


def hidden(n_pairs: int, stddev: float, total: float) -> list[str]:
    """The caution that noise hides much of what was scored; empty if it does not."""
    distance = visible_distance(n_pairs, stddev, total)
    return [_HIDDEN.format(n_pairs=n_pairs, distance=distance)] if distance > _MUCH_HIDDEN else []


def too_large(pairs: Sequence[Clique]) -> list[str]:
    """The caution of pairs that are not scored, the largest last; empty if there are none."""
    named = ", ".join(" and ".join(map(repr, pair)) for pair in pairs[-3:])
    more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    caution = (
        f"pairs of columns with too many cells together were not measured: {named}{more}; "
        "in the synthetic table they depend on each other only by way of other columns; give them fewer levels or bins"
    )
    return [caution] if pairs else []
