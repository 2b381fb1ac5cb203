"""Codes of cautions and refusals, by which ``docs/troubleshooting.md`` lists them."""

from collections.abc import Sequence

from synthdp.core.errors import (
    BudgetExceededError,
    DataFileError,
    MissingExtraError,
    ModelTooLargeError,
    NotAcceptedError,
    ParameterError,
    PrivacyError,
    SchemaError,
    SourceError,
    SynthdpError,
    UnreadColumnError,
)

OTHER_CAUTION = "C00"
"""The code of a caution that the page does not list."""

# A code is found by a phrase and not handed along with the text: certificates of other versions
# have texts alone, and get their codes too. The first phrase that a text holds decides, so a text
# that says two things has the code of what is worth mending first.
_CAUTIONS: Sequence[tuple[str, Sequence[str]]] = (
    ("C01", ("% of its values could not be read",)),
    ("C02", ("drawn rows have", "in its first level or lowest bin", "have inf or -inf")),
    ("C03", ("have none of its other levels",)),
    ("C04", ("have no value, or none that could be read", "its values are missing")),
    ("C05", ("no level has enough records",)),
    ("C06", ("its records were not told from noise", "told from noise, which would hide others")),
    ("C06", ("only one value was told from noise",)),
    ("C07", ("its bounds are uncertain", "lie beyond its bounds")),
    ("C08", ("its decimals were not told", "written in whole numbers, although")),
    ("C09", ("noise hides how many records there are",)),
    ("C10", ("scored against independence", "only single columns")),
    ("C11", ("not measured",)),
    ("C11", ("columns were planned for as all pairs",)),
    (
        "C12",
        (
            "this protects against little",
            "number of people",
        ),
    ),
    ("C13", ("short of the least loss", "combinations that constraints rule out")),
    ("C14", ("further from the model than chance explains",)),
    ("C15", ("all answers were there",)),
    ("C17", ("the run was stopped before its end", "models were to be compared")),
    ("C18", ("published totals:",)),
    ("C19", ("survey weights:",)),
    ("C20", ("name it in --constant",)),
    ("C16", ("no interval:", "values are drawn inside its bins")),
)

_REFUSALS: Sequence[tuple[str, Sequence[str]]] = (
    ("E11", ("it exists; pass --force", "is never replaced; give another name")),
    ("E12", ("did you mean",)),
    ("E13", ("it belongs under",)),
    ("E14", ("leave no value", "leave nothing")),
    ("E31", ("can be predicted",)),
    ("E32", ("is of another run",)),
    ("E33", ("has released already",)),
)

# The narrower kinds first: the first class that an error belongs to decides.
_KINDS: Sequence[tuple[type[SynthdpError], str]] = (
    (BudgetExceededError, "E34"),
    (PrivacyError, "E30"),
    (NotAcceptedError, "E40"),
    (UnreadColumnError, "E21"),
    (MissingExtraError, "E15"),
    (ModelTooLargeError, "E16"),
    (SourceError, "E17"),
    (DataFileError, "E18"),
    (SchemaError, "E19"),
    (ParameterError, "E20"),
    (SynthdpError, "E22"),
)


def caution_code(text: str) -> str:
    """The code of a caution on one column, or on several.

    >>> caution_code("column 'age': its bounds are uncertain by about 10; declare minimum")
    'C07'
    """
    return _code_by_phrase(_CAUTIONS, text.replace("their ", "its ")) or OTHER_CAUTION


def error_code(error: SynthdpError) -> str:
    """The code of a refusal: that of its text if the page lists it, else that of its kind.

    >>> error_code(ParameterError("n is -1; give a number above 0"))
    'E20'
    """
    by_kind = (code for kind, code in _KINDS if isinstance(error, kind))
    return _code_by_phrase(_REFUSALS, str(error)) or next(by_kind)


def with_code(text: str, code: str) -> str:
    """A text followed by its code.

    >>> with_code("few records", "C09")
    'few records [C09]'
    """
    return f"{text} [{code}]"


def with_caution_code(text: str) -> str:
    """A caution as people see it, followed by its code."""
    return with_code(text, caution_code(text))


def all_codes() -> list[str]:
    """Every code, once."""
    by_phrase = [code for codes in (_CAUTIONS, _REFUSALS) for code, _ in codes]
    by_kind = [code for _, code in _KINDS]
    return sorted({*by_phrase, *by_kind, OTHER_CAUTION})


def _code_by_phrase(codes: Sequence[tuple[str, Sequence[str]]], text: str) -> str | None:
    """The first code that has a phrase of the text; None if there is none."""
    return next(
        (code for code, phrases in codes if any(phrase in text for phrase in phrases)), None
    )
