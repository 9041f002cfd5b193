"""Tests of a cell of the course, by its saved output, its code, its requests and the journal of its service.

A test is a function that takes a `Seen` and returns whether the cell passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tools.course_run import Seen

UNIT = 262_144
UPLOADS = ("up", "resumed", "third")
ADDRESS = "/upload/storage/v3/files"


def text(*patterns: str) -> Callable[[Seen], bool]:
    """Return a test for cells whose saved output has all of these patterns."""
    return lambda seen: all(re.search(pattern, seen.shown, re.DOTALL) for pattern in patterns)


def decides(rule: str, *statuses: int, method: str = "") -> Callable[[Seen], bool]:
    """Return a test for cells in which this rule decided a response with one of these statuses."""
    return lambda seen: any(
        rule in str(row["decided_by"]).split("; ") and row["status"] in statuses and method in row["method"]
        for row in seen.journal
    )


def source(*words: str) -> Callable[[Seen], bool]:
    """Return a test for cells whose code contains all of these texts."""
    return lambda seen: all(word in seen.cell.source for word in words)


def wrong_row(name: str, location: str) -> Callable[[Seen], bool]:
    """Return a test for cells whose table of invalid events has this event with the field of the error."""
    return text(rf"<td>{re.escape(name)}</td>\s*<td>40\d</td>\s*<td>{re.escape(location)}</td>")


def of_somebody_else(seen: Seen) -> bool:
    """Return whether two users opened a channel in the cell, of whom at most one owns the file."""
    users = {row["user"] for row in seen.journal if row["decided_by"] == "A8-01" and row["status"] == 200}
    return len(users) > 1


def either(*questions: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that pass at least one of the tests."""
    return lambda seen: any(question(seen) for question in questions)


def exchange(
    method: str = "", path: str = "", status: int | None = 200, **headers: str | None
) -> Callable[[Seen], bool]:
    """Return a test for cells with a matching exchange. A header value is a pattern, or None for a missing header."""
    return lambda seen: any(
        method in candidate.method and path in candidate.url and candidate.status == status and _has(candidate, headers)
        for candidate in seen.exchanges
    )


def _has(exchange: Any, headers: dict[str, str | None]) -> bool:
    present = {**dict(exchange.request_headers), **{f"answer {key}": value for key, value in exchange.response_headers}}
    patterns = {name.replace("_", "-").replace("answer-", "answer "): pattern for name, pattern in headers.items()}
    lower = {key.lower(): value for key, value in present.items()}
    return all(
        (name not in lower) if pattern is None else re.search(pattern, lower.get(name, "")) is not None
        for name, pattern in patterns.items()
    )


def every(*questions: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that pass all of the tests."""
    return lambda seen: all(question(seen) for question in questions)


# -- uploads by hand, by their history


def history(question: Callable[[list[dict[str, Any]]], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that use an upload whose history satisfies a condition."""

    def holds(seen: Seen) -> bool:
        ours = [
            seen.names[name] for name in UPLOADS if name in seen.names and re.search(rf"\b{name}\b", seen.cell.source)
        ]
        return any(question(up.history.to_dict("records")) for up in ours if hasattr(up, "history"))

    return holds


def _steps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["action"] != "wait"]


def _pairs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    steps = _steps(rows)
    return list(pairwise(steps))


def _status(row: dict[str, Any]) -> int | None:
    return row["status"] if row["status"] == row["status"] and isinstance(row["status"], int) else None


def asks_after(status: int | None) -> Callable[[list[dict[str, Any]]], bool]:
    """Return a condition for histories in which each response with this status (None: lost) precedes a status query."""

    def holds(rows: list[dict[str, Any]]) -> bool:
        following = [after["action"] for before, after in _pairs(rows) if _status(before) == status]
        return bool(following) and set(following) == {"ask"}

    return holds


def goes_on_behind_the_range(rows: list[dict[str, Any]]) -> bool:
    pairs = [(before, after) for before, after in _pairs(rows) if after["action"] == "send" and _status(before) == 308]
    return bool(pairs) and all(after["first"] == before["stored"] for before, after in pairs)


def keeps_whole_units(rows: list[dict[str, Any]]) -> bool:
    kept = [after["stored"] - before["stored"] for before, after in _pairs(rows) if _status(before) is None]
    return bool(kept) and all(size > 0 and size % UNIT == 0 for size in kept)


def waits_grow(rows: list[dict[str, Any]]) -> bool:
    waits = [row["waited"] for row in rows if row["action"] == "wait"]
    return len(waits) > 1 and waits == sorted(waits)


def waits_as_told(seen: Seen) -> bool:
    pairs = list(pairwise(seen.exchanges))
    return any(refused.status == 403 and (two.time - refused.time).total_seconds() == 60 for refused, two in pairs)


def begins_anew(rows: list[dict[str, Any]]) -> bool:
    return any(_status(before) == 404 and two["action"] == "begin" for before, two in _pairs(rows))


def goes_on_elsewhere(rows: list[dict[str, Any]]) -> bool:
    steps = _steps(rows)
    return steps[0]["action"] == "ask" and steps[-1]["state"] == "complete"


def grows_without_retry_after(seen: Seen) -> bool:
    """Return whether the waits after a 403 without `Retry-After` grow."""
    waits = [
        (following.time - refused.time).total_seconds()
        for refused, following in pairwise(seen.exchanges)
        if refused.status == 403 and "Retry-After" not in dict(refused.response_headers)
    ]
    return len(waits) > 2 and waits == sorted(set(waits))


# -- messages


def states(*names: str) -> Callable[[Seen], bool]:
    """Return a test for cells that print these states, all of which the notebook's receivers have received."""
    return lambda seen: (
        all(re.search(rf"\b{name}\b", seen.shown) for name in names) and set(names) <= _notification_states(seen)
    )


def _notification_states(seen: Seen) -> set[str]:
    frames = [seen.names[name].messages() for name in ("rx", "log") if name in seen.names]
    return {state for frame in frames for state in frame["state"]}


def _outcomes(seen: Seen) -> dict[tuple[str, int], list[tuple[int | None, str]]]:
    outcomes: dict[tuple[str, int], list[tuple[int | None, str]]] = {}
    for row in seen.deliveries:
        outcomes.setdefault((row["channel_id"], row["message_number"]), []).append((row["status"], row["outcome"]))
    return outcomes


def retried_and_given_up(seen: Seen) -> bool:
    tries = list(_outcomes(seen).values())
    retried = [(503, "retry")] * 3 + [(200, "delivered")]
    return retried in tries and [(404, "failed")] in tries


def one_waits_for_none(seen: Seen) -> bool:
    outcomes = {(channel, outcome) for (channel, _), tries in _outcomes(seen).items() for _, outcome in tries}
    waiting = {channel for channel, outcome in outcomes if outcome == "retry"}
    return any(outcome == "delivered" and channel not in waiting for channel, outcome in outcomes) and bool(waiting)


def several_channels(seen: Seen) -> bool:
    return len({channel for channel, _ in _outcomes(seen)}) > 1


def messages(question: Callable[[Any], bool]) -> Callable[[Seen], bool]:
    """Return a test for cells that show a DataFrame of messages which satisfies a condition."""
    return lambda seen: "rx.messages()" in seen.cell.source and question(seen.names["rx"].messages())


def numbers_have_gaps(rows: Any) -> bool:
    numbers = rows["number"].tolist()
    return numbers == sorted(set(numbers)) and numbers[-1] > len(numbers) > 1


def changed_of_updates(rows: Any) -> bool:
    updates, syncs = rows["changed"][rows["state"] == "update"], rows["changed"][rows["state"] == "sync"]
    return bool(len(updates) and updates.notna().all() and len(syncs) and syncs.isna().all())


# -- forms


def controls(name: str, *labels: str) -> Callable[[Seen], bool]:
    """Return a test for cells that end with the form `name`, which has controls with these labels or of these types."""
    return lambda seen: seen.cell.source.endswith(f"\n{name}") and set(labels) <= _labels(seen.names[name])


def offers_its_formats(seen: Seen) -> bool:
    """Return whether the export form of the cell offers the formats of its document and no others."""
    form, document = seen.names["form"], seen.names["counts"]
    titles = {label.rpartition(" (")[0] for label, _ in form.controls.format.options}
    return titles == set(seen.names["svc"].export_formats(document)["title"])


def _labels(widget: Any) -> set[str]:
    """Return the labels of a form's controls, and the names of their types."""
    labels = {type(widget).__name__, re.sub(r"<[^>]+>", "", str(getattr(widget, "description", "")))}
    return labels.union(*map(_labels, getattr(widget, "children", ())))
