"""numpy and pandas values. Neither is imported here: what the program has not loaded has made no value.

Rule: types survive: the dtype of an array or scalar, a frame's index, columns, dtypes and names.
"""

import sys
from typing import TYPE_CHECKING, Any

from runtime.checkpoint.serde import codes
from runtime.checkpoint.serde.limits import check_shape, items

if TYPE_CHECKING:
    from runtime.checkpoint.serde.encode import Encoder


def is_array(cls: type) -> bool:
    """Whether a class is one of those that are represented here."""
    top = {base.__module__.partition(".")[0] for base in cls.__mro__}
    return bool(top & {"numpy", "pandas"})


def represent(encoder: "Encoder", value: Any) -> Any:
    """A numpy or pandas value as an extension."""
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None:
        if type(value) is numpy.ndarray:
            return _array(encoder, value)
        if isinstance(value, numpy.generic) and not value.dtype.hasobject:
            return encoder.extension(codes.NUMPY_SCALAR, [_description(value.dtype), value.tobytes()])
        if isinstance(value, numpy.dtype):
            return encoder.extension(codes.STDLIB, ["dtype", _description(value)])
    if pandas is not None:
        parts = _pandas(pandas, value)
        if parts is not None:
            return encoder.extension(codes.PANDAS, parts)
    raise encoder.refuse(value, "only numpy's arrays and scalars and pandas' frames, series and indexes can be stored")


def _array(encoder: "Encoder", value: Any) -> Any:
    dtype = value.dtype
    if dtype.hasobject or dtype.names:
        elements = [item.item() if dtype.names else item for item in value.ravel(order="C")]
        return encoder.extension(codes.OBJECT_ARRAY, [_description(dtype), list(value.shape), elements])
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    # What `langgraph-checkpoint` writes too: bytes in the array's own order, and which that is.
    return encoder.extension(codes.NUMPY_ARRAY, [dtype.str, list(value.shape), order, value.tobytes(order=order)])


def _description(dtype: Any) -> Any:
    """A dtype in plain values: its name, or its fields. With gaps between fields, also where each is."""
    if not dtype.names:
        return dtype.str if dtype.subdtype is None else [_description(dtype.base), list(dtype.shape)]
    if all(name for name, *_ in dtype.descr):
        return _plain(dtype.descr)
    fields = [dtype.fields[name][:2] for name in dtype.names]
    return {
        "names": list(dtype.names),
        "formats": [_description(field) for field, _ in fields],
        "offsets": [offset for _, offset in fields],
        "itemsize": dtype.itemsize,
    }


def _plain(description: Any) -> Any:
    if isinstance(description, list | tuple):
        return [_plain(part) for part in description]
    return description


def _pandas(pandas: Any, value: Any) -> list[Any] | None:
    kind = type(value)
    if kind is pandas.DataFrame:
        columns = [_values(pandas, value.iloc[:, at]) for at in range(value.shape[1])]
        return ["DataFrame", _index(pandas, value.index), _index(pandas, value.columns), columns, dict(value.attrs)]
    if kind is pandas.Series:
        return ["Series", _index(pandas, value.index), _values(pandas, value), value.name, dict(value.attrs)]
    if isinstance(value, pandas.Index):
        return ["Index", _index(pandas, value)]
    if kind is pandas.Categorical:
        return ["Categorical", _values(pandas, pandas.Series(value))]
    return _single(pandas, kind, value)


def _single(pandas: Any, kind: Any, value: Any) -> list[Any] | None:
    if kind is pandas.Timestamp:
        return ["Timestamp", value.value, value.unit, value.tz and str(value.tz)]
    if kind is pandas.Timedelta:
        return ["Timedelta", value.value, value.unit]
    if kind is pandas.Interval:
        return ["Interval", value.left, value.right, value.closed]
    if kind is pandas.Period:
        return ["Period", value.ordinal, value.freqstr]
    if value is pandas.NaT:
        return ["NaT"]
    if value is pandas.NA:
        return ["NA"]
    return None


def _index(pandas: Any, index: Any) -> list[Any]:
    if type(index) is pandas.RangeIndex:
        return ["range", index.start, index.stop, index.step, index.name]
    if isinstance(index, pandas.MultiIndex):
        levels = [_index(pandas, level) for level in index.levels]
        return ["multi", levels, [[int(code) for code in codes_] for codes_ in index.codes], list(index.names)]
    frequency = getattr(index, "freqstr", None)
    return ["values", _values(pandas, index), index.name, frequency]


def _values(pandas: Any, values: Any) -> list[Any]:
    """The elements of a column or index, with what is needed to get the same dtype again."""
    dtype = values.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        categorical = values.array
        numbers = [int(code) for code in categorical.codes]
        return ["category", numbers, _index(pandas, dtype.categories), bool(dtype.ordered)]
    if isinstance(dtype, pandas.DatetimeTZDtype):
        moments = values.array.tz_convert("UTC").tz_localize(None)
        return ["zoned", moments.to_numpy(), str(dtype.tz)]
    if hasattr(dtype, "numpy_dtype") or not hasattr(dtype, "descr") or isinstance(dtype, pandas.PeriodDtype):
        elements = [None if pandas.isna(element) else element for element in values.astype(object)]
        return ["extension", str(dtype), elements]
    return ["numpy", values.to_numpy()]


# --- and back --------------------------------------------------------------------------------------------


def scalar(dtype: Any, data: bytes) -> Any:
    """A numpy scalar."""
    import numpy

    return numpy.frombuffer(data, dtype=dtype_of(dtype))[0].copy()


def array(dtype: str, shape: Any, order: Any, data: bytes) -> Any:
    """A numpy array that can be written to."""
    import numpy

    flat = numpy.frombuffer(data, dtype=numpy.dtype(dtype))
    return flat.reshape(tuple(items(shape)), order=order).copy(order=order)


def object_array(description: Any, shape: Any, elements: list[Any]) -> Any:
    """A numpy array of objects or of records."""
    import numpy

    dtype = dtype_of(description)
    check_shape(items(shape), len(items(elements)), dtype.itemsize)
    made = numpy.empty(tuple(shape), dtype=dtype)
    flat = made.reshape(-1)
    for at, element in enumerate(elements):
        flat[at] = element
    return made


def dtype_of(description: Any) -> Any:
    """A numpy dtype from its string, or its list of fields."""
    import numpy

    if isinstance(description, str):
        return numpy.dtype(description)
    if isinstance(description, dict):
        formats = [_format_of(field) for field in items(description["formats"])]
        fields_at: Any = {**description, "formats": formats}
        return numpy.dtype(fields_at)
    fields: list[Any] = []
    for name, kind, *shape in map(items, items(description)):
        inner = kind if isinstance(kind, str) else dtype_of(kind)
        fields.append((tuple(name) if isinstance(name, list) else name, inner, *map(tuple, shape)))
    return numpy.dtype(fields)


def _format_of(description: Any) -> Any:
    """The dtype of a field; it may be an array of fields, given with its shape."""
    if isinstance(description, list) and len(description) == 2 and not isinstance(description[0], list):
        return dtype_of(description[0]), tuple(items(description[1]))
    return dtype_of(description)


def pandas_value(kind: str, *parts: Any) -> Any:
    """A pandas value."""
    import pandas

    if kind == "DataFrame":
        index, columns, values, attrs = parts
        frame = pandas.DataFrame(
            {at: _column(pandas, column) for at, column in enumerate(items(values))},
            index=range(_length(pandas, index)),
        )
        frame.index, frame.columns = _made_index(pandas, index), _made_index(pandas, columns)
        frame.attrs.update(attrs)
        return frame
    if kind == "Series":
        index, values, name, attrs = parts
        series = pandas.Series(_column(pandas, values), index=_made_index(pandas, index), name=name)
        series.attrs.update(attrs)
        return series
    if kind == "Index":
        return _made_index(pandas, parts[0])
    if kind == "Categorical":
        return _column(pandas, parts[0])
    if kind == "Timestamp":
        number, unit, zone = parts
        moment = pandas.Timestamp(number, unit="ns").as_unit(unit)
        return moment.tz_localize("UTC").tz_convert(zone) if zone else moment
    if kind == "Timedelta":
        number, unit = parts
        return pandas.Timedelta(number, unit="ns").as_unit(unit)
    if kind == "Interval":
        return pandas.Interval(parts[0], parts[1], closed=parts[2])
    if kind == "Period":
        return pandas.Period(ordinal=parts[0], freq=parts[1])
    return {"NaT": pandas.NaT, "NA": pandas.NA}[kind]


def _length(pandas: Any, index: list[Any]) -> int:
    return len(_made_index(pandas, index))


def _made_index(pandas: Any, index: list[Any]) -> Any:
    kind, *parts = items(index)
    if kind == "range":
        start, stop, step, name = parts
        return pandas.RangeIndex(start, stop, step, name=name)
    if kind == "multi":
        levels, numbers, names = map(items, parts)
        made = [_made_index(pandas, level) for level in levels]
        return pandas.MultiIndex(made, [*map(items, numbers)], names=names, verify_integrity=False)
    values, name, frequency = parts
    made = pandas.Index(_column(pandas, values), name=name)
    if frequency is not None and hasattr(made, "freq"):
        made = type(made)(made, freq=frequency, name=name)
    return made


def _column(pandas: Any, values: list[Any]) -> Any:
    kind, *parts = items(values)
    if kind == "category":
        numbers, categories, ordered = parts
        return pandas.Categorical.from_codes(items(numbers), _made_index(pandas, categories), ordered=ordered)
    if kind == "zoned":
        moments, zone = parts
        return pandas.DatetimeIndex(_flat(moments)).tz_localize("UTC").tz_convert(zone).array
    if kind == "extension":
        dtype, elements = parts
        return pandas.array(items(elements), dtype=dtype)
    return _flat(parts[0])


def _flat(values: Any) -> Any:
    """The array of a column. A single value, or a range, pandas would repeat or fill up to the length of an index."""
    import numpy

    if type(values) is not numpy.ndarray or values.ndim != 1:
        raise ValueError(f"an array of one dimension should be here, and there is a {type(values).__name__}")
    return values
