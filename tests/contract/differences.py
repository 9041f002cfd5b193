"""What a deployment is told: where a rule decides it fails, where the interface is silent it differs.

In our own runs nothing here is lenient. In a run against a deployment (`svc-notebooks conformance`) an answer
has parts that compare as these classes do: a status that no rule of the test names in its words may be any
other of its class, and the words of an error may be any. Each such liberty is noted as a difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.contract.tested_store import TWO_WORKERS

_NUMBER = re.compile(r"\b[1-5]\d\d\b")

# Everything that the interface's tables name; a field beyond them is one that a deployment may not have.
INTERFACE_FIELDS = frozenset(re.findall(r"\w+", """
    id name mimeType viewersCanCopyContent webViewLink webContentLink importFormats kind type address token
    expiration resourceId resourceUri date dateTime timeZone start end originalStartTime anyoneCanAddSelf
    attachments fileUrl attendees email displayName additionalGuests comment optional resource responseStatus
    colorId conferenceData createRequest description extendedProperties private shared gadget display height
    width iconLink link preferences title guestsCanInviteOthers guestsCanModify guestsCanSeeOtherGuests location
    recurrence reminders useDefault overrides method minutes sequence source url status summary transparency
    visibility htmlLink
"""))  # fmt: skip


@dataclass
class Record:
    """What one test found to differ, and the statuses that its rules name."""

    named: frozenset[int] = frozenset()
    differences: list[tuple[str, str]] = field(default_factory=list)

    def note(self, choice: str, description: str) -> None:
        """A difference; one that was seen before is not told twice."""
        if (choice, description) not in self.differences:
            self.differences.append((choice, description))


class _Current:
    record: Record | None = None


_OF_ONE_PROCESS = {"takeover_after"}
"""Choices that a service of several processes cannot make: docs/scale.md says what it does instead."""

OURS = {400, 403}
"""What we say of a mistake, and of what is not allowed, where the interface shows no status."""


def statuses_named(rule_text: str) -> frozenset[int]:
    """The statuses that a rule's words ask for by number, and the interface or HTTP itself settles."""
    return frozenset(int(number) for number in _NUMBER.findall(rule_text)) - OURS


@contextmanager
def noting(record: Record) -> Iterator[None]:
    """`choice` notes here while this lasts."""
    _Current.record = record
    try:
        yield
    finally:
        _Current.record = None


@contextmanager
def choice(name: str) -> Iterator[None]:
    """Asserts about what the interface leaves open; a deployment that chose otherwise differs, and does not fail.

    The name is a field of the policy, or the beginning of a row of docs/decisions.md.
    """
    try:
        yield
    except (AssertionError, KeyError) as error:
        if _Current.record:
            _Current.record.note(name, str(error) or "an assertion does not hold")
        elif name not in _OF_ONE_PROCESS or not os.environ.get(TWO_WORKERS):
            raise


class Status(int):
    record: Record

    def __new__(cls, value: int, record: Record) -> Status:
        status = super().__new__(cls, value)
        status.record = record
        return status

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int) or int(self) == int(other):
            return isinstance(other, int)
        return self._is_allowed_instead_of(int(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def _is_allowed_instead_of(self, other: int) -> bool:
        if self // 100 != other // 100 or self // 100 not in (2, 4):
            return False
        if self < 300 and int(self) in self.record.named:
            return True  # "200 or 201"
        if other in self.record.named:
            return False
        self.record.note("Statuses without a rule", f"{other} here, {int(self)} there")
        return True


class ErrorText(str):
    record: Record

    def __new__(cls, value: object, record: Record) -> ErrorText:
        text = super().__new__(cls, "" if value is None else str(value))
        text.record = record
        return text

    def _note_unless(self, holds: bool, expected: object) -> bool:
        if not holds:
            difference = f"{str(expected)[:60]!r} here, {str(self)[:60]!r} there"
            self.record.note("Reasons and locations of errors", difference)
        return True

    def __eq__(self, other: object) -> bool:
        return self._note_unless(str(self) == other, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __contains__(self, part: object) -> bool:
        return self._note_unless(isinstance(part, str) and part in str(self), part)

    def startswith(self, *prefixes: Any) -> bool:
        return self._note_unless(str(self).startswith(*prefixes), prefixes[0])

    def split(self, *how: Any, **options: Any) -> list[Any]:
        return [ErrorText(part, self.record) for part in str(self).split(*how, **options)]

    def lower(self) -> ErrorText:
        return ErrorText(str(self).lower(), self.record)


class Envelope(Mapping[str, Any]):
    """The first entry of an error, whatever its shape."""

    def __init__(self, entry: Mapping[str, Any], record: Record) -> None:
        self._entry, self._record = entry, record

    def __getitem__(self, name: str) -> ErrorText:
        return ErrorText(self._entry.get(name), self._record)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entry)

    def __len__(self) -> int:
        return len(self._entry)

    def get(self, name: str, default: Any = None) -> ErrorText:
        return self[name]


def first_entry(body: Any, record: Record) -> Envelope:
    """The entry of a body in the family's shape; of another shape: an empty one, and a difference."""
    try:
        entry = body["error"]["errors"][0]
        assert {"domain", "reason", "message"} <= entry.keys()
    except (AssertionError, KeyError, IndexError, TypeError, AttributeError):
        record.note("The error envelope", f"{str(body)[:120]} there")
        return Envelope({}, Record())  # that it has other words goes without saying
    return Envelope(entry, record)


class LenientObject(dict[str, Any]):
    """A JSON object of a deployment, which may lack what the interface does not name."""

    def __missing__(self, name: str) -> Any:
        if name in INTERFACE_FIELDS:
            raise KeyError(name)
        pytest.skip(f"the answer has no {name}, which the interface does not name")
