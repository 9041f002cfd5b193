"""Defines the options of `svc-notebooks grade`."""

import argparse
from pathlib import Path

from ..options.option_types import file_option, jobs_option, percent_option, seconds_option


def add_grade_options(command: argparse.ArgumentParser) -> None:
    """Add the options of grade to its parser."""
    add = command.add_argument
    add("directory", type=Path, metavar="DIR", help="a folder with a folder or a notebook for each student")
    add(
        "--json",
        type=file_option,
        metavar="FILE",
        help="also write all results, with the message of each check, as JSON, after each submission",
    )
    add(
        "--resume",
        action="store_true",
        help="continue an interrupted run: keep the results in the file of --json, and grade only new and changed"
        " submissions",
    )
    add("--csv", type=file_option, metavar="FILE", help="also write the table as CSV")
    add("--output", type=file_option, metavar="FILE", help="also write the gradebook in the format of --format")
    add(
        "--format",
        choices=("csv", "canvas", "moodle", "nbgrader", "html"),
        default="csv",
        help="the format of --output (default: %(default)s)",
    )
    add("--feedback", type=Path, metavar="DIR", help="also write a page in HTML for each student to a new folder")
    add("--roster", type=Path, metavar="FILE", help="a CSV file of students: name, email, id, login, section, deadline")
    add("--points", type=Path, metavar="FILE", help="a CSV file with the columns exercise and points (default: 1 each)")
    add(
        "--deadline",
        metavar="TIME",
        help="name later submissions, for example 2026-11-30 or 2026-11-30T18:00",
    )
    add(
        "--late-points",
        type=percent_option,
        default=100.0,
        metavar="PERCENT",
        help="the points that late submissions keep (default: %(default)s)",
    )
    add("--assignment", metavar="NAME", help="the name of the assignment in the gradebook (default: the name of DIR)")
    add(
        "--isolation",
        choices=("auto", "bubblewrap", "limits"),
        default="auto",
        help="how submissions are isolated: in bubblewrap; by limits of processes only; or auto, which is bubblewrap"
        " where it works (default: %(default)s)",
    )
    add("--seed", help="the seed of the students' data (default: a random one, which is printed)")
    add(
        "--cell-timeout",
        type=seconds_option,
        default=30.0,
        metavar="DURATION",
        help="time limit for one cell, in seconds or as 2min (default: %(default)s seconds)",
    )
    add(
        "--timeout",
        type=seconds_option,
        default=120.0,
        metavar="DURATION",
        help="time limit for one notebook (default: %(default)s seconds)",
    )
    add("--jobs", type=jobs_option, metavar="N", help="the number of notebooks to run at once (default: as for run)")
    add("--overwrite", action="store_true", help="replace a FILE that exists")
