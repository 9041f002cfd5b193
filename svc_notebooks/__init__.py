"""A toolkit for notebooks that runs a file-storage and calendar service in the kernel or uses a real deployment.

    >>> import svc_notebooks as svc
    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b\\n1,2\\n", name="numbers.csv")["name"].tolist()
    ['numbers.csv']

`import svc_notebooks` imports no other module. The module of a name is imported when the name is first used (PEP 562).
"""

import importlib as _importlib  # with an underscore, so that `svc.<Tab>` lists only public names
import types as _types
import typing as _typing

if _typing.TYPE_CHECKING:
    from .client.session import Session as Session
    from .core.brand_names import Names as Names
    from .core.errors.errors import (
        AbusiveFileWarning as AbusiveFileWarning,
        AlreadyExists as AlreadyExists,
        BadRequest as BadRequest,
        ContentMismatch as ContentMismatch,
        Interrupted as Interrupted,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        NotSignedIn as NotSignedIn,
        PathExists as PathExists,
        RateLimited as RateLimited,
        ServiceFailed as ServiceFailed,
        SessionExpired as SessionExpired,
        SourceChanged as SourceChanged,
        SvcError as SvcError,
        Unreachable as Unreachable,
        Unsupported as Unsupported,
        UnverifiedUploadWarning as UnverifiedUploadWarning,
    )
    from .core.policy import Policy as Policy
    from .notebook.class_control import ClassControl as ClassControl, class_control as class_control
    from .notebook.doctor import doctor as doctor
    from .notebook.events.batch import create_events as create_events
    from .notebook.events.body import EventError as EventError
    from .notebook.events.calendars import (
        calendars as calendars,
        create_calendar as create_calendar,
        event_colors as event_colors,
    )
    from .notebook.events.events import (
        create_event as create_event,
        delete_event as delete_event,
        event as event,
        respond as respond,
        update_event as update_event,
    )
    from .notebook.events.free_busy import free_busy as free_busy, free_times as free_times
    from .notebook.events.ical import export_events as export_events
    from .notebook.events.ical_import import import_events as import_events
    from .notebook.events.query import events as events
    from .notebook.events.recurrence import (
        instances as instances,
        preview_recurrence as preview_recurrence,
        recurrence_lines as recurrence_lines,
    )
    from .notebook.events.sharing import (
        calendar_permissions as calendar_permissions,
        share_calendar as share_calendar,
        unshare_calendar as unshare_calendar,
    )
    from .notebook.exchanges.assert_exchanges import assert_exchanges as assert_exchanges
    from .notebook.exchanges.compare import compare_exchanges as compare_exchanges
    from .notebook.exchanges.exchanges import exchange as exchange, exchanges as exchanges
    from .notebook.exchanges.har import save_har as save_har
    from .notebook.files.about import (
        about as about,
        export_formats as export_formats,
        import_formats as import_formats,
    )
    from .notebook.files.copy import copy as copy
    from .notebook.files.downloads.downloads import download as download, read as read
    from .notebook.files.downloads.exports import export as export
    from .notebook.files.downloads.read_frame import read_frame as read_frame
    from .notebook.files.files import (
        create_file as create_file,
        file as file,
        generate_ids as generate_ids,
        update as update,
        upload as upload,
    )
    from .notebook.files.folders import create_folder as create_folder, move as move
    from .notebook.files.permissions import permissions as permissions, share as share, unshare as unshare
    from .notebook.files.search import files as files
    from .notebook.files.trash import delete as delete, trash as trash, untrash as untrash
    from .notebook.files.uploads import (
        Upload as Upload,
        pending_uploads as pending_uploads,
        resume_upload as resume_upload,
        start_upload as start_upload,
    )
    from .notebook.forms.calendar_view.view import calendar_view as calendar_view
    from .notebook.forms.class_dashboard.dashboard import class_dashboard as class_dashboard
    from .notebook.forms.dashboard.dashboard import dashboard as dashboard
    from .notebook.forms.event.form import event_form as event_form
    from .notebook.forms.export.form import export_form as export_form
    from .notebook.forms.file_browser.browser import file_browser as file_browser
    from .notebook.forms.recurrence.month_calendars import recurrence_calendar as recurrence_calendar
    from .notebook.forms.upload.form import upload_form as upload_form
    from .notebook.forms.watch.panel import watch_panel as watch_panel
    from .notebook.identity import service_account_token as service_account_token, token_info as token_info
    from .notebook.notifications.channels import (
        channels as channels,
        renew_channel as renew_channel,
        stop_channel as stop_channel,
        watch_changes as watch_changes,
        watch_file as watch_file,
    )
    from .notebook.notifications.delivery_timeline import delivery_timeline as delivery_timeline
    from .notebook.notifications.messages import changes as changes, notifications as notifications
    from .notebook.notifications.open_receiver import receiver as receiver
    from .notebook.notifications.receiver import Receiver as Receiver
    from .notebook.sandbox.controls import fault_presets as fault_presets
    from .notebook.sandbox.identities import OAuthClient as OAuthClient, ServiceAccount as ServiceAccount
    from .notebook.sandbox.start import (
        Sandbox as Sandbox,
        connect as connect,
        current_session as current_session,
        open_sandbox as open_sandbox,
        sandbox as sandbox,
    )

__version__ = "0.1.0"

# The public names by module, in the order in which users learn them.
_MODULES = {
    "notebook.sandbox.start": ("sandbox", "open_sandbox", "connect", "current_session", "Sandbox"),
    "notebook.sandbox.controls": ("fault_presets",),
    "client.session": ("Session",),
    "notebook.files.files": (
        "upload",
        "update",
        "create_file",
        "generate_ids",
        "file",
    ),
    "notebook.files.trash": ("trash", "untrash", "delete"),
    "notebook.files.search": ("files",),
    "notebook.files.folders": ("create_folder", "move"),
    "notebook.files.copy": ("copy",),
    "notebook.identity": ("token_info", "service_account_token"),
    "notebook.sandbox.identities": ("ServiceAccount", "OAuthClient"),
    "notebook.files.permissions": ("share", "unshare", "permissions"),
    "notebook.files.downloads.downloads": ("download", "read"),
    "notebook.files.downloads.read_frame": ("read_frame",),
    "notebook.files.downloads.exports": ("export",),
    "notebook.files.about": ("about", "import_formats", "export_formats"),
    "notebook.files.uploads": ("start_upload", "resume_upload", "pending_uploads", "Upload"),
    "notebook.notifications.channels": ("watch_file", "watch_changes", "stop_channel", "renew_channel", "channels"),
    "notebook.notifications.messages": ("notifications", "changes"),
    "notebook.notifications.open_receiver": ("receiver",),
    "notebook.notifications.receiver": ("Receiver",),
    "notebook.notifications.delivery_timeline": ("delivery_timeline",),
    "notebook.events.events": ("create_event", "event", "update_event", "delete_event", "respond"),
    "notebook.events.batch": ("create_events",),
    "notebook.events.query": ("events",),
    "notebook.events.recurrence": ("instances", "preview_recurrence", "recurrence_lines"),
    "notebook.forms.recurrence.month_calendars": ("recurrence_calendar",),
    "notebook.events.calendars": ("calendars", "create_calendar", "event_colors"),
    "notebook.events.free_busy": ("free_busy", "free_times"),
    "notebook.events.sharing": ("calendar_permissions", "share_calendar", "unshare_calendar"),
    "notebook.events.ical": ("export_events",),
    "notebook.events.ical_import": ("import_events",),
    "notebook.events.body": ("EventError",),
    "notebook.exchanges.exchanges": ("exchanges", "exchange"),
    "notebook.exchanges.assert_exchanges": ("assert_exchanges",),
    "notebook.exchanges.compare": ("compare_exchanges",),
    "notebook.exchanges.har": ("save_har",),
    "notebook.forms.dashboard.dashboard": ("dashboard",),
    "notebook.forms.file_browser.browser": ("file_browser",),
    "notebook.forms.upload.form": ("upload_form",),
    "notebook.forms.export.form": ("export_form",),
    "notebook.forms.event.form": ("event_form",),
    "notebook.forms.calendar_view.view": ("calendar_view",),
    "notebook.forms.watch.panel": ("watch_panel",),
    "notebook.class_control": ("class_control", "ClassControl"),
    "notebook.forms.class_dashboard.dashboard": ("class_dashboard",),
    "notebook.doctor": ("doctor",),
    "core.brand_names": ("Names",),
    "core.policy": ("Policy",),
    "core.errors.errors": (
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
        "Unsupported",
        "SourceChanged",
        "ContentMismatch",
        "PathExists",
        "AbusiveFileWarning",
        "UnverifiedUploadWarning",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_suggestion(name)}")
    value: object = getattr(_importlib.import_module(f".{module}", __name__), name)
    if isinstance(value, _types.FunctionType):
        from .core.errors.public_calls import public

        value = public(value)
        value.__module__ = __name__  # a pickled function is imported under its public name
    globals()[name] = value  # so that this function is not called again for this name
    return value


def _suggestion(name: str) -> str:
    """Return the last part of an error message, which suggests a call that does the same or a similar public name.

    Return an empty str if there is no such call or name.
    """
    if name.startswith("__"):  # a question of inspect, doctest or pytest, of which they ask hundreds
        return ""
    from difflib import get_close_matches

    from .core.suggestions import CALLS

    if name in CALLS:
        return f"; did you mean {CALLS[name]}?"
    words = {*name.split("_")}
    related = [public for public in __all__ if words.issubset(public.split("_")) or words.issuperset(public.split("_"))]
    slips, others = get_close_matches(name, __all__, 1, 0.85), get_close_matches(name, __all__, 1)
    matches = slips or get_close_matches(name, related, 1, 0) or others
    return f"; did you mean {matches[0]!r}?" if matches else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
