"""The benchmarks by name, in the order of the table."""

from __future__ import annotations

from importlib import import_module

from tests.bench.table import Row

# The file and the function; loaded when measured, so that no row waits for another's peers.
BENCHES = {
    "metadata": ("in_process", "metadata"),
    "busy": ("in_process", "busy"),
    "upload": ("transfers", "upload_in_large_chunks"),
    "upload-small": ("transfers", "upload_in_small_chunks"),
    "creates": ("emulator", "creates"),
    "chunks": ("emulator", "chunks"),
    "linear": ("emulator", "linear"),
    "many": ("emulator", "many"),
    "download": ("transfers", "download_to_disk"),
    "fan-out": ("fan_out", "fast"),
    "slow-hooks": ("fan_out", "slow"),
    "memory": ("memory", "growth"),
    "dead-receivers": ("latency", "beside_dead_receivers"),
    "ten-years": ("recurrences", "ten_years"),
    "ten-years-on": ("recurrences", "ten_years_on"),
    "timetable": ("timetable", "timetable"),
    "frames": ("start", "frames"),
    "import": ("start", "imports"),
}


def rows_of(name: str) -> list[Row]:
    """Measure one of them."""
    room, function = BENCHES[name]
    return list(getattr(import_module(f".{room}", __package__), function)())
