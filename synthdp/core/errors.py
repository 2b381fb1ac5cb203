"""The errors that synthdp raises on purpose.

Every message names the parameter, the value that was given and the way out, and none
repeats a value of the sensitive table: messages end up in logs.
"""


class SynthdpError(Exception):
    """An expected failure, fit to be shown to a person as one line."""


class ParameterError(SynthdpError, ValueError):
    """An argument is outside what the function accepts."""


class SchemaError(SynthdpError):
    """A schema contradicts itself, is not filled in, or does not fit the table's header."""


class DataFileError(SynthdpError):
    """A file cannot be read or written, or is not the kind of file that was asked for."""


class SourceError(SynthdpError):
    """An engine that holds the table fails, is not reached, or gives what was not asked for."""


class ModelTooLargeError(SynthdpError):
    """An engine would need more memory than it is allowed to use."""


class UnreadColumnError(SynthdpError):
    """Nearly no value of some column could be read, or keys of linked tables match nowhere, so the
    run stopped while most of its budget was there.

    Parameters
    ----------
    message
        What is wrong, and what to declare.
    learnt
        The `LearntDomain`: what was learnt of the other columns, and paid for. None if there is
        none.
    """

    def __init__(self, message: str, learnt: object = None) -> None:
        super().__init__(message)
        self.learnt = learnt


class MissingExtraError(SynthdpError, ImportError):
    """An optional dependency is not installed."""


class NotAcceptedError(SynthdpError):
    """A release that does not meet its criteria, or of which noise hides whether it does."""


class PrivacyError(SynthdpError):
    """A request that the privacy guarantee does not allow."""


class BudgetExceededError(PrivacyError):
    """An event would cost more than what is left of the privacy budget."""


class CautionWarning(UserWarning):
    """Something that users should know of a release; it is among its cautions, and never of single
    records.
    """


class FitWarning(CautionWarning):
    """A fit ended before it was as good as its engine makes them."""
