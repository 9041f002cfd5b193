"""The steps of the course's exercises that a service can see in the requests of a user.

A request does not say to which exercise it belongs. So a step is a kind of request, with an operation, a status and the
rule that decided the response. A request of another exercise, or of no exercise, counts as well. The exercise "Reject
forged messages" has no step, because it sends no request.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

_CREATE = ("files.create",)
_SESSION = ("upload.session",)
_FIND = ("files.get", "files.list", "files.create")
_UPLOADED = ("A1-01", "A2-01", "A3-01")
_TEMPORARY = (None, 429, 500, 502, 503, 504)
_WIDE = frozenset({"storage"})


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """The properties of a finished request that decide to which steps it belongs. `status` is None without response."""

    operation: str | None
    status: int | None
    rule: str | None
    query: str
    scopes: frozenset[str]
    fault: str | None


@dataclass(frozen=True, slots=True)
class ExerciseStep:
    """A step of an exercise. Each condition that is not None must hold for a request of one of the operations.

    `with_fault` requires a fault, and `narrow` a token without the scope for all files. `query` is a part of the query.
    """

    text: str
    operations: tuple[str, ...]
    statuses: Collection[int | None] | None = None
    rules: tuple[str, ...] | None = None
    with_fault: bool = False
    narrow: bool = False
    query: str = ""

    def matches(self, request: SeenRequest) -> bool:
        """Return whether a request performs this step.

        >>> step = ExerciseStep("Query the stored size", ("upload.session",), rules=("A3-09",))
        >>> step.matches(SeenRequest("upload.session", 308, "A3-09", "", frozenset(), None))
        True
        """
        return (
            request.operation in self.operations
            and (self.statuses is None or request.status in self.statuses)
            and (self.rules is None or request.rule in self.rules)
            and (not self.with_fault or request.fault is not None)
            and (not self.narrow or _WIDE.isdisjoint(request.scopes))
            and self.query in request.query
        )


@dataclass(frozen=True, slots=True)
class ExerciseSteps:
    """The steps of an exercise of the course, in order. A step counts only after the steps before it."""

    name: str
    title: str
    steps: tuple[ExerciseStep, ...]


# fmt: off
EXERCISES = (
    ExerciseSteps("upload-with-a-name", "Upload with a name", (
        ExerciseStep("Upload content together with metadata", _CREATE, (200,), ("A2-01", "A3-01")),
    )),
    ExerciseSteps("metadata-in-one-request", "Metadata and content in one request", (
        ExerciseStep("Create a file with a multipart upload", _CREATE, (200,), ("A2-01",)),
    )),
    ExerciseSteps("the-lost-receipt", "A lost response", (
        ExerciseStep("Send an upload whose response is lost", _CREATE, (200,), with_fault=True),
        ExerciseStep("Look for the file, or repeat the upload with the same id", _FIND, (200, 409)),
    )),
    ExerciseSteps("go-on-where-it-stopped", "Resume an upload", (
        ExerciseStep("Query the stored size", _SESSION, (308,), ("A3-09",)),
        ExerciseStep("Send the rest", _SESSION, (200,), ("A3-08",)),
    )),
    ExerciseSteps("expired-session", "An expired session", (
        ExerciseStep("Use a session that has expired", _SESSION, (404,)),
        ExerciseStep("Start a new session", _CREATE, (200,), ("A3-01",)),
        ExerciseStep("Complete the upload", _SESSION, (200,), ("A3-08",)),
    )),
    ExerciseSteps("resumable-loop", "Write the upload loop", (
        ExerciseStep("Start a session", _CREATE, (200,), ("A3-01",)),
        ExerciseStep("Lose a request or a response", _SESSION, with_fault=True),
        ExerciseStep("Query the stored size", _SESSION, (308,), ("A3-09",)),
        ExerciseStep("Complete the upload", _SESSION, (200,), ("A3-08",)),
    )),
    ExerciseSteps("a-part-of-a-file", "Download a part of a file", (
        ExerciseStep("Download a range of bytes", ("files.get",), (206,)),
        ExerciseStep("Upload a file", _CREATE, (200,), _UPLOADED),
    )),
    ExerciseSteps("let-the-service-search", "Search on the service", (
        ExerciseStep("List files with a search query", ("files.list",), (200,), query="q="),
        ExerciseStep("Change a file", ("files.update",), (200,)),
    )),
    ExerciseSteps("another-format", "Export a table to another format", (
        ExerciseStep("Import a file as a native document", ("files.create", "upload.session"), (200,), ("A5-01",)),
        ExerciseStep("Export the document", ("files.export",), (200,)),
    )),
    ExerciseSteps("too-often", "Rate limits", (
        ExerciseStep("Be refused for too many requests", _CREATE, (403, 429), ("X-04",)),
        ExerciseStep("Repeat the request later", _CREATE, (200,)),
    )),
    ExerciseSteps("later-or-never", "Temporary and permanent errors", (
        ExerciseStep("Get a temporary error", ("files.update",), _TEMPORARY),
        ExerciseStep("Get a permanent error", ("files.update",), (403, 404)),
        ExerciseStep("Change a file", ("files.update",), (200,)),
    )),
    ExerciseSteps("growing-delays", "Growing delays with jitter", (
        ExerciseStep("Get a temporary error", ("files.get",), _TEMPORARY),
        ExerciseStep("Download the file after that", ("files.get",), (200,), ("A6-01",)),
    )),
    ExerciseSteps("share-with-one", "Share with one person", (
        ExerciseStep("Share a file", ("permissions.create",), (200,)),
    )),
    ExerciseSteps("the-narrowest-scope", "The narrowest scope", (
        ExerciseStep("List files with a narrow scope", ("files.list",), (200,), narrow=True),
        ExerciseStep("Download with a narrow scope", ("files.get",), (200,), ("A6-01",), narrow=True),
        ExerciseStep("Create a file with a narrow scope", _CREATE, (200,), narrow=True),
    )),
    ExerciseSteps("watch-without-a-gap", "Watch without a gap", (
        ExerciseStep("Open a channel", ("files.watch",), (200,)),
        ExerciseStep("Open the next channel", ("files.watch",), (200,)),
        ExerciseStep("Stop a channel", ("channels.stop",), (204,)),
    )),
    ExerciseSteps("twice-and-out-of-order", "Messages that arrive twice and out of order", (
        ExerciseStep("Upload the result", _CREATE, (200,), _UPLOADED),
    )),
    ExerciseSteps("page-by-page", "Read the change log page by page", (
        ExerciseStep("Read a page of the change log", ("changes.list",), (200,)),
        ExerciseStep("Read another page", ("changes.list",), (200,)),
        ExerciseStep("Upload the result", _CREATE, (200,), _UPLOADED),
    )),
    ExerciseSteps("event-in-its-zone", "An event in a time zone", (
        ExerciseStep("Create an event", ("events.insert",), (200,)),
    )),
    ExerciseSteps("series-with-an-exception", "A recurring event with an exception", (
        ExerciseStep("Create an event", ("events.insert",), (200,)),
    )),
    ExerciseSteps("two-programs-one-event", "Two programs change one event", (
        ExerciseStep("Read an event", ("events.get",), (200,)),
        ExerciseStep("Be refused after another change", ("events.patch", "events.update"), (412,)),
        ExerciseStep("Change the event", ("events.patch", "events.update"), (200,)),
    )),
)
# fmt: on
"""The exercises in the order of the course."""
