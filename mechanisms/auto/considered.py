"""What a look considered, for the certificate: by which rule, what was left out, and how much it
takes to be seen.
"""

from collections.abc import Sequence
from math import log, sqrt

from synthdp.core.cliques import Clique

PAIRS = "all pairs of columns that the workload holds, of up to {n_cells} cells"
"""The rule of a first look."""
AGAIN = (
    "the {n_pairs} pairs that depended most by the look before, and wider marginals whose pairs did"
)
"""The rule of a second one."""
_HIDDEN = (
    "{n_pairs} pairs of columns were looked at together: noise hides those that depend by a total variation distance "
    "of less than about {distance:.2g}, so that in the synthetic table many of them are independent; more epsilon or "
    "records, or fewer columns, would show more"
)
_MUCH_HIDDEN = 0.05
"""A total variation distance: less is hidden from most looks, and few people would miss it."""
_MAX_LISTED = 200
"""Candidates that are named one by one; of more the rule and the numbers have to do."""


def considered(
    candidates: Sequence[Clique], *, rule: str, n_asked: int, stddev: float, total: float
) -> dict[str, object]:
    """Facts of a look, from released values and public ones; plain JSON values.

    Parameters
    ----------
    candidates
        The marginals that were looked at.
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
        must have to stand out: what the largest noise of so many is about, ``stddev sqrt(2 log k)``
        [extreme values].

    >>> considered([("a", "b")], rule="all pairs", n_asked=3, stddev=2.0, total=100)["left_out"]
    2
    """
    listed = (
        {"candidates": [list(clique) for clique in candidates]}
        if len(candidates) <= _MAX_LISTED
        else {}
    )
    return {
        "looked_at": len(candidates),
        "rule": rule,
        "left_out": n_asked - len(candidates),
        "stddev_records": round(stddev, 3),
        "visible_distance": float(f"{visible_distance(len(candidates), stddev, total):.3g}"),
        **listed,
    }


def visible_distance(n_candidates: int, stddev: float, total: float) -> float:
    """About the largest of the noises of so many errors, as a total variation distance, at most 1."""
    return min(stddev * sqrt(2.0 * log(max(n_candidates, 2))) / (2.0 * total), 1.0)


def hidden(n_pairs: int, stddev: float, total: float) -> list[str]:
    """What is said of a look from which the noise hides much; empty if it does not."""
    distance = visible_distance(n_pairs, stddev, total)
    return [_HIDDEN.format(n_pairs=n_pairs, distance=distance)] if distance > _MUCH_HIDDEN else []


def too_large(pairs: Sequence[Clique]) -> list[str]:
    """What is said of pairs that are not looked at, the largest last; empty if there are none."""
    named = ", ".join(" and ".join(map(repr, pair)) for pair in pairs[-3:])
    more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    caution = (
        f"pairs of columns with too many cells together were not measured: {named}{more}; "
        "in the synthetic table they depend on each other only by way of other columns; give them fewer levels or bins"
    )
    return [caution] if pairs else []
