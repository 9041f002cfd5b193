"""The arguments of `create_event` and `update_event` as TypedDicts.

`describe_details` adds the types and descriptions to the functions at run time, because IPython completes the
parameters of `inspect.signature` and does not read a TypedDict.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Annotated, Any, TypeAlias, TypedDict, TypeVar, get_type_hints

from ...core.durations import Duration
from ...core.suggestions import nearest_name

When: TypeAlias = date | datetime | str | Mapping[str, str]
End: TypeAlias = When | timedelta | time
"""A time, the length of the event, or a time of day on the day of the start."""
Zone: TypeAlias = str | tzinfo
Function = TypeVar("Function", bound=Callable[..., Any])


class EventDetails(TypedDict, total=False):
    """The less frequent arguments of `create_event`, in the order in which their fields are sent."""

    end_time_zone: Annotated[
        Zone | None,
        "The zone of the end if it differs from `time_zone`, as for a flight. Datetimes with zones of their own and "
        "dicts can say the same.",
    ]
    conference: Annotated[
        bool | str | Mapping[str, Any] | None,
        "True requests a new conference; a text is the type of its solution; a dict is conferenceData.",
    ]
    attachments: Annotated[Any, "URLs, stored files (rows, frames), dicts of `file_url` and `title`, or a list."]
    visibility: Annotated[str | None, '"default", "public", "private" or "confidential".']
    transparency: Annotated[str | None, '"opaque" (busy) or "transparent".']
    status: Annotated[str | None, '"confirmed", "tentative" or "cancelled".']
    guests_can_invite_others: Annotated[bool | None, "True or False; the service's default is True."]
    guests_can_modify: Annotated[bool | None, "True or False; the service's default is False."]
    guests_can_see_other_guests: Annotated[bool | None, "True or False; the service's default is True."]
    anyone_can_add_self: Annotated[bool | None, "True or False; the service's default is False."]
    private: Annotated[Mapping[str, str] | None, "Properties of this calendar's copy."]
    shared: Annotated[Mapping[str, str] | None, "Properties of the copies of all attendees."]
    source: Annotated[str | Mapping[str, str] | None, "A URL, or a dict of title and url."]
    gadget: Annotated[
        Mapping[str, Any] | None,
        "A dict of display, height, width (pixels), icon_link, link, preferences, title and type.",
    ]
    sequence: Annotated[int | None, "The revision number of iCalendar."]
    original_start_time: Annotated[When | None, "The start of an instance by the recurrence, given as `start`."]
    event_id: Annotated[str | None, "5 to 1024 of 0-9 and a-v; None lets the service choose."]
    metadata: Annotated[Mapping[str, Any] | None, "More fields as on the wire; they replace those of the arguments."]
    max_attendees: Annotated[
        int | None,
        "The maximum number of attendees in the response. If the event has more, the response has only the caller.",
    ]
    conference_data_version: Annotated[
        int | None,
        "0 or 1, sent as given. With 0 the service ignores conference data. None: 1 if there is conference data.",
    ]
    supports_attachments: Annotated[
        bool | None,
        "True or False, sent as given. With False the service ignores attachments. None: True if there are any.",
    ]
    send_notifications: Annotated[
        bool | None,
        "Deprecated; use `send_updates`. True or False is sent as given, with a FutureWarning.",
    ]


class EventChanges(EventDetails, total=False):
    """The arguments of `create_event` that `update_event` accepts. All other fields do not change."""

    summary: str | None
    start: When | None
    end: End | None
    duration: Duration | None
    time_zone: Zone | None
    recurrence: str | Sequence[str] | None
    attendees: Any
    location: str | None
    description: str | None
    color: str | int | None
    reminders: Sequence[Any] | Mapping[str, Any] | None


DETAILS = tuple(EventDetails.__annotations__)


def describe_details(details: type) -> Callable[[Function], Function]:
    """Return a decorator for a function whose last parameter is `**NAME: Unpack[details]`.

    The decorator replaces `**NAME` in the signature by a keyword parameter with the default None for each key of
    `details`. It also replaces the line "**NAME." of the docstring by the descriptions of the keys.
    """

    def describe(function: Function) -> Function:
        *parameters, rest = inspect.signature(function).parameters.values()
        place = re.search(rf"^( *)\*\*{rest.name}\.$", function.__doc__ or "", re.MULTILINE)
        indent = place[1] if place else ""  # 4 spaces from Python 3.13 on, which removes the indentation of the code
        lines: list[str] = []
        hints = get_type_hints(details, include_extras=True)
        for name, hint in sorted(hints.items(), key=lambda item: item[0] in DETAILS):
            type_name = re.sub(r"[a-z]+\.(abc\.)?", "", inspect.formatannotation(getattr(hint, "__origin__", hint)))
            keyword = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=type_name)
            parameters.append(keyword)
            if name in DETAILS:
                entry = f"{name}: {hint.__metadata__[0]}"
                lines.append(textwrap.fill(entry, 120, initial_indent=indent, subsequent_indent=f"{indent}    "))
        function.__signature__ = inspect.signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
        if place and function.__doc__:
            function.__doc__ = function.__doc__.replace(place[0], "\n".join(lines))
        return function

    return describe


def check_names(function: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError for the first name that is not in `known`, with the most similar known name in the message."""
    for name in names:
        if name not in known:
            raise TypeError(f"{function}() has no argument {name!r}; {nearest(function, name, known)}")


def nearest(function: str, name: str, known: Sequence[str]) -> str:
    """Return the end of an error message, which suggests the most similar name in `known`, or else `help(function)`."""
    near = nearest_name(name, known)
    return f"did you mean {near!r}?" if near else f"help({function}) lists its arguments"
