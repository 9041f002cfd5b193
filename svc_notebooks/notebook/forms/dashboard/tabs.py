"""The tabs of the dashboard: title, form, and whether the form reads from the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...widgets.form import Form

if TYPE_CHECKING:
    from ....client.session import Session


@dataclass(frozen=True, slots=True)
class DashboardTab:
    """A tab: `make` imports and makes its form, and is called when somebody looks at it for the first time.

    `asks`: to see what is new it has to ask the service. Such a page is read again when something was changed;
    the others when anything was said at all.
    """

    key: str
    title: str
    make: Callable[[Session], Form]
    reads_service: bool = True


def _files(session: Session) -> Form:
    from ..file_browser.browser import FileBrowser

    return FileBrowser(session)


def _upload(session: Session) -> Form:
    from ..upload.form import UploadForm

    return UploadForm(session)


def _export(session: Session) -> Form:
    from ..export.form import ExportForm

    return ExportForm(session)


def _events(session: Session) -> Form:
    from ..event.form import EventPage

    return EventPage(session)


def _notifications(session: Session) -> Form:
    from ..watch.panel import WatchPanel

    return WatchPanel(session)


def _wire(session: Session) -> Form:
    from .exchange_panel import WirePanel

    return WirePanel(session)


TABS = (
    DashboardTab("files", "Files", _files),
    DashboardTab("upload", "Upload", _upload),
    DashboardTab("export", "Export", _export),
    DashboardTab("events", "Events", _events),
    DashboardTab("notifications", "Notifications", _notifications),
    DashboardTab("wire", "Wire", _wire, reads_service=False),
)
