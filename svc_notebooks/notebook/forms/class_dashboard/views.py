"""The lists of the class dashboard. Each is a call of ClassControl, which a cell can repeat, and a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...byte_sizes import size_text

if TYPE_CHECKING:
    import pandas as pd
    from pandas import DataFrame

    from ...class_control import ClassControl

MAX_ROWS = 100
"""The maximum number of rows of a table on the page. `result` contains all rows."""


@dataclass(frozen=True, slots=True)
class ClassList:
    """A list of the dashboard.

    `load` returns its DataFrame for a user (None for all users), and `call` is the code of this. `columns` are the
    columns of the table with their headings. `newest_first` reverses the rows.
    """

    key: str
    title: str
    load: Callable[[ClassControl, str | None], DataFrame]
    call: Callable[[str | None], str]
    columns: tuple[tuple[str, str], ...]
    empty: str
    newest_first: bool = False


def _with_user(name: str, suffix: str = "") -> Callable[[str | None], str]:
    return lambda user: f"school.{name}({repr(user) if user else ''}){suffix}"


def _of_user(rows: DataFrame, column: str, user: str | None) -> DataFrame:
    return rows if user is None else rows[rows[column] == user].reset_index(drop=True)


def _selection(name: str, column: str) -> Callable[[str | None], str]:
    def call(user: str | None) -> str:
        return f"school.{name}()" if user is None else f"school.{name}().query({f'{column} == {user!r}'!r})"

    return call


def _errors(rows: DataFrame) -> DataFrame:
    return rows[~(rows["status"] < 400).fillna(False)].reset_index(drop=True)  # also without a status


_REQUESTS = (
    ("time", "Time"),
    ("user", "User"),
    ("method", "Method"),
    ("path", "Path"),
    ("status", "Status"),
    ("decided_by", "Decided by"),
    ("fault", "Fault"),
)

VIEWS: Sequence[ClassList] = (
    ClassList(
        "students",
        "Students",
        lambda control, user: _of_user(control.students(), "email", user),
        _selection("students", "email"),
        (
            ("name", "Name"),
            ("last", "Last request"),
            ("requests", "Requests"),
            ("errors", "Errors"),
            ("steps", "Steps"),
            ("bytes", "Files"),
            ("channels", "Channels"),
            ("operations", "Operations"),
        ),
        "The class has no account.",
    ),
    ClassList(
        "steps",
        "Steps of exercises",
        lambda control, user: control.steps(user),
        _with_user("steps"),
        (("name", "Name"), ("title", "Exercise"), ("done", "Step"), ("text", "Request"), ("time", "Time")),
        "No request belongs to a step yet.",
    ),
    ClassList(
        "requests",
        "Requests",
        lambda control, user: control.journal(user),
        _with_user("journal"),
        _REQUESTS,
        "No request yet.",
        newest_first=True,
    ),
    ClassList(
        "errors",
        "Errors",
        lambda control, user: _errors(control.journal(user)),
        _with_user("journal", '.query("not status < 400")'),
        _REQUESTS,
        "No request has failed.",
        newest_first=True,
    ),
    ClassList(
        "backups",
        "Backups",
        lambda control, user: _of_user(control.backups(), "user", user),
        _selection("backups", "user"),
        (("time", "Time"), ("user", "User"), ("size", "Size"), ("path", "File on the machine of the service")),
        "No student was reset yet.",
        newest_first=True,
    ),
)


def table_of(view: ClassList, rows: DataFrame) -> DataFrame:
    """Return the table of a list: the newest rows, as texts, with headings."""
    shown = rows.iloc[::-1] if view.newest_first else rows
    shown = shown.head(MAX_ROWS).copy()
    if view.key == "steps":
        shown["done"] = shown["step"].astype(str) + " of " + shown["of"].astype(str)
    if view.key == "students":
        shown["name"] = [_name_text(student) for student in shown.itertuples()]
    for name in ("bytes", "size"):
        if name in shown:
            shown[name] = [size_text(int(size)) for size in shown[name]]
    for name in ("time", "last"):
        if name in shown:
            shown[name] = [_time_text(moment) for moment in shown[name]]
    return shown[[name for name, _ in view.columns]].rename(columns=dict(view.columns))


def _name_text(student: Any) -> str:
    notes = [*(["teacher"] if student.role == "teacher" else []), *([] if student.active else ["token revoked"])]
    return f"{student.name} ({', '.join(notes)})" if notes else str(student.name)


def _time_text(moment: pd.Timestamp) -> str:
    return f"{moment:%d %b %H:%M:%S}" if moment == moment else ""  # a missing time is not equal to itself
