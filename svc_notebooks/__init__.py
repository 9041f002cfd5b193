"""A toolkit for notebooks that runs a file-storage and calendar service in the kernel or uses a real deployment.

    >>> import svc_notebooks as svc
    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b\\n1,2\\n", name="numbers.csv")["name"].tolist()
    ['numbers.csv']

`import svc_notebooks` imports no other module of the package. The module of a name is imported when the name is first
used (PEP 562).
"""

import importlib as _importlib  # with an underscore, so that `svc.<Tab>` lists only public names
import types as _types

__version__ = "0.1.0"

_NAMES_IN = (
    ("notebook.sandbox.sandbox", "sandbox open_sandbox connect current_session Sandbox"),
    ("notebook.sandbox.controls", "fault_presets"),
    ("client.session", "Session"),
    ("notebook.files.files", "upload update create_file generate_ids file"),
    ("notebook.files.folders", "trash untrash delete empty_trash"),
    ("notebook.files.search", "files"),
    ("notebook.files.tree", "tree"),
    ("notebook.files.folders", "create_folder move copy"),
    ("notebook.files.about", "token_info service_account_token"),
    ("notebook.sandbox.controls", "ServiceAccount OAuthClient"),
    ("notebook.files.permissions", "share unshare permissions"),
    ("notebook.files.downloads.downloads", "download read"),
    ("notebook.files.downloads.read_frame", "read_frame"),
    ("notebook.files.downloads.downloads", "export"),
    ("notebook.files.about", "about import_formats export_formats"),
    ("notebook.files.uploads", "start_upload resume_upload pending_uploads Upload"),
    ("notebook.notifications.channels", "watch_file watch_changes stop_channel renew_channel channels"),
    ("notebook.notifications.receiver", "receiver notifications changes Receiver"),
    ("notebook.notifications.delivery_timeline", "delivery_timeline"),
    ("notebook.events.events", "create_event event update_event delete_event respond create_events"),
    ("notebook.events.query", "events instances preview_recurrence recurrence_lines"),
    ("forms.recurrence", "recurrence_calendar"),
    ("notebook.events.calendars", "calendars create_calendar event_colors free_busy free_times"),
    ("notebook.events.calendars", "calendar_permissions share_calendar unshare_calendar"),
    ("notebook.events.ical", "export_events import_events"),
    ("notebook.events.body", "EventError"),
    ("notebook.exchanges.exchanges", "exchanges exchange"),
    ("notebook.exchanges.compare", "assert_exchanges compare_exchanges"),
    ("notebook.exchanges.compare", "save_har"),
    ("forms.dashboard.dashboard", "dashboard"),
    ("forms.file_browser.browser", "file_browser"),
    ("forms.upload_form", "upload_form"),
    ("forms.export_form", "export_form"),
    ("forms.event.form", "event_form"),
    ("forms.calendar_view.view", "calendar_view"),
    ("forms.watch_panel", "watch_panel"),
    ("notebook.class_control", "class_control ClassControl"),
    ("forms.class_dashboard", "class_dashboard"),
    ("notebook.doctor", "doctor"),
    ("core.brand_names", "Names"),
    ("core.policy", "Policy"),
    (
        "core.errors.errors",
        "SvcError BadRequest NotSignedIn NotAllowed NotFound AlreadyExists RateLimited SessionExpired "
        "ServiceFailed Interrupted Unreachable Unsupported SourceChanged ContentMismatch PathExists "
        "AbusiveFileWarning UnverifiedUploadWarning",
    ),
)
"""The public names by module, in the order in which users learn them. A test compares them with the stub."""

_MODULE_OF = {name: module for module, names in _NAMES_IN for name in names.split()}

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

    from .core.suggestions import CALLS, MISSING

    if name in MISSING:
        return f"; {MISSING[name]}"
    if name in CALLS:
        return f"; did you mean {CALLS[name]}?"
    words = {*name.split("_")}
    related = [public for public in __all__ if words.issubset(public.split("_")) or words.issuperset(public.split("_"))]
    slips, others = get_close_matches(name, __all__, 1, 0.85), get_close_matches(name, __all__, 1)
    matches = slips or get_close_matches(name, related, 1, 0) or others
    return f"; did you mean {matches[0]!r}?" if matches else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
