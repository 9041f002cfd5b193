"""The calls of the package's own functions that one chunk of an upload takes, on both sides, and how deep they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import svc_notebooks as svc

Q = 262_144
PACKAGE = str(Path(svc.__file__).parent)

MAX_CALLS_OF_A_CHUNK = 155
"""Of a further chunk in a run; it was 293."""

MAX_CALLS_OF_SEND_CHUNK = 178
"""Of a chunk by hand, with the row of its history as a frame; it was 342."""

MAX_DEPTH = 20
"""It was 26."""


def count_calls(work: Callable[[], object]) -> tuple[int, int]:
    """Return how many calls of the package the work makes in this thread, and how deep they are nested."""
    calls = deepest = 0

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls, deepest
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls += 1
            deepest = max(deepest, depth_of(frame))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls, deepest


def depth_of(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += frame.f_code.co_filename.startswith(PACKAGE)
        frame = frame.f_back
    return depth


def calls_of_a_run(chunks: int) -> int:
    upload = svc.start_upload(bytes(chunks * Q), name="a.bin", chunk_size=Q)
    return count_calls(upload.run)[0]


def test_a_further_chunk_of_a_run_takes_few_calls() -> None:
    svc.sandbox()
    calls_of_a_run(3)  # what is made once and kept

    assert calls_of_a_run(4) - calls_of_a_run(3) <= MAX_CALLS_OF_A_CHUNK


def test_a_chunk_by_hand_takes_few_calls_that_are_not_deep() -> None:
    svc.sandbox()
    upload = svc.start_upload(bytes(3 * Q), name="a.bin", chunk_size=Q)

    calls, depth = count_calls(upload.send_chunk)

    assert calls <= MAX_CALLS_OF_SEND_CHUNK
    assert depth <= MAX_DEPTH
