"""What holds or counts records is shown by its kind alone, and is not copied or pickled."""

from abc import ABC
from typing import Any, NoReturn

from synthdp.core.errors import PrivacyError


class Sensitive(ABC):  # noqa: B024 (what is abstract about it is what it holds)
    """Holds records, or what answers with exact counts of them. Whoever pickles or copies it gets a
    `PrivacyError`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        what = f"{type(self).__name__}: there are sensitive rows behind it"
        raise PrivacyError(
            f"{what}, so it is not copied or pickled; keep the synthesis that is released instead"
        )
