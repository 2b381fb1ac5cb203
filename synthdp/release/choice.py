"""A choice among models of one release: which ones there are to choose from, and when one is taken."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from synthdp.core.errors import ParameterError
from synthdp.inference.engine import Engine
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.release.certificate.fit_facts import changed_parameters
from synthdp.release.registry import as_engine

STANDARD = "standard"
"""Stands for the engines of `STANDARD_ENGINES`."""

STANDARD_ENGINES = ("layered-consistency", "mixture-of-products", "graphical-model", "columns")
"""What a release is fitted by if nothing else is named: they err in different ways, and take about
as long as a release each.
"""

MAX_TREE_CELLS = 2**14
"""The graphical model of a larger tree takes longer than all else of a release, and is left out of
these.
"""

MAX_CANDIDATES = 12
"""Each candidate adds noise to the scores of all, as the square root of their number."""

MARGIN = 2.0
"""Standard deviations of the noise on a difference by which a model has to be better than the
default before it is taken: a worse one is in at most 2.3 % of releases, for each candidate.
"""


def candidates_of(
    choose: str | Sequence[str | Engine], called: str = "choose"
) -> tuple[Engine, ...]:
    """The engines of a choice, beside the release's own.

    Parameters
    ----------
    choose
        ``"standard"``, names of engines with commas between them, or a list of names and engines.
    called
        How errors call it.

    Raises `ParameterError` if it is none of these, or there are too many.

    >>> [engine.name for engine in candidates_of("gum, columns")]
    ['gum', 'columns']
    """
    if choose == STANDARD:
        return tuple(_quick(as_engine(name)) for name in STANDARD_ENGINES)
    given = [name.strip() for name in choose.split(",")] if isinstance(choose, str) else choose
    if not isinstance(given, list | tuple) or not given:
        raise ParameterError(
            f"{called} is {choose!r}; give {STANDARD!r}, or engines to choose from besides the release's own"
        )
    if len(given) > MAX_CANDIDATES:
        raise ParameterError(
            f"{called}: there are {len(given)} engines, at most {MAX_CANDIDATES} are compared"
        )
    return tuple(map(as_engine, given))


def _quick(engine: Engine) -> Engine:
    """The engine, with a limit where a model may take long."""
    if engine.name != "graphical-model":
        return engine
    limited: Engine = replace(engine, max_cells=MAX_TREE_CELLS)  # type: ignore[type-var]
    return limited


def labelled(engine: Engine | Mechanism) -> str:
    """The name of an engine or a mechanism, with the parameters that are not its defaults.

    >>> from synthdp.inference import MixtureEngine
    >>> labelled(MixtureEngine(n_components=50))
    'mixture-of-products(n_components=50)'
    """
    changed = [
        f"{name}={value[0] if isinstance(value, list) else repr(value)}"
        for name, value in changed_parameters(engine).items()
    ]
    return f"{engine.name}({', '.join(changed)})" if changed else engine.name


def chosen_place(errors: Sequence[float], stddev: float) -> int:
    """Which of some noisy errors to choose, where the first one is the default's: the least, if it
    is clear of the default by `MARGIN`, else the default.

    >>> chosen_place([0.05, 0.04, 0.01], 0.002), chosen_place([0.05, 0.04, 0.01], 0.02)
    (2, 0)
    """
    least = min(range(len(errors)), key=errors.__getitem__)
    # The noise on a difference of two errors is that of both.
    return least if errors[0] - errors[least] > MARGIN * sqrt(2.0) * stddev else 0
