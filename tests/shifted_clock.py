"""Moves the clock of a pytest process: `python -m pytest -p tests.shifted_clock` runs a year and a second later.

It replaces the functions of `time` and `datetime` that read the clock, in this process alone, before any test module
is imported. What waits (`time.monotonic`, `time.sleep`) is as it was.
"""

import ctypes
import datetime
import gc
import time

SHIFT = 366 * 86400 + 1


def _shift_time() -> None:
    present, present_ns = time.time, time.time_ns
    time.time = lambda: present() + SHIFT
    time.time_ns = lambda: present_ns() + SHIFT * 10**9
    for name in ("gmtime", "localtime", "ctime"):
        setattr(time, name, _at_time(getattr(time, name)))
    strftime = time.strftime
    time.strftime = lambda form, moment=None: strftime(form, time.localtime() if moment is None else moment)


def _at_time(function):
    return lambda seconds=None: function(time.time() if seconds is None else seconds)


def _shift_datetime() -> None:
    _replace(datetime.date, today=lambda cls: cls.fromtimestamp(time.time()))
    _replace(
        datetime.datetime,
        now=lambda cls, tz=None: cls.fromtimestamp(time.time(), tz),
        utcnow=lambda cls: cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None),
    )


def _replace(kind: type, **methods) -> None:
    """Sets class methods of a type written in C. A subclass would do, if pandas took one in its place."""
    gc.get_referents(kind.__dict__)[0].update({name: classmethod(method) for name, method in methods.items()})
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


_shift_time()
_shift_datetime()
