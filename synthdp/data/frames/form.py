"""Forms: what drawn tables look like, as far as the table that was given is public."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import pandas as pd

from synthdp.data.frames.containers import PANDAS, Container
from synthdp.data.frames.restoring import released_dtypes, restored
from synthdp.schema.columns.column import Column


@final
@dataclass(frozen=True)
class TableForm:
    """A kind of tables, and dtypes of columns."""

    container: Container = PANDAS
    """The kind of tables."""
    dtypes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Dtypes that were declared public, as `released_dtypes` leaves them; columns without one have
    that of the schema.
    """

    def filled(self, frame: pd.DataFrame, *, text: bool, kept: Collection[str] = ()) -> Any:
        """A decoded table in this form; texts stay texts, and columns that are to be kept are as
        they are.
        """
        dtypes = (
            {} if text else {name: dtype for name, dtype in self.dtypes.items() if name not in kept}
        )
        return self.container.filled(restored(frame, dtypes) if dtypes else frame)


def form_of(
    container: Container | None, dtypes: Mapping[str, Any], columns: Iterable[Column]
) -> TableForm:
    """What a table is drawn in that was given in a container (None: in a file), some dtypes of
    which are public; ``columns`` are those of the released schema, and dtypes say no more than they
    do.
    """
    return TableForm(PANDAS if container is None else container, released_dtypes(dtypes, columns))
