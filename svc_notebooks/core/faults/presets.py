"""Named fault plans for lessons."""

from __future__ import annotations

from dataclasses import dataclass

from ..http.messages import JSONObject
from ..suggestions import nearest_name
from .plan import Action, object_member


@dataclass(frozen=True, slots=True)
class Preset:
    """A named fault plan and its lesson. A `faults` block fails only if none of the preset's steps happened."""

    name: str
    teaches: str
    steps: tuple[JSONObject, ...]
    in_order: bool = False

    def descriptions(self) -> list[str]:
        """Return an English description of each step's action."""
        return [Action.read(object_member(step, "action")).description for step in self.steps]


_SESSION: JSONObject = {"operation": "upload.session"}
_ALL = 1_000_000
_PAGE = "<html><title>502 Bad Gateway</title><h1>502 Bad Gateway</h1></html>"

# fmt: off
PRESETS: tuple[Preset, ...] = (
    Preset("flaky wifi", "Connections break in both directions, and the service keeps the bytes that it has stored", (
        {"action": {"cut_request_after": 300_000}},
        {"match": {"nth": 3}, "action": {"reset": "before"}},
        {"match": {"nth": 4}, "action": {"delay": 2}},
        {"match": {"nth": 6}, "action": {"reset": "after"}},
        {"action": {"cut_response_after": 50_000}},
    )),
    Preset("lost receipt", "The service performs a request, but the response is lost: check before you repeat it", (
        {"match": {"operation": "files.create"}, "action": {"reset": "after"}},
        {"match": {"operation": "events.insert"}, "action": {"reset": "after"}},
        {"match": {**_SESSION, "nth": 2}, "action": {"reset": "after"}},
    )),
    Preset("expired session", "An upload breaks and its session expires: start a new session", (
        {"match": _SESSION, "action": {"cut_request_after": 200_000}},
        {"match": _SESSION, "action": {"expire": "session"}},
    ), in_order=True),
    Preset("thundering herd", "An overloaded service says in Retry-After when to try again", (
        {"times": 3, "action": {"status": 503, "headers": {"Retry-After": "5"}}},
        {"times": 2, "action": {"status": 429, "headers": {"Retry-After": "10"}}},
    ), in_order=True),
    Preset("rate limit", "A 403 with a rate limit reason means that the client can try again later", (
        {"times": 3, "action": {"status": 403}},
    )),
    Preset("rolling restart", "A series of different temporary failures", (
        {"action": {"status": 502}},
        {"action": {"status": 503}},
        {"action": {"reset": "before"}},
        {"action": {"status": 504}},
        {"action": {"status": 500}},
    ), in_order=True),
    Preset("half a download", "A download breaks twice and resumes at the same byte", (
        {"match": {"operation": "files.get"}, "times": 2, "action": {"cut_response_after": 10_000}},
    )),
    Preset("slow service", "Responses are late", (
        {"times": 3, "action": {"delay": 20}},
    )),
    Preset("bad proxy", "A proxy returns an HTML page instead of JSON", (
        {"times": 2, "action": {"status": 502, "headers": {"Content-Type": "text/html"}, "body": _PAGE}},
    )),
)
# fmt: on


def preset(name: str) -> Preset:
    """Return the preset with this name. Raises ValueError, which lists all names, for an unknown name.

    >>> preset("lost receipt").teaches
    'The service performs a request, but the response is lost: check before you repeat it'
    """
    for candidate in PRESETS:
        if candidate.name == name:
            return candidate
    names = [entry.name for entry in PRESETS]
    near = nearest_name(name[:60], names)
    hint = f"did you mean {near!r}? The" if near else "the"
    raise ValueError(f"{name[:60]!r} is not a fault preset; {hint} presets are {', '.join(map(repr, names))}")


def network_outage(seconds: float) -> JSONObject:
    """Return a plan that closes the connections of all users without a response for some seconds of real time.

    >>> network_outage(60)["seconds"]
    60
    """
    return {"steps": [{"action": {"reset": "before"}, "times": _ALL}], "seconds": seconds}
