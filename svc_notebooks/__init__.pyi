"""The public names with their types, in the order in which users learn them. `__init__.py` reads their modules here."""

from .notebook.sandbox.sandbox import (
    sandbox as sandbox,
    open_sandbox as open_sandbox,
    connect as connect,
    current_session as current_session,
    Sandbox as Sandbox,
)
from .notebook.sandbox.controls import fault_presets as fault_presets
from .client.session import Session as Session
from .notebook.files.files import (
    upload as upload,
    update as update,
    create_file as create_file,
    generate_ids as generate_ids,
    file as file,
)
from .notebook.files.folders import (
    trash as trash,
    untrash as untrash,
    delete as delete,
    empty_trash as empty_trash,
)
from .notebook.files.search import (
    files as files,
    tree as tree,
)
from .notebook.files.folders import (
    create_folder as create_folder,
    move as move,
    copy as copy,
)
from .notebook.files.about import token_info as token_info, service_account_token as service_account_token
from .notebook.sandbox.controls import ServiceAccount as ServiceAccount, OAuthClient as OAuthClient
from .notebook.files.permissions import share as share, unshare as unshare, permissions as permissions
from .notebook.files.downloads.downloads import download as download, read as read
from .notebook.files.downloads.read_frame import read_frame as read_frame
from .notebook.files.downloads.downloads import export as export
from .notebook.files.about import about as about, import_formats as import_formats, export_formats as export_formats
from .notebook.files.uploads import (
    start_upload as start_upload,
    resume_upload as resume_upload,
    pending_uploads as pending_uploads,
    Upload as Upload,
)
from .notebook.notifications.channels import (
    watch_file as watch_file,
    watch_changes as watch_changes,
    stop_channel as stop_channel,
    renew_channel as renew_channel,
    channels as channels,
)
from .notebook.notifications.receiver import (
    receiver as receiver,
    notifications as notifications,
    changes as changes,
    Receiver as Receiver,
)
from .notebook.notifications.channels import delivery_timeline as delivery_timeline
from .notebook.events.events import (
    create_event as create_event,
    event as event,
    update_event as update_event,
    delete_event as delete_event,
    respond as respond,
    create_events as create_events,
)
from .notebook.events.query import (
    events as events,
    instances as instances,
    preview_recurrence as preview_recurrence,
    recurrence_lines as recurrence_lines,
)
from .forms.recurrence import recurrence_calendar as recurrence_calendar
from .notebook.events.calendars import (
    calendars as calendars,
    create_calendar as create_calendar,
    event_colors as event_colors,
    free_busy as free_busy,
    free_times as free_times,
    calendar_permissions as calendar_permissions,
    share_calendar as share_calendar,
    unshare_calendar as unshare_calendar,
)
from .notebook.events.ical import export_events as export_events, import_events as import_events
from .notebook.events.body import EventError as EventError
from .notebook.exchanges.exchanges import exchanges as exchanges, exchange as exchange
from .notebook.exchanges.compare import (
    assert_exchanges as assert_exchanges,
    compare_exchanges as compare_exchanges,
    save_har as save_har,
)
from .forms.dashboard.dashboard import dashboard as dashboard
from .forms.file_browser.browser import file_browser as file_browser
from .forms.upload_form import upload_form as upload_form
from .forms.export_form import export_form as export_form
from .forms.event.form import event_form as event_form
from .forms.calendar_view.view import calendar_view as calendar_view
from .forms.watch_panel import watch_panel as watch_panel
from .notebook.class_control import class_control as class_control, ClassControl as ClassControl
from .forms.class_dashboard import class_dashboard as class_dashboard
from .notebook.doctor import doctor as doctor
from .core.brand_names import Names as Names
from .core.policy import Policy as Policy
from .core.errors.errors import (
    SvcError as SvcError,
    BadRequest as BadRequest,
    NotSignedIn as NotSignedIn,
    NotAllowed as NotAllowed,
    NotFound as NotFound,
    AlreadyExists as AlreadyExists,
    RateLimited as RateLimited,
    SessionExpired as SessionExpired,
    ServiceFailed as ServiceFailed,
    Interrupted as Interrupted,
    Unreachable as Unreachable,
    Unsupported as Unsupported,
    SourceChanged as SourceChanged,
    ContentMismatch as ContentMismatch,
    PathExists as PathExists,
    AbusiveFileWarning as AbusiveFileWarning,
    UnverifiedUploadWarning as UnverifiedUploadWarning,
)

__version__: str
