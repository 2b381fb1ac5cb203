"""What drawn tables look like: the plain form, and what another one offers."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Protocol, final

import pandas as pd


class Form(Protocol):
    """A kind of tables, and dtypes of their columns."""

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """Dtypes that were declared public; a saved release keeps them."""

    def filled(self, frame: pd.DataFrame, *, text: bool, kept: Collection[str] = ()) -> Any:
        """A decoded table in this form; texts stay texts, and columns that are to be kept are as
        they are.
        """


@final
class PlainForm:
    """Data frames of pandas, with dtypes by the schema."""

    dtypes: Mapping[str, Any] = MappingProxyType({})

    def filled(
        self,
        frame: pd.DataFrame,
        *,
        text: bool,  # noqa: ARG002 - as every form
        kept: Collection[str] = (),  # noqa: ARG002
    ) -> pd.DataFrame:
        """The table itself: decoded tables have this form."""
        return frame


PLAIN_FORM = PlainForm()
