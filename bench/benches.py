"""The benchmarks by name, in the order of the table."""

from __future__ import annotations

from importlib import import_module

from bench.machine import Speed, stay_on_one_core
from bench.table import Row

# The file and the function; loaded when measured, so that no row waits for another's peers.
BENCHES = {
    "metadata": ("in_process", "metadata"),
    "upload": ("transfers", "upload_in_large_chunks"),
    "upload-small": ("transfers", "upload_in_small_chunks"),
    "resumed": ("transfers", "resumed_upload"),
    "creates": ("emulator", "creates"),
    "stored": ("emulator", "stored"),
    "chunks": ("emulator", "chunks"),
    "many": ("emulator", "many"),
    "download": ("transfers", "download_to_disk"),
    "fan-out": ("fan_out", "fast"),
    "slow-hooks": ("fan_out", "slow"),
    "memory": ("memory", "growth"),
    "dead-receivers": ("latency", "beside_dead_receivers"),
    "ten-years": ("recurrences", "ten_years"),
    "ten-years-on": ("recurrences", "ten_years_on"),
    "monthly": ("recurrences", "monthly"),
    "large-calendar": ("large_calendar", "large_calendar"),
    "timetable": ("timetable", "timetable"),
    "slow-line": ("bulk", "over_a_slow_line"),
    "workers": ("bulk", "on_one_machine"),
    "processor-time": ("bulk", "processor_time"),
    "long-list": ("bulk", "long_list"),
    "many-rows": ("bulk", "very_many_rows"),
    "sorted-list": ("classroom", "long_list"),
    "beside-list": ("classroom", "beside_a_list"),
    "beside-greedy": ("classroom", "beside_greedy_clients"),
    "class": ("classroom", "a_class"),
    "mixed-load": ("mixed_load", "mixed_load"),
    "frames": ("start", "frames"),
    "import": ("start", "imports"),
    "first-frame": ("start", "first_frame"),
    "sandbox": ("commands", "first_answer"),
    "calls": ("call_counts", "everyday_calls"),
    "grade": ("commands", "grade_one_student"),
    "run": ("commands", "run_notebooks"),
    "clone": ("commands", "clone_to_jupyterlab"),
}

BY_NAME_ONLY = {"run", "clone", "many-rows"}
"""Those that take minutes each, and that a run of all benchmarks leaves out."""

ON_ONE_CORE = {"upload", "upload-small", "resumed", "creates", "stored", "chunks", "download", "workers", "mixed-load"}
"""Those that compare programs which wait for each other, or count their processor time: they run on one core.

On a virtual machine, waking a program on another core can take as long as its work, and the work then takes longer.
"""

GROUPS = {"classroom": ("sorted-list", "beside-list", "beside-greedy", "class")}
"""Names for several benchmarks."""


def rows_of(name: str, *, all_cores: bool = False) -> list[Row]:
    """Measure one of them, in a process that measures no other."""
    if name in ON_ONE_CORE and not all_cores:
        stay_on_one_core()
    room, function = BENCHES[name]
    return list(getattr(import_module(f".{room}", __package__), function)())


def measure(name: str, *, all_cores: bool = False) -> tuple[list[Row], Speed]:
    """Measure one of them like `rows_of`, and before it the speed of the machine."""
    speed = Speed.now()
    return rows_of(name, all_cores=all_cores), speed
