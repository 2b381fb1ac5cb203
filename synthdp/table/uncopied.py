"""Uncopied: what holds or counts sensitive rows leaves its process by no pickle and no copy."""

from typing import Any, NoReturn

from synthdp.errors import PrivacyError


class Uncopied:
    """Base of all objects behind which there are sensitive rows.

    Raises
    ------
    PrivacyError
        Whenever one is pickled or copied.
    """

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        what = f"{type(self).__name__}: there are sensitive rows behind it"
        raise PrivacyError(f"{what}, so it is not copied or pickled; keep the synthesis that is released instead")
