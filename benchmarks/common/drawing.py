"""Errors over epsilon as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

Errors = Mapping[float, Sequence[float]]


def draw_errors(errors: Mapping[str, Mapping[str, Errors]], recipes: Sequence[str], file: Path, *, what: str) -> None:
    """Draw means over epsilon, with the range of the runs: a panel for each data set, a line for each recipe.

    Needs matplotlib, and says so if it is not there.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        print("\nno plot: it needs matplotlib (pip install matplotlib)")
        return
    mpl.use("Agg")
    from matplotlib import pyplot

    width = 4.6 * len(errors)
    figure, panels = pyplot.subplots(1, len(errors), figsize=(width, 4.8), layout="constrained", squeeze=False)
    lines = {}
    for panel, (data_set, found) in zip(panels[0], errors.items(), strict=True):
        for i, recipe in enumerate(recipes):
            if x := sorted(found.get(recipe, {})):
                average, lowest, highest = (
                    [end(found[recipe][epsilon]) for epsilon in x] for end in (np.mean, min, max)
                )
                (lines[recipe],) = panel.plot(x, average, "o-" if i < 10 else "s--", color=f"C{i % 10}", markersize=3)
                panel.fill_between(x, lowest, highest, alpha=0.15, color=f"C{i % 10}", linewidth=0)
        panel.set(xscale="log", yscale="log", title=data_set, xlabel="epsilon")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(lambda y, _: f"{y:g}" if f"{y:e}"[0] in "235" else "")
    panels[0, 0].set_ylabel(what)
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=3 * len(errors), frameon=False)
    figure.savefig(file, dpi=150)
    print(f"\ndrawn: {file}")
