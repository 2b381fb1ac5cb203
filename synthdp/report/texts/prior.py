"""An earlier release in words: which one was used, how far the table moved, and what both mean for
who is in both.
"""

from collections.abc import Mapping
from typing import Any


def prior_lines(content: Mapping[str, Any]) -> list[str]:
    """What a certificate says of the earlier release that it builds on; nothing if there is none.

    >>> prior = {"run": "4f", "released": None, "guarantee": "(1, 1e-09)-differential privacy"}
    >>> both = {**prior, "together": {"epsilon": 1.43, "delta": 2e-09}}
    >>> prior_lines({"prior": both})[1]
    'this and that together, for who is in both: (1.43, 2e-09)-differential privacy'
    """
    prior = content.get("prior")
    if not prior:
        return []
    when = f" of {prior['released'][:10]}" if prior.get("released") else ""
    if prior.get("run"):
        named = f"run {prior['run']}{when}"
    else:
        named = "not of one run, such as sites together"
    together = prior["together"]
    lines = [f"{named}: {prior['guarantee']}"]
    if "epsilon" in together:
        lines.append(
            "this and that together, for who is in both: "
            f"({together['epsilon']!r}, {together['delta']!r})-differential privacy"
        )
    else:
        lines.append(f"what both mean for who is in both is not stated: {together['note']}")
    moved = prior.get("moved", {})
    if moved.get("pairs"):
        most = moved["pairs"][0]
        names = " x ".join(most["columns"])
        lines.append(
            f"{moved['carried']} of its marginals are used; moved most beyond its columns: {names}, by about "
            f"{most['distance']:g} in total variation"
        )
    if prior.get("columns_taken"):
        lines.append(f"levels and bins are its own: {', '.join(prior['columns_taken'])}")
    return lines
