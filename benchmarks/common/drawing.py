"""Errors and costs as pictures; they need matplotlib, and say so if it is not there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Errors = Mapping[float, Sequence[float]]


def draw_errors(
    errors: Mapping[str, Mapping[str, Errors]], mechanisms: Sequence[str], file: Path, *, what: str
) -> None:
    """Draw means over epsilon, with the range of the runs: a panel for each data set, a line for
    each mechanism.
    """
    if (pyplot := _pyplot()) is None:
        return
    width = 4.6 * len(errors)
    figure, panels = pyplot.subplots(
        1, len(errors), figsize=(width, 4.8), layout="constrained", squeeze=False
    )
    lines = {}
    for panel, (data_set, found) in zip(panels[0], errors.items(), strict=True):
        for i, mechanism in enumerate(mechanisms):
            if x := sorted(found.get(mechanism, {})):
                average, lowest, highest = (
                    [end(found[mechanism][epsilon]) for epsilon in x] for end in (np.mean, min, max)
                )
                (lines[mechanism],) = panel.plot(
                    x, average, "o-" if i < 10 else "s--", color=f"C{i % 10}", markersize=3
                )
                panel.fill_between(x, lowest, highest, alpha=0.15, color=f"C{i % 10}", linewidth=0)
        panel.set(xscale="log", yscale="log", title=data_set, xlabel="epsilon")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(lambda y, _: f"{y:g}" if f"{y:e}"[0] in "235" else "")
    panels[0, 0].set_ylabel(what)
    figure.legend(
        lines.values(), lines, loc="outside lower center", ncols=3 * len(errors), frameon=False
    )
    _save(figure, file)


def draw_growth(
    costs: Mapping[str, Mapping[str, Mapping[float, float]]],
    file: Path,
    *,
    in_multiples: bool = True,
) -> None:
    """Draw costs over what grows, or multiples of its least value: a panel for each cost, a line
    for each of these.
    """
    if (pyplot := _pyplot()) is None:
        return
    figure, panels = pyplot.subplots(
        1, len(costs), figsize=(5.4 * len(costs), 4.8), layout="constrained", squeeze=False
    )
    for panel, (cost, lines) in zip(panels[0], costs.items(), strict=True):
        for label, found in lines.items():
            panel.plot(
                [x / min(found) if in_multiples else x for x in found],
                list(found.values()),
                "o-",
                markersize=3,
                label=label,
            )
        panel.set(
            xscale="log",
            yscale="log",
            xlabel="times the least" if in_multiples else "",
            ylabel=cost,
        )
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(lambda y, _: f"{y:g}" if f"{y:e}"[0] in "235" else "")
        panel.legend(frameon=False)
    _save(figure, file)


def _pyplot() -> Any:
    """The library that draws, without a screen; none if it is not installed."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        print("\nno plot: it needs matplotlib (pip install matplotlib)")
        return None
    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(figure: Any, file: Path) -> None:
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, dpi=150)
    print(f"\ndrawn: {file}")
