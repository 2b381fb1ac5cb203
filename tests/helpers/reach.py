"""What can be reached from an object or from an error, and whether it is records or exact counts."""

import gc
import traceback
import types

import numpy as np
import pandas as pd

from synthdp.data import CodedSource, CodedTable, HeldSource, HeldTable, HeldTableReader
from synthdp.privacy import PrivateTable, Queryable


def reachable(*starts: object) -> list[object]:
    """Everything that can be reached from some objects, but for modules, code, frames and classes'
    innards.
    """
    seen: dict[int, object] = {}
    queue = list(starts)
    skipped = (types.ModuleType, types.CodeType, types.FrameType, types.TracebackType, type)
    while queue:
        thing = queue.pop()
        if id(thing) in seen or isinstance(thing, skipped):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, types.FunctionType):
            queue.extend(cell.cell_contents for cell in thing.__closure__ or () if holds(cell))
            continue
        queue.extend(gc.get_referents(thing))
        if isinstance(thing, np.ndarray) and thing.base is not None:
            queue.append(thing.base)
    return list(seen.values())


def holds(cell: types.CellType) -> bool:
    """Whether a closure's cell has a value (an error's handler empties it)."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def errors_of(error: BaseException) -> list[BaseException]:
    """An error, and all that it was raised from or in view of."""
    found, todo = [], [error]
    while todo:
        known = todo.pop()
        if known is not None and known not in found:
            found.append(known)
            todo += [known.__cause__, known.__context__]
    return found


def told_by(error: BaseException, log: str) -> str:
    """All that an error tells whoever sees its tracebacks, and a log."""
    return "".join("".join(traceback.format_exception(each)) for each in errors_of(error)) + log


def carried(error: BaseException, *, callers: int) -> list[object]:
    """What an error holds on to: itself and its causes, and local variables of all frames but the
    callers' own.
    """
    starts: list[object] = []
    for known in errors_of(error):
        starts.append(known)
        trace = known.__traceback__
        for _ in range(callers if known is error else 0):
            trace = trace.tb_next
        while trace is not None:
            starts += trace.tb_frame.f_locals.values()
            trace = trace.tb_next
    return reachable(*starts)


def secrets(things: list[object], n_rows: int) -> list[str]:
    """Which of the things hold records, or exact counts of a table of so many rows."""
    found = []
    for thing in things:
        if isinstance(
            thing, pd.DataFrame | pd.Series | CodedTable | CodedSource | HeldTable | HeldSource
        ):
            found.append(repr(type(thing)))
        elif isinstance(thing, HeldTableReader):
            found.append("a reader of rows")
        elif isinstance(thing, Queryable):
            is_closed = thing._open_source is None and not (
                isinstance(thing, PrivateTable) and thing._scored
            )
            found += [] if is_closed else ["an open private object"]
        elif isinstance(thing, np.ndarray) and (n_rows in thing.shape or is_counts(thing, n_rows)):
            found.append(f"array {thing.dtype} {thing.shape}")
    return found


def is_counts(array: np.ndarray, n_rows: int) -> bool:
    """Whether integers are the exact counts of a marginal: they add up to the number of rows."""
    return np.issubdtype(array.dtype, np.integer) and int(array.sum()) == n_rows
