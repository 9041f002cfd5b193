"""Counts the calls of functions of the package in three everyday calls, the files they are in, and their depth.

The counts need no peer: machines do not differ. The goals are those of a package that a reader can follow.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import svc_notebooks as svc
from bench.table import HELD, MISSED, Row

_PACKAGE = str(Path(svc.__file__).parent)
_EVENT = {"start": "2026-11-02 10:00", "end": "2026-11-02 11:00", "time_zone": "Europe/Berlin"}
_CALLS: dict[str, tuple[Callable[[], object], tuple[int, int, int]]] = {
    "upload() of 12 bytes": (lambda: svc.upload(b"city,people\n", name="cities.csv"), (320, 42, 18)),
    "files()": (svc.files, (180, 28, 18)),
    "create_event()": (lambda: svc.create_event("Tea", **_EVENT), (280, 40, 18)),
}
"""Each call, with the most calls, files and levels that it shall have."""


def everyday_calls() -> Iterator[Row]:
    """Count in a sandbox in which each call was made twice before."""
    with svc.sandbox():
        for name, (call, goal) in _CALLS.items():
            call(), call()
            counts = count_calls(call)
            held = HELD if all(count <= most for count, most in zip(counts, goal, strict=True)) else MISSED
            yield Row(f"calls, files and depth of {name}", _text(counts), "", "", f"≤ {_text(goal)}", held)


def count_calls(call: Callable[[], object]) -> tuple[int, int, int]:
    """Return how many calls of functions of the package a call makes, in how many files, and how deep."""
    calls: list[tuple[str, int]] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            depth, caller = 0, frame
            while caller is not None:
                depth, caller = depth + caller.f_code.co_filename.startswith(_PACKAGE), caller.f_back
            calls.append((frame.f_code.co_filename, depth))

    gc.collect()
    gc.disable()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return len(calls), len({file for file, _ in calls}), max(depth for _, depth in calls)


def _text(counts: tuple[int, ...]) -> str:
    return ", ".join(map(str, counts))
