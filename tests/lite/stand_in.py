"""Stand-ins for numpy and pandas, for a page that cannot have them. For one test, and shipped nowhere.

PyPI has no numpy for Pyodide, and this test asks nothing else for one. So that all the rest of a notebook is proved
in a real page, a frame is here a plain table: columns can be chosen and rows counted. Whatever else is asked of it
raises `OnlyAStandIn`, and the test says of that cell that it is not proved there.
"""

import base64
import hashlib
import zipfile
from pathlib import Path

NUMPY = """
float64 = float  # IPython asks for these two by itself

def __getattr__(name):
    # openpyxl asks for the types of numbers: nothing is one of these
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {})

def set_printoptions(**named):
    pass

class Array(list):
    dtype = object

def array(values, dtype=None):
    made = Array(values)
    if made and all(type(one) is bool for one in made):
        made.dtype = bool
    return made

def fromiter(values, dtype=None, count=-1):
    return Array(values)

def zeros(count, dtype=None):
    return Array([0] * count)

def empty(count, dtype=None):
    return Array([None] * count)

def frombuffer(*given, **named):
    raise ValueError("a stand-in reads no buffers")
"""

PANDAS = '''
import html
from datetime import UTC, datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

class OnlyAStandIn(Exception):
    """This needs pandas itself."""

def _lacks(name):
    raise OnlyAStandIn(f"the stand-in for pandas has no {name}")

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    _lacks(name)

__version__ = "3.0.0"
NA = None
options = SimpleNamespace(display=SimpleNamespace(max_colwidth=50))

class Array(list):
    tolist = list.copy

def array(values, dtype=None):
    return Array(values)

arrays = SimpleNamespace(IntegerArray=array, BooleanArray=array)

def to_datetime(values, **named):
    raise ValueError("a stand-in parses no columns") if named else OnlyAStandIn("to_datetime")

class Timestamp(datetime):
    def __new__(cls, *given, **named):
        return cls.fromisoformat(given[0]) if isinstance(given[0], str) else super().__new__(cls, *given, **named)

class DatetimeIndex:
    def __init__(self, values, tz=None):
        self.array = Array(None if one == "NaT" else datetime.fromisoformat(one).replace(tzinfo=UTC) for one in values)

class Series:
    dtype = object

    def __init__(self, values, index=None, **named):
        if named:
            _lacks("such a Series")
        self._values = list(values)

    def tolist(self):
        return list(self._values)

    def item(self):
        (only,) = self._values
        return only

    @property
    def dt(self):
        def tz_convert(zone):
            return Series(one and one.astimezone(ZoneInfo(str(zone))) for one in self)

        return SimpleNamespace(tz_convert=tz_convert, tz=UTC)

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __getitem__(self, key):
        return self._values[key] if isinstance(key, int) else _lacks("Series[...]")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        _lacks(f"Series.{name}")

    def __eq__(self, other):
        _lacks("comparison")

    __ne__ = __ge__ = __lt__ = __gt__ = __le__ = __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = __eq__
    __hash__ = None

class Index:
    name = None

    def __init__(self, numbers):
        self._numbers = list(numbers)

    def __iter__(self):
        return iter(self._numbers)

    def __add__(self, number):
        return Index(n + number for n in self)

    def equals(self, other):
        return list(self) == list(other)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        _lacks(f"Index.{name}")

def RangeIndex(stop):
    return Index(range(stop))

class Lacking(type):
    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        _lacks(f"{cls.__name__}.{name}")

class DataFrame(metaclass=Lacking):
    def __init__(self, data=None, copy=None, **named):
        if named or not isinstance(data, dict):
            _lacks("such a DataFrame")
        self._data = {name: list(values) for name, values in data.items()}
        self.index = Index(range(len(self)))
        self.attrs = {}

    @property
    def columns(self):
        return Array(self._data)

    @property
    def empty(self):
        return not len(self)

    def __len__(self):
        return len(next(iter(self._data.values()), ()))

    def __contains__(self, name):
        return name in self._data

    def __iter__(self):
        return iter(self._data)

    def __getitem__(self, key):
        if isinstance(key, str):
            return Series(self._data[key])
        if isinstance(key, list):
            return DataFrame({name: self._data[name] for name in key})
        if isinstance(key, slice):
            return DataFrame({name: values[key] for name, values in self._data.items()})
        _lacks("DataFrame[...]")

    def __setitem__(self, name, values):
        self._data[name] = list(values)

    def items(self):
        return [(name, self[name]) for name in self]

    def assign(self, **named):
        made = {name: value(self) if callable(value) else value for name, value in named.items()}
        return DataFrame({**self._data, **made})

    def head(self, n=5):
        return self[:n]

    def tail(self, n=5):
        return self[max(len(self) - n, 0):]

    def copy(self):
        return DataFrame(self._data)

    def reset_index(self, drop=False):
        return self.copy() if drop else _lacks("reset_index()")

    def to_dict(self, orient="dict"):
        if orient != "records":
            _lacks(f"to_dict({orient!r})")
        return [dict(zip(self._data, row)) for row in zip(*self._data.values())]

    def to_html(self, **named):
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._data)
        rows = zip(*self._data.values())
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(one))}</td>" for one in row) + "</tr>" for row in rows)
        return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    _repr_html_ = to_html

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        _lacks(f"DataFrame.{name}")

def concat(frames, ignore_index=False, keys=None):
    if keys is not None:
        _lacks("concat(keys=...)")
    frames = list(frames)
    return DataFrame({name: [one for each in frames for one in each[name]] for name in frames[0].columns})
'''


def wheels(folder: Path) -> list[Path]:
    """The two as wheels."""
    return [_wheel(folder, "numpy", NUMPY), _wheel(folder, "pandas", PANDAS, "Requires-Dist: numpy\n")]


def _wheel(folder: Path, name: str, source: str, needs: str = "") -> Path:
    info = f"{name}-0.0.0.dist-info"
    files = {
        f"{name}/__init__.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.0\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""])
    made = folder / f"{name}-0.0.0-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)  # without the time, so that the digest stays
    return made


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
