"""Released values in the types of Arrow, which tables of polars and pyarrow have."""

from typing import Any

import numpy as np
import pandas as pd

from synthdp.data.frames.scalars import durations, moments, numbers


def arrow_column(values: pd.Series, dtype: pd.ArrowDtype) -> pd.Series:
    """Released values of a column in a type of Arrow; each of its types holds missing values."""
    import pyarrow as pa  # it is there, if there is a type of it

    kind = dtype.pyarrow_dtype
    array = _dictionary(values, kind) if pa.types.is_dictionary(kind) else _array(values, dtype)
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))


def _array(values: pd.Series, dtype: pd.ArrowDtype) -> Any:
    import pyarrow as pa

    kind = dtype.pyarrow_dtype
    if pa.types.is_decimal(kind):
        # A drawn value may lie beyond what the declared decimal can hold, by the noise in its
        # bounds: then it is clipped, and not an error.
        end = 10.0 ** (kind.precision - kind.scale)
        limit = min(end - 10.0**-kind.scale, np.nextafter(end, 0.0))
        floats = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return pa.array(np.clip(floats, -limit, limit), from_pandas=True).cast(kind)
    if pa.types.is_date(kind):
        return pa.array(values.to_numpy(dtype="datetime64[D]")).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(moments(values, kind.unit).to_numpy()).cast(kind)
    if pa.types.is_duration(kind):
        return pa.array(durations(values, kind.unit).to_numpy())
    if dtype.kind in "biuf":
        return pa.array(numbers(values, dtype.numpy_dtype), type=kind, from_pandas=True)
    return pa.array(values.astype(object), type=kind, from_pandas=True)


def _dictionary(values: pd.Series, kind: Any) -> Any:
    """Texts of levels as a dictionary, with indices of its type if there are not too many levels."""
    import pyarrow as pa

    texts = pa.array(values.astype(object), type=pa.large_string(), from_pandas=True)
    encoded = texts.dictionary_encode()
    levels = encoded.dictionary
    indices = encoded.indices
    # Learnt levels may be more than the indices of the dtype can number.
    most = np.iinfo(kind.index_type.to_pandas_dtype()).max
    if len(levels) <= most:
        indices = indices.cast(kind.index_type)
    is_text = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
    text_type = kind.value_type if is_text else pa.string()
    return pa.DictionaryArray.from_arrays(indices, levels.cast(text_type), ordered=False)
