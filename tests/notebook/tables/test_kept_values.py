import json
import warnings
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, strategies as st

import svc_notebooks as svc
from svc_notebooks.notebook.tables.formats import BY_NAME
from svc_notebooks.notebook.tables.read_table import read_table
from svc_notebooks.notebook.tables.write_table import write_table
from tests.examples import examples

RECIPES = Path(__file__).parents[3] / "docs" / "recipes.md"
MOMENT = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - a time without a zone
LEVELS = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])

FRAMES = {
    "whole numbers, also beside missing values": [
        [1, -(10**15), 3],
        pd.array([158221819562593, None], dtype="Int64"),
        np.array([2, 250], dtype="uint8"),
    ],
    "whole numbers of 16 digits and more": [
        [2**62 + 1, 3],
        pd.array([1582218195625938945, None, 7], dtype="Int64"),
        np.array([2**64 - 1], dtype="uint64"),
    ],
    "floats": [[0.1 + 0.2, 1e-300, 5e-324, -0.0, 1.7976931348623157e308, None], [1.46e-15, 1e22, 3.0], [1.0, None]],
    "infinite floats": [[float("inf"), 1.5], [float("-inf")]],
    "booleans, also beside missing values": [[True, False], pd.array([True, None], dtype="boolean"), [True, None]],
    "texts": [["x", None, "é", 'say "hi", he; she\tsaid'], ["=1+1", "a\nb", "a\rb"], ["a;b;c;d;e;f;g;h"] * 300],
    "texts of digits with leading zeros": [["00123", "94110"], ["007", None, "00"]],
    "texts like numbers, booleans or missing values": [
        ["TRUE", "FALSE"],
        ["8", "1.50"],
        ["NA", "DE"],
        ["None", "x"],
        ["null", None],
        ["1e5", "inf"],
    ],
    "empty texts": [["", "x"]],
    "categories": [pd.Categorical(["x", None, "y"]), pd.Categorical([3, 1])],
    "datetimes": [pd.to_datetime(["2026-01-02T03:04:05", None]), pd.to_datetime(["2026-01-02"]), [MOMENT, None]],
    "datetimes with microseconds": [pd.to_datetime(["2026-01-02T03:04:05.000007"])],
    "datetimes with a time zone": [
        pd.to_datetime(["2026-01-02T03:04:05Z", None]),
        pd.to_datetime(["2026-07-02T03:04:05Z"]).tz_convert("Europe/Berlin"),
    ],
    "dates": [[date(2026, 1, 2), None, date(1900, 1, 1)]],
    "times": [[time(3, 4, 5), None]],
    "timedeltas": [pd.to_timedelta(["1 days 02:00:01", None])],
    "Decimal": [[Decimal("1.50"), None]],
    "lists": [[[1, 2], [], None], [["a", "b,c"]]],
    "dicts": [[{"a": 1}, {"a": 2}]],
    "bytes": [[b"\x00x", None]],
    "values of several types": [[1, "x"], [True, "x"]],
    "columns without values": [[None, None], pd.array([None], dtype="Int64"), pd.to_datetime([None])],
    "last rows without values": [[1.5, None, None]],
    "columns of several levels": [pd.DataFrame([[1, 2]], columns=LEVELS)],
    "two columns of a name": [pd.DataFrame([[1, 2]], columns=["a", "a"])],
}
TARGETS = {
    "CSV, TSV": ["csv", "tsv"],
    "JSON, JSON Lines": ["json", "jsonl"],
    "Parquet": ["parquet"],
    "Excel, native spreadsheet": ["xlsx", "native"],
}


def table_of_the_recipes():
    lines = RECIPES.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| values |"))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:] if line.startswith("|")]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


EXPECTED = table_of_the_recipes()


def frame_of(values):
    return values if isinstance(values, pd.DataFrame) else pd.DataFrame({"other": range(len(values)), "x": values})


def is_missing(value):
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float | complex | Decimal) and value != value)
    )


def plain(value):
    """A list or dict in which each missing value is None."""
    if isinstance(value, list):
        return [*map(plain, value)]
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else None if is_missing(value) else value


FROM_TEXT = (
    ((list, dict), json.loads),
    (datetime, pd.Timestamp),
    (timedelta, pd.Timedelta),
    (date, date.fromisoformat),
    (time, time.fromisoformat),
    ((int, np.integer), int),
    (Decimal, Decimal),
    ((pd.Period, pd.Interval), lambda text: text),
)


def change_of(value, read):
    """Return "kept" or "as text" if nothing of a value is lost, else "changed"."""
    if is_missing(value) or is_missing(read):
        return "kept" if is_missing(value) and is_missing(read) else "changed"
    if isinstance(value, str | bool | np.bool_) or isinstance(read, bool | np.bool_):
        is_same = isinstance(value, str) == isinstance(read, str) and plain(value) == read
        is_same = is_same and isinstance(value, bool | np.bool_) == isinstance(read, bool | np.bool_)
        return "kept" if is_same else "changed"
    if isinstance(read, str):
        convert = next((convert for types, convert in FROM_TEXT if isinstance(value, types)), None)
        is_same = convert and plain(convert(read)) == (str(value) if isinstance(value, pd.Period) else plain(value))
        return "as text" if is_same else "changed"
    if type(value) is date and isinstance(read, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, Decimal) and isinstance(read, int | float):
        read = Decimal(repr(read))
    return "kept" if plain(value) == plain(read) else "changed"


def changes_of(frame, read):
    assert read.shape == frame.shape
    pairs = [
        pair
        for n in range(frame.shape[1])
        for pair in zip(frame.iloc[:, n].astype(object), read.iloc[:, n].astype(object), strict=True)
    ]
    changed = [pair for pair in pairs if change_of(*pair) == "changed"]
    assert not changed
    return {change_of(*pair) for pair in pairs}


def outcome(frame, target):
    """Return which word of the table is true, after an upload."""
    to = {"name": "table", "convert_to": "spreadsheet"} if target == "native" else {"name": f"table.{target}"}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            read = svc.read_frame(svc.upload(frame, **to))
        except ValueError:
            return "refused" if len(svc.exchanges()) == 0 else "sent"
    assert len(seen) < 2
    if seen:
        assert seen[0].filename == __file__
        return "warning"
    return "as text" if "as text" in changes_of(frame, read) else "kept"


@pytest.mark.parametrize("target", [target for targets in TARGETS.values() for target in targets])
@pytest.mark.parametrize("kind", FRAMES)
def test_each_format_keeps_what_the_recipes_say(lab, kind, target):
    assert list(EXPECTED) == list(FRAMES)
    expected = next(EXPECTED[kind][title] for title, targets in TARGETS.items() if target in targets)

    assert [outcome(frame_of(values), target) for values in FRAMES[kind]] == [expected] * len(FRAMES[kind])


ODD = """ |NA|nan|None|null|#N/A|TRUE|false|1|1.50|007|-07|+5| 5|5 |1e5|1e|-|.|inf|-Infinity|2026-01-02|03:04|=1+1
a,b|a;b| lead|trail |'|"|say "hi"|x, "y"|_x0041_|1_000|1,000|0x1F|٣|9223372036854775808|18446744073709551616|00|0|-0|0.0
<NA>|1 2|nan |t|yes|sep=;|é|数|😀"""
odd = st.sampled_from(
    [*ODD.replace("\n", "|").split("|"), "", "|", "\n", "a\r\nb", "a\rb", "\x00", "\ud800", "\ufeff", "\xa0"]
)
texts = st.one_of(odd, st.text(max_size=6), st.text("0123456789+-.eE ", max_size=5))
floats = st.floats()
moments = st.datetimes()
nested = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=4,
)
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-3))])
OBJECTS = {
    "text": texts,
    "integer": st.integers(-(2**70), 2**70),
    "float": floats,
    "boolean": st.booleans(),
    "datetime": moments,
    "zoned": st.datetimes(timezones=zones),
    "date": st.dates(),
    "time": st.times(),
    "timedelta": st.timedeltas(timedelta(days=-90_000), timedelta(days=90_000)),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False),
    "list": st.lists(nested, max_size=3),
    "dict": st.dictionaries(st.text(max_size=2), nested, max_size=3),
    "bytes": st.binary(max_size=3),
    "complex": st.complex_numbers(),
}
OBJECTS |= {
    "mixed": st.one_of(*OBJECTS.values()),
    "numbers": st.one_of(st.integers(-(2**60), 2**60), floats),
    "digits": st.one_of(st.integers(-5, 5), st.sampled_from(["1", "2"])),
}
whole = st.none() | st.integers(-(2**63), 2**63 - 1)
DTYPES = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "Int64": whole,
    "UInt64": st.none() | st.integers(0, 2**64 - 1),
    "float64": floats,
    "Float64": st.none() | floats,
    "bool": st.booleans(),
    "boolean": st.none() | st.booleans(),
    "str": st.none() | texts.filter(lambda text: text.isprintable()),
    "datetime64[us]": st.none() | moments,
    "datetime64[ns]": st.none() | st.datetimes(MOMENT.replace(year=1700), MOMENT.replace(year=2260)),
    "datetime64[us, UTC]": st.none() | moments,
    "datetime64[us, Europe/Berlin]": st.none() | st.datetimes(MOMENT.replace(year=1900), MOMENT.replace(year=2200)),
    "timedelta64[us]": st.none() | OBJECTS["timedelta"],
    "category": st.none() | texts.filter(lambda text: text.isprintable()),
    "category of numbers": whole,
}
NAMES = st.one_of(st.sampled_from("abn"), texts, st.integers(-2, 3), st.none(), st.booleans(), floats, st.dates())
INDEXES = {
    "row numbers": lambda rows: pd.RangeIndex(rows),
    "named": lambda rows: pd.RangeIndex(rows, name="k"),
    "numbers": lambda rows: pd.Index([2 * n for n in range(rows)], dtype="int64"),
    "texts": lambda rows: pd.Index([f"r{n}" for n in range(rows)], dtype=object),
    "levels": lambda rows: pd.MultiIndex.from_tuples([("x", n) for n in range(rows)], names=["p", "q"]),
}


@st.composite
def columns(draw, rows):
    kind = draw(st.sampled_from([*DTYPES, *OBJECTS]))
    values = draw(st.lists(DTYPES[kind] if kind in DTYPES else st.none() | OBJECTS[kind], min_size=rows, max_size=rows))
    if kind in DTYPES:
        return pd.Series(values, dtype=kind.removesuffix(" of numbers"))
    column = pd.Series([None] * rows, dtype=object)
    for n, value in enumerate(values):
        column.iat[n] = value
    return column


@st.composite
def frames(draw):
    rows = draw(st.integers(0, 5))
    names = draw(st.sampled_from([["x"], ["a", "b"], ["a", "b", "c"]]) | st.lists(NAMES, max_size=3))
    frame = pd.concat([draw(columns(rows)) for _ in names], axis=1) if names else pd.DataFrame(index=range(rows))
    frame.columns = pd.Index(names, dtype=object)
    return frame.set_axis(INDEXES[draw(st.sampled_from([*INDEXES]))](rows), axis="index")


def expected_frame(frame, name):
    if name == "parquet":
        return frame
    is_named = any(level is not None for level in frame.index.names)
    frame = frame.reset_index() if is_named or (len(frame) and frame.index.dtype == object) else frame
    kept = (str, int) if name == "xlsx" else (str,)
    return frame.set_axis([label if type(label) in kept else str(label) for label in frame.columns.tolist()], axis=1)


@pytest.mark.parametrize("name", ["csv", "tsv", "json", "jsonl", "parquet", "xlsx"])
@examples(0.5, deadline=None)
@given(frame=frames())
@example(frame=pd.DataFrame({"x": pd.array(["0099-01-01"], dtype="datetime64[s]")}))
def test_a_random_frame_comes_back_unless_it_is_refused_or_a_warning_says_more(name, frame):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            content = write_table(frame, BY_NAME[name])
        except ValueError:
            return
    if not seen:
        expected, read = expected_frame(frame, name), read_table(content, BY_NAME[name], "table", None, {})
        assert list(map(repr, read.columns)) == list(map(repr, expected.columns))
        changes_of(expected, read)
