"""What may be asked of a model: seeds, numbers of rows and sizes of marginals, checked before any
work is done.
"""

from collections.abc import Iterable, Sequence
from math import log10

import numpy as np

from synthdp.core.cliques import Clique, distinct
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError, ParameterError

MAX_CELLS = 1 << 27
"""Cells of one marginal, or of a table on the way to it: 1 GiB, what the kernel measures."""

MAX_BATCH_CELLS = 1 << 30
"""Cells of all marginals that are asked for at once: 8 GiB."""

MAX_AXES = 32
"""Attributes of one marginal: numpy's arrays have no more axes before its version 2."""

MAX_SAMPLE_BYTES = 1 << 36
"""For the codes of one sample, and for drawing them: 64 GiB, a billion rows of 38 attributes."""

_BYTES_A_ROW = 30
"""What drawing takes for each row, whatever the number of attributes; see
`synthdp.inference.value_drawing.draw_values`.
"""


def seeded(seed: int | None) -> np.random.Generator:
    """A source of (repeatable, not private) randomness; raises `ParameterError` as `check_seed`
    does.
    """
    check_seed(seed)
    return np.random.default_rng(seed)


def check_seed(seed: int | None) -> None:
    """Raise `ParameterError` unless the seed is a whole number of 0 or more, or None."""
    if seed is not None and not (_is_whole(seed) and seed >= 0):
        raise ParameterError(f"seed is {seed!r}; give a whole number of 0 or more, or None")


def most_rows(sizes: Iterable[int]) -> int:
    """How many rows may be drawn at once.

    Parameters
    ----------
    sizes
        Number of levels of each attribute.

    >>> most_rows([2] * 15), most_rows([1000] * 1000)
    (1527099483, 33851958)
    """
    return MAX_SAMPLE_BYTES // (
        _BYTES_A_ROW + sum(np.min_scalar_type(size - 1).itemsize for size in sizes)
    )


def check_rows(domain: Domain, n_rows: int) -> None:
    """Raise `ParameterError` unless ``n_rows`` is a number of rows, and so many codes of ``domain``
    can be held.
    """
    if not _is_whole(n_rows) or n_rows < 0:
        raise ParameterError(f"n_rows is {n_rows!r}; give a whole number of 0 or more")
    if n_rows > (most := most_rows(domain.shape)):
        raise ParameterError(
            f"n_rows is {_in_digits(n_rows)}; at most {most} rows of {len(domain)} attributes are drawn at once, "
            f"in {MAX_SAMPLE_BYTES >> 30} GiB: draw fewer, or several times with other seeds"
        )


def check_cliques(domain: Domain, cliques: Sequence[Sequence[str]]) -> list[Clique]:
    """The cliques of marginals as tuples.

    Raises
    ------
    ParameterError
        If an attribute is unknown or repeats in a clique, or a clique has more than `MAX_AXES`.
    ModelTooLargeError
        If a marginal has more than `MAX_CELLS` cells, or all together more than `MAX_BATCH_CELLS`.
    """
    checked = [distinct(clique) for clique in cliques]
    n_cells = 0
    for names in checked:
        if len(names) > MAX_AXES:
            raise ParameterError(f"clique of {len(names)} attributes: name at most {MAX_AXES}")
        check_cells(size := domain.size(names), f"the marginal of {', '.join(map(repr, names))}")
        n_cells += size
    if n_cells > MAX_BATCH_CELLS:
        raise ModelTooLargeError(
            f"the {len(checked)} marginals have {n_cells} cells together, at most {MAX_BATCH_CELLS} are allowed; "
            "ask for them in several parts"
        )
    return checked


def check_cells(n_cells: int, what: str) -> None:
    """Raise `ModelTooLargeError` if a table has more than `MAX_CELLS` cells; ``what`` is how the
    error calls it.
    """
    if n_cells > MAX_CELLS:
        raise ModelTooLargeError(
            f"{what} has {_in_digits(n_cells)} cells, at most {MAX_CELLS} are allowed; "
            "name fewer attributes, or draw a sample and count in it"
        )


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _in_digits(number: int) -> str:
    """A number in full if that can be read."""
    return str(number) if number < 10**15 else f"about 10^{round(log10(number))}"
