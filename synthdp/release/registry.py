"""Names of mechanisms and engines. What they name is loaded when it is asked for, so that anybody
may read the names.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.imports import import_named

if TYPE_CHECKING:
    from synthdp.inference.engine import Engine
    from synthdp.mechanisms.shared.mechanism import Mechanism

MECHANISMS = {
    "aim": "synthdp.mechanisms.aim:AIM",
    "auto": "synthdp.mechanisms.auto.auto:Auto",
    "clique-tree": "synthdp.mechanisms.clique_tree:CliqueTree",
    "gaussian": "synthdp.mechanisms.gaussian:Gaussian",
    "gem": "synthdp.mechanisms.gem:GEM",
    "independent": "synthdp.mechanisms.independent:Independent",
    "mst": "synthdp.mechanisms.mst:MST",
    "mwem": "synthdp.mechanisms.mwem:MWEM",
    "mwem-pgm": "synthdp.mechanisms.mwem_pgm:MWEMPGM",
    "privbayes": "synthdp.mechanisms.privbayes:PrivBayes",
    "privmrf": "synthdp.mechanisms.privmrf:PrivMRF",
    "rap": "synthdp.mechanisms.rap:RAP",
}
ENGINES = {
    "auto": "synthdp.inference.engines.auto:AutoEngine",
    "direct": "synthdp.inference.engines.direct:DirectEngine",
    "generative-network": "synthdp.inference.engines.generative_network:GenerativeNetworkEngine",
    "gum": "synthdp.inference.engines.gum:RecordUpdateEngine",
    "graphical-model": "synthdp.inference.engines.graphical_model:GraphicalModelEngine",
    "layered-consistency": "synthdp.inference.engines.layered_consistency:LayeredConsistencyEngine",
    "local-consistency": "synthdp.inference.engines.local_consistency:LocalConsistencyEngine",
    "mixture-of-products": "synthdp.inference.engines.mixture_of_products:MixtureEngine",
    "relaxed-tabular": "synthdp.inference.engines.relaxed_tabular:RelaxedTabularEngine",
}

SEVERAL = "synthdp.mechanisms.several:Several"
"""What is made of a list of mechanisms."""

BASELINES = {"columns": "synthdp.inference.engines.columns:ColumnsEngine"}
"""Engines that are there to be compared with: they do not follow all that was measured."""


def mechanism_named(name: str) -> "Mechanism":
    """The mechanism of that name with its default parameters.

    Raises
    ------
    ParameterError
        If there is none of that name; the message lists those there are.
    """
    mechanism: Mechanism = _load(name, MECHANISMS, "mechanism")()
    return mechanism


def engine_named(name: str) -> "Engine":
    """The engine of that name with its default parameters; raises `ParameterError` if there is
    none.
    """
    engine: Engine = _load(name, ENGINES | BASELINES, "engine")()
    return engine


def as_mechanism(mechanism: "str | Mechanism | Sequence[str | Mechanism]") -> "Mechanism":
    """A mechanism, the one of that name, or one of several: a list, or names with commas between
    them. Raises `ParameterError` if it is none of these.
    """
    if isinstance(mechanism, str) and "," in mechanism:
        mechanism = [name.strip() for name in mechanism.split(",")]
    if isinstance(mechanism, Sequence) and not isinstance(mechanism, str):
        several: Mechanism = import_named(SEVERAL)(mechanisms=tuple(map(as_mechanism, mechanism)))
        return several
    if isinstance(mechanism, str):
        return mechanism_named(mechanism)
    if not callable(getattr(mechanism, "release", None)):
        raise ParameterError(
            f"mechanism is {mechanism!r}; give the name of a mechanism, or a Mechanism"
        )
    return mechanism


def as_engine(engine: "str | Engine") -> "Engine":
    """An engine, or the one of that name; raises `ParameterError` if it is neither."""
    if isinstance(engine, str):
        return engine_named(engine)
    if not callable(getattr(engine, "estimate", None)):
        raise ParameterError(f"engine is {engine!r}; give the name of an engine, or an Engine")
    return engine


def _load(name: str, table: dict[str, str], what: str) -> type:
    if name not in table:
        raise ParameterError(
            f"{what} {name!r} is unknown; choose one of {', '.join(sorted(table))}"
        )
    try:
        loaded: type = import_named(table[name])
    except ModuleNotFoundError as error:
        if error.name != "synthdp.mechanisms":
            raise
        # The source folder was found before the installed package, and holds the mechanisms
        # elsewhere.
        raise SynthdpError(
            "python found synthdp's source folder, not the installed package; run from another folder, or install it "
            "with `pip install -e .`"
        ) from None
    return loaded
