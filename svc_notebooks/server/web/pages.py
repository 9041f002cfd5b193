"""The pages of files and events, and the headers with which a browser displays stored content."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64decode
from datetime import timedelta
from html import escape
from itertools import islice
from urllib.parse import quote

from ...convert.job import ConversionError
from ...core.api.operations import CONTENT, FILE_ID, READ, Operation
from ...core.errors.catalogue import ApiError, refuse
from ...core.events.event_times import read_time
from ...core.events.rrule import is_all_day
from ...core.http.messages import Headers, Query, Response
from ...core.http.multipart import MediaType
from ...core.resources.events import Event
from ...core.times import from_millis
from ..auth.public_request import PublicRequest
from ..calendars.access import calendar_by_id
from ..calendars.event_resource import EventRecord, visible_to_readers
from ..calendars.instances import find_event, instances
from ..calendars.tables import CalendarRow
from ..dispatch.service_context import ANONYMOUS, Caller, RequestContext, ServiceContext, require_scopes
from ..files.access import file_for, has_right, visible_role
from ..files.conversion import render_document
from ..files.download import download
from ..files.metadata import is_document
from ..files.resource import view_path
from ..files.tables import FileRow
from .html import description_list, html_page
from .sign_in import account_bar, session_user, sign_in_page

PDF = "application/pdf"
_PICTURE_TYPES = "apng avif bmp gif jpeg png svg+xml vnd.microsoft.icon webp x-icon"

# Media types that browsers display in addition to text, audio and video.
SHOWN = frozenset({PDF, "application/javascript", "application/json", "application/xml"}) | {
    f"image/{subtype}" for subtype in _PICTURE_TYPES.split()
}

_PLAYED = ("audio/", "video/")
_SHOWN_FAMILIES = ("text/", *_PLAYED)
_NAMES_ITS_CHARSET = frozenset({"text/html", "text/xml"})
_LONGEST_NAME = 1000


def link_headers(name: str, media_type: str, *, save: bool) -> list[tuple[str, str]]:
    """Return the response headers for a file's content. If `save` is true, the browser saves content of every type."""
    shown, essence = not save and is_shown(media_type), MediaType.parse(media_type).essence
    headers = [("Content-Disposition", disposition(name, "inline" if shown else "attachment"))]
    is_text = essence.startswith("text/") and essence not in _NAMES_ITS_CHARSET
    if shown and is_text and "charset=" not in media_type.lower():  # a browser would read UTF-8 as windows-1252
        headers.append(("Content-Type", f"{media_type}; charset=utf-8"))
    # Scripts in stored content must not use the service's origin and the reader's cookie. A sandbox gives the content
    # an origin of its own. But in a sandbox, Chromium cannot reload audio and video, and older versions show no PDF.
    # These types run no scripts with the service's origin, so a policy without scripts is enough.
    policy = "script-src 'none'" if essence == PDF or essence.startswith(_PLAYED) else "sandbox"
    return [*headers, ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff")]


def is_shown(media_type: str) -> bool:
    """Return True if browsers display content of this media type, False if they save it.

    >>> is_shown("video/mp4"), is_shown("image/tiff"), is_shown("application/zip")
    (True, False, False)
    """
    essence = MediaType.parse(media_type).essence
    return essence in SHOWN or essence.startswith(_SHOWN_FAMILIES)


def disposition(name: str, kind: str) -> str:
    """Return the value of a Content-Disposition header (RFC 6266) with the name of a file.

    `kind` is "inline" or "attachment". A long name is shortened to fit in a header.

    >>> disposition('a"b.txt', "inline")
    'inline; filename="a_b.txt"; filename*=UTF-8\\'\\'a%22b.txt'
    """
    name = name[:_LONGEST_NAME]
    plain = "".join(mark if mark.isascii() and mark.isprintable() and mark not in '"\\%/' else "_" for mark in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"


_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")
_TEXTS = ("application/json", "application/xml", "application/javascript")
_MOST_CHILDREN = 500
_MOST_TEXT = 64 * 1024
_MOST_PICTURE = 4 * 1024 * 1024


def _download_link(context: ServiceContext, user: str, row: FileRow) -> str:
    if not has_right(context, user, row, "canDownload"):
        return '<p class="warning">The editors of this file do not let its readers download or copy it.</p>'
    if row.size is None:
        return ""
    if row.abusive and user != row.owner:
        return '<p class="warning">This file was found to be malware or spam. Only its owner can download it.</p>'
    link = f"{context.policy.path_prefix}/uc?" + str(Query([("id", row.id), ("export", "download")]))
    return f'<p><a class="button" href="{escape(link)}">Download</a></p>'


def listing(context: ServiceContext, caller: Caller, row: FileRow) -> str:
    """Return an HTML list of links to a folder's children or a shortcut's target, or "" if there are none."""
    children = context.store.files.children(row.id, _MOST_CHILDREN) if row.mime_type == context.folder_type else []
    target = context.store.files.get(row.target) if row.target else None
    listed = [*children, target] if target else children
    seen = [file for file in listed if visible_role(context, caller, file) is not None]
    prefix = context.policy.path_prefix
    items = (f'<li><a href="{escape(prefix + view_path(context, file))}">{escape(file.name)}</a></li>' for file in seen)
    return f"<ul>{''.join(items)}</ul>" if seen else ""


def preview(context: ServiceContext, caller: Caller, row: FileRow) -> str:
    """Return the content of a file as HTML, or "" if a page cannot show it or the caller may not read it."""
    scoped = caller.with_scopes(CONTENT)
    if row.abusive or scoped.scopes.isdisjoint(CONTENT) or visible_role(context, scoped, row) is None:
        return ""
    if not has_right(context, caller.user, row, "canDownload"):
        return ""
    if row.size is None:
        return _document(context, row, caller.user) if is_document(context, row.mime_type) else ""
    media_type = MediaType.parse(row.mime_type).essence
    if media_type in _PICTURES and row.size <= _MOST_PICTURE:
        return (
            f'<p><img alt="" src="data:{media_type};base64,{b64encode(_bytes(context, row, row.size)).decode()}"></p>'
        )
    if media_type.startswith("text/") or media_type in _TEXTS:
        text = _bytes(context, row, min(row.size, _MOST_TEXT)).decode("utf-8", "replace")
        return f"<pre>{escape(text)}</pre>" + ("<p>(shortened)</p>" if row.size > _MOST_TEXT else "")
    return ""


def _bytes(context: ServiceContext, row: FileRow, size: int) -> bytes:
    return b"" if row.content is None else b"".join(context.content.read(row.content, 0, size))


def _document(context: ServiceContext, row: FileRow, user: str) -> str:
    """Return an HTML frame that shows a native document without scripts, or "" if the export fails."""
    try:
        html = render_document(context, row, user)
    except ConversionError:
        return ""
    return f'<iframe sandbox title="{escape(row.name)}" srcdoc="{escape(html.decode("utf-8", "replace"))}"></iframe>'


_PAGE_OPERATION = Operation("files.page", (), (), READ, decided_by="A6-08")

_TITLES = {401: "Sign in first", 403: "Permission denied", 404: "File not found, or not shared with you"}


def view(request: PublicRequest) -> Response:
    """Return the HTML page of a file."""
    context = request.context
    try:
        caller = _caller(request)
        row = file_for(context, caller, request.path_params[FILE_ID])
    except ApiError as error:
        return _refusal(request, error)
    rows = [("Type", row.mime_type), ("Owner", row.owner)]
    if row.size is not None:
        rows.append(("Size", f"{row.size:,} bytes"))
    rows.append(("Last changed", f"{from_millis(row.modified):%Y-%m-%d %H:%M} UTC"))
    body = f"{account_bar(request, caller)}<h1>{escape(row.name)}</h1>{description_list(rows)}"
    body += _download_link(context, caller.user, row) + listing(context, caller, row) + preview(context, caller, row)
    return html_page(row.name, body)


def content(request: PublicRequest) -> Response:
    """Return the content of a file. If the query has `export=download`, the browser saves the content."""
    try:
        caller, file_id = _caller(request), request.query.get("id")
        if not file_id:
            raise refuse("requiredParameter", name="id")
        sent, query, body, entry = request.http_request, request.query, request.body, request.journal_entry
        download_request = RequestContext(
            sent, sent.headers, request.method, _PAGE_OPERATION, {FILE_ID: file_id}, file_id, query, caller, body, entry
        )
        row = file_for(request.context, caller, file_id)
        response = download(request.context, download_request)
    except ApiError as error:
        return _refusal(request, error)
    extra = link_headers(row.name, row.mime_type, save=request.query.get("export") == "download")
    kept = [pair for pair in response.headers.pairs if pair[0] != "Content-Security-Policy"]
    return Response(response.status, Headers(kept).plus(*extra), response.body)


def _caller(request: PublicRequest) -> Caller:
    caller = session_user(request)
    if caller is None:
        return ANONYMOUS
    entry = request.journal_entry
    entry.user, entry.client, entry.scopes = caller.user, caller.client, caller.scopes
    return require_scopes(caller, READ, _PAGE_OPERATION)


def _refusal(request: PublicRequest, error: ApiError) -> Response:
    """Return the HTML page for an error. If the client does not accept HTML, raise the error instead.

    If the file was not found and nobody is signed in, return the sign-in page.
    """
    anonymous = error.status == 404 and request.journal_entry.user is None
    if anonymous:
        error = refuse("notSignedIn", headers=[("WWW-Authenticate", 'Bearer realm="svc"')])
    if "text/html" not in (request.http_request.headers.get("Accept") or ""):
        raise error
    entry = request.journal_entry
    entry.decided_by = error.rows[0].decided_by or entry.decided_by  # the rule for a field does not apply to a page
    here = request.http_request.path + (f"?{request.query}" if request.query.pairs else "")
    if anonymous:
        return sign_in_page(request, here, status=401)
    title = _TITLES.get(error.status, "This page cannot be shown")
    text = f"<h1>{escape(title)}</h1><p>{escape(str(error))}</p>{_next_step(request, error, here)}"
    return html_page(title, text, status=error.status, extra=error.headers)


def _next_step(request: PublicRequest, error: ApiError, here: str) -> str:
    """Return the HTML button below an error message. The button leads to the sign-in page.

    For a file that is flagged as abusive, the button downloads the file, because its owner may do that (A6-03).
    """
    prefix = request.context.policy.path_prefix
    if error.rows[0].reason != "cannotDownloadAbusiveFile":
        sign_in = f"{prefix}/signin?" + str(Query([("continue", here)]))
        return f'<p><a class="button" href="{escape(sign_in)}">Sign in as another user</a></p>'
    file_id = request.query.get("id") or ""
    link = f"{prefix}/uc?" + str(Query([("id", file_id), ("acknowledgeAbuse", "true"), ("export", "download")]))
    return f'<p class="warning"><a class="button" href="{escape(link)}">Accept the risk and download</a></p>'


_NEXT = 10


def event_page(request: PublicRequest) -> Response:
    """Return the public HTML page of an event. Raises ApiError (404) if the event is missing or links are closed."""
    context = request.context
    eid = request.query.get("eid") or ""
    try:
        event_id, _, name = urlsafe_b64decode(eid.encode("ascii") + b"=" * (-len(eid) % 4)).decode().partition(" ")
    except ValueError:
        event_id = name = ""
    calendar = calendar_by_id(context, name) if name else None
    event = find_event(context, calendar, event_id) if calendar else None
    if calendar is None or event is None or event.row.cancelled or not context.policy.open_links:
        raise refuse("notFound", message="there is no event at this link.")
    title = str(visible_to_readers(event.body).get("summary") or "(no title)")
    return html_page(title, f"<h1>{escape(title)}</h1>{description_list(_rows(context, calendar, event))}")


def _rows(context: ServiceContext, calendar: CalendarRow, event: EventRecord) -> list[tuple[str, str]]:
    body = visible_to_readers(event.body)
    rows = [("When", _when(body)), ("Calendar", str(json.loads(calendar.body).get("summary") or calendar.id))]
    texts = (("Where", "location"), ("What", "description"), ("Conference", "hangoutLink"))
    rows += [(title, str(body.get(name))) for title, name in texts if body.get(name)]
    if event.row.recurring:
        coming = islice(instances(context, calendar, event.row, context.clock.now(), None), _NEXT)
        rows.append(("Repeats", "\n".join(body.get("recurrence") or [])))
        rows.append(
            ("Next", "\n".join(_when(instance.body) for instance in coming if not instance.row.cancelled) or "no more")
        )
    rows.append(("Last changed", f"{from_millis(event.row.updated):%Y-%m-%d %H:%M} UTC"))
    return rows


_DAY = "{0:%A}, {0.day} {0:%B %Y}"


def _when(body: Event) -> str:
    start, end = read_time(body["start"]), read_time(body["end"])
    if is_all_day(start):
        last = end - timedelta(days=1)
        return _DAY.format(start) + (f" to {_DAY.format(last)}" if last > start else "") + ", all day"
    begins, ends = (f" ({getattr(moment, 'tzinfo', '')})" for moment in (start, end))
    until = f"{end:%H:%M}" if f"{start:%F}" == f"{end:%F}" else f"{_DAY.format(end)}, {end:%H:%M}"
    return f"{_DAY.format(start)}, {start:%H:%M}{'' if begins == ends else begins} to {until}{ends}"
