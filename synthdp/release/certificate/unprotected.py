"""What a release says that no guarantee protects: all that was declared or chosen, before the
records were read.
"""

from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.schema.open_schema import OpenSchema

PUBLISHED = {"quantity": "totals that were said to be published", "source": "known"}
"""Of releases with published tables."""


def unprotected_quantities(
    schema: OpenSchema, unit: PrivacyUnit, *, has_public_dtypes: bool
) -> list[dict[str, str]]:
    """All quantities that are in a release as they are, without noise.

    Parameters
    ----------
    schema
        As it was declared, before anything was learnt.
    unit
        What is protected.
    has_public_dtypes
        Whether kinds of columns are the table's dtypes.

    Returns
    -------
    list of dict
        Of ``quantity``, what it is, and ``source``, where it comes from.
    """
    names = "the schema and the header of the table, of which only names are read"
    quantities = {"names and order of the columns": names}
    quantities |= _declared(schema)
    if has_public_dtypes:
        quantities["kinds of the columns"] = (
            "the dtypes of the table, which were taken to be public knowledge"
        )
    if unit.column is not None:
        most = f"a setting: {unit.max_rows}; column {unit.column!r} tells persons apart and is not in the release"
        quantities["most records of a person"] = most
    # Its neighbours have as many rows, so that nothing hides their number.
    if unit.adjacency is Adjacency.REPLACE_ONE:
        quantities["the number of records"] = (
            "the records: replace-one protects what they hold, and not how many there are"
        )
    quantities["budget, mechanism, engine, and the marginals that were wanted (workload)"] = (
        "settings of the run"
    )
    return [{"quantity": quantity, "source": source} for quantity, source in quantities.items()]


def _declared(schema: OpenSchema) -> dict[str, str]:
    """What a schema declares of its columns."""
    n_open = len(schema.open_columns)
    n_closed = len(schema.names) - n_open
    quantities = {}
    if n_closed:
        quantities[f"types, levels, bounds and bins of {n_closed} columns"] = (
            "declared in the schema"
        )
    if n_open:
        quantities[f"types of {n_open} columns, and what else of them was not learnt"] = (
            "declared in the schema"
        )
    if schema.rules:
        quantities["rules between columns"] = "declared in the schema"
    if schema.generated.columns:
        quantities["generated columns"] = "made up; nothing of theirs was read"
    return quantities
