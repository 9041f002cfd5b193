"""A whole file-storage service in a notebook cell, and the same functions against a real one.

    >>> import svc_notebooks as svc
    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b\\n1,2\\n", name="numbers.csv")["name"].tolist()
    ['numbers.csv']

Importing this module imports nothing else (PEP 562): a name brings in its room when it is first
used, so that `import svc_notebooks` costs as much as one small module.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client.session import Session as Session
    from .core.errors import (
        AbusiveFileWarning as AbusiveFileWarning,
        AlreadyExists as AlreadyExists,
        BadRequest as BadRequest,
        ContentMismatch as ContentMismatch,
        Interrupted as Interrupted,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        NotHere as NotHere,
        NotSignedIn as NotSignedIn,
        PathExists as PathExists,
        RateLimited as RateLimited,
        ServiceFailed as ServiceFailed,
        SessionExpired as SessionExpired,
        SourceChanged as SourceChanged,
        SvcError as SvcError,
        Unreachable as Unreachable,
    )
    from .core.names import Names as Names
    from .core.policy import Policy as Policy
    from .notebook.about import (
        about as about,
        export_formats as export_formats,
        import_formats as import_formats,
    )
    from .notebook.calendar_file import export_events as export_events
    from .notebook.calendars import (
        calendars as calendars,
        create_calendar as create_calendar,
        event_colors as event_colors,
    )
    from .notebook.compared import compare_exchanges as compare_exchanges
    from .notebook.content import download as download, read as read
    from .notebook.copies import copy as copy
    from .notebook.dashboard import dashboard as dashboard
    from .notebook.delivery_timeline import delivery_timeline as delivery_timeline
    from .notebook.doctor import doctor as doctor
    from .notebook.event_body import EventError as EventError
    from .notebook.event_form import event_form as event_form
    from .notebook.event_query import events as events
    from .notebook.events import (
        create_event as create_event,
        delete_event as delete_event,
        event as event,
        respond as respond,
        update_event as update_event,
    )
    from .notebook.expected import assert_exchanges as assert_exchanges
    from .notebook.export_form import export_form as export_form
    from .notebook.exports import export as export
    from .notebook.file_browser import file_browser as file_browser
    from .notebook.files import (
        create_file as create_file,
        delete as delete,
        file as file,
        files as files,
        generate_ids as generate_ids,
        trash as trash,
        untrash as untrash,
        update as update,
        upload as upload,
    )
    from .notebook.har import save_har as save_har
    from .notebook.identity import service_account_token as service_account_token, token_info as token_info
    from .notebook.notifications import changes as changes, notifications as notifications
    from .notebook.people import OAuthClient as OAuthClient, ServiceAccount as ServiceAccount
    from .notebook.receiver import Receiver as Receiver
    from .notebook.receivers import receiver as receiver
    from .notebook.recurrence_calendar import recurrence_calendar as recurrence_calendar
    from .notebook.recurring import (
        instances as instances,
        preview_recurrence as preview_recurrence,
        recurrence_lines as recurrence_lines,
    )
    from .notebook.sharing import permissions as permissions, share as share, unshare as unshare
    from .notebook.start import (
        Sandbox as Sandbox,
        connect as connect,
        current_session as current_session,
        open_sandbox as open_sandbox,
        sandbox as sandbox,
    )
    from .notebook.timetable import create_events as create_events
    from .notebook.upload_form import upload_form as upload_form
    from .notebook.uploads import (
        Upload as Upload,
        pending_uploads as pending_uploads,
        resume_upload as resume_upload,
        start_upload as start_upload,
    )
    from .notebook.watch_panel import watch_panel as watch_panel
    from .notebook.watching import (
        channels as channels,
        renew_channel as renew_channel,
        stop_channel as stop_channel,
        watch_changes as watch_changes,
        watch_file as watch_file,
    )
    from .notebook.wire import exchange as exchange, exchanges as exchanges
    from .notebook.world import fault_presets as fault_presets

__version__ = "0.1.0"

# The public names in the order in which a person meets them, by the room that has them.
_ROOMS = {
    "notebook.start": ("sandbox", "open_sandbox", "connect", "current_session", "Sandbox"),
    "notebook.world": ("fault_presets",),
    "client.session": ("Session",),
    "notebook.files": (
        "upload",
        "update",
        "create_file",
        "generate_ids",
        "file",
        "files",
        "trash",
        "untrash",
        "delete",
    ),
    "notebook.copies": ("copy",),
    "notebook.identity": ("token_info", "service_account_token"),
    "notebook.people": ("ServiceAccount", "OAuthClient"),
    "notebook.sharing": ("share", "unshare", "permissions"),
    "notebook.content": ("download", "read"),
    "notebook.exports": ("export",),
    "notebook.about": ("about", "import_formats", "export_formats"),
    "notebook.uploads": ("start_upload", "resume_upload", "pending_uploads", "Upload"),
    "notebook.receivers": ("receiver",),
    "notebook.watching": ("watch_file", "watch_changes", "stop_channel", "renew_channel", "channels"),
    "notebook.notifications": ("notifications", "changes"),
    "notebook.receiver": ("Receiver",),
    "notebook.delivery_timeline": ("delivery_timeline",),
    "notebook.events": ("create_event", "event", "update_event", "delete_event", "respond"),
    "notebook.timetable": ("create_events",),
    "notebook.event_query": ("events",),
    "notebook.recurring": ("instances", "preview_recurrence", "recurrence_lines"),
    "notebook.recurrence_calendar": ("recurrence_calendar",),
    "notebook.calendars": ("calendars", "create_calendar", "event_colors"),
    "notebook.calendar_file": ("export_events",),
    "notebook.event_body": ("EventError",),
    "notebook.wire": ("exchanges", "exchange"),
    "notebook.expected": ("assert_exchanges",),
    "notebook.compared": ("compare_exchanges",),
    "notebook.har": ("save_har",),
    "notebook.dashboard": ("dashboard",),
    "notebook.file_browser": ("file_browser",),
    "notebook.upload_form": ("upload_form",),
    "notebook.export_form": ("export_form",),
    "notebook.event_form": ("event_form",),
    "notebook.watch_panel": ("watch_panel",),
    "notebook.doctor": ("doctor",),
    "core.names": ("Names",),
    "core.policy": ("Policy",),
    "core.errors": (
        "SvcError",
        "BadRequest",
        "NotSignedIn",
        "NotAllowed",
        "NotFound",
        "AlreadyExists",
        "RateLimited",
        "SessionExpired",
        "ServiceFailed",
        "Interrupted",
        "Unreachable",
        "NotHere",
        "SourceChanged",
        "ContentMismatch",
        "PathExists",
        "AbusiveFileWarning",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = list(_ROOM_OF)


def __getattr__(name: str) -> object:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}")
    value: object = getattr(import_module(f".{room}", __name__), name)
    globals()[name] = value  # the next look-up finds it without coming here
    return value


def _meant(name: str) -> str:
    """The name that was meant by one that is not there: with a slip, or with more or fewer words. No kernel says it."""
    from difflib import get_close_matches

    words = {*name.split("_")}
    akin = [one for one in __all__ if words.issubset(one.split("_")) or words.issuperset(one.split("_"))]
    slips, others = get_close_matches(name, __all__, 1, 0.85), get_close_matches(name, __all__, 1)
    near = slips or get_close_matches(name, akin, 1, 0) or others
    return f"; did you mean {near[0]!r}?" if near else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
