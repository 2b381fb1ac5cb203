"""Headers: whether a table has the columns that are declared of it."""

from collections.abc import Collection, Iterable, Sequence

from synthdp.core.errors import SchemaError

MAX_NAMES_SHOWN = 8
"""An error lists at most this many names, so that it stays a line or two."""


def check_names(
    header: Sequence[object],
    allowed: Sequence[str],
    *,
    besides: Collection[str] = (),
    of: str | None = None,
) -> None:
    """Raise `SchemaError` unless a table's header holds some names, each once, in any order.

    Parameters
    ----------
    header
        The names of the table's columns.
    allowed
        The names that are declared.
    besides
        Further names that the table may have.
    of
        Which table of a package it is, for messages.

    >>> check_names(["id", "sex", "age"], ["age", "sex"], besides=["id"])
    """
    what, public = (
        ("table", "schema or kinds file")
        if of is None
        else (f"table {of!r}", "schema in the package")
    )
    if not all(isinstance(name, str) for name in header):
        way_out = "make them texts, in pandas by frame.columns = frame.columns.map(str)"
        raise SchemaError(f"{what}: its column names are not all texts; {way_out}")
    if len(set(header)) != len(header):
        raise SchemaError(f"{what}: two columns have the same name; give every column its own name")
    common = set(allowed).intersection(header)
    if 2 * len(common) < len(allowed):
        # a file without a header shows its first record here: do not repeat it
        share = f"{len(common)} of the {len(allowed)} column names in the {public}"
        way_out = f"the first line must hold the names, in the declared encoding: {listed(allowed)}"
        raise SchemaError(f"{what}: its header has {share}; {way_out}")
    problems = []
    if missing := [name for name in allowed if name not in header]:
        problems.append(f"the schema has {listed(missing)}, the table has not")
    if unknown := [name for name in header if name not in allowed and name not in besides]:
        problems.append(f"the table has {listed(unknown)}, the schema has not")
    if problems:
        way_out = "add to or remove from one of them"
        if "" in unknown:
            problems.append(
                "one has no name, often because an index was written (in pandas leave it out: index=False)"
            )
        if unknown:
            if of is None:
                ignored = 'kind "ignore", or synthdp.ignore in a schema'
            else:
                ignored = "synthdp.ignore in the schema"
            way_out += f", or leave columns of the table out: {ignored}"
        raise SchemaError(f"{what}: it does not fit the {public}: {'; '.join(problems)}; {way_out}")


def listed(names: Iterable[object]) -> str:
    """Some names for a message, the first `MAX_NAMES_SHOWN` of them.

    >>> listed("abcdefghij")
    "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more"
    """
    shown = [repr(name) for name in names]
    more = len(shown) - MAX_NAMES_SHOWN
    return ", ".join(shown[:MAX_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
