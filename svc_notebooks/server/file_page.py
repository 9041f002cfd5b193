"""What webViewLink and webContentLink open: a page about a file, and its bytes (A6-08).

They are for who owns the file, whom it was shared with, and, where it is open to anyone, for everybody.
"""

from __future__ import annotations

from html import escape

from ..core.catalogue import ApiError, refuse
from ..core.operations import CONTENT, FILE_ID, READ, Operation
from ..core.wire import Headers, Query, Response
from . import drafts
from .access import Caller, require
from .browser import sign_in_page, visitor, who
from .content_headers import link_headers
from .download import download
from .file_preview import described_file, listing, preview
from .house import Call
from .pages import page
from .visit import Visit

_NOBODY = Caller("", "", READ | CONTENT, False, None)
_SEEING = Operation("files.page", (), (), READ, "A6-08")

_TITLES = {401: "Sign in first", 403: "You may not do this", 404: "There is no such file, or not for you"}


def view(visit: Visit) -> Response:
    """The page of a file."""
    try:
        caller = _looking(visit)
        row = drafts.seen_file(visit.house, caller, visit.places[FILE_ID])
    except ApiError as error:
        return _refusal(visit, error)
    shown = described_file(visit.house, caller.user, row) + listing(visit.house, caller, row)
    return page(row.name, who(caller) + shown + preview(visit.house, caller, row))


def content(visit: Visit) -> Response:
    """The bytes of a file: shown where a browser can, saved with `export=download` and where it cannot."""
    try:
        caller, file_id = _looking(visit), visit.query.get("id")
        if not file_id:
            raise refuse("requiredParameter", name="id")
        places = {FILE_ID: file_id}
        call = Call(visit.request, visit.method, _SEEING, places, visit.query, caller, visit.body, visit.entry)
        row = drafts.seen_file(visit.house, caller, file_id)
        response = download(visit.house, call)
    except ApiError as error:
        return _refusal(visit, error)
    extra = link_headers(row.name, row.mime_type, save=visit.query.get("export") == "download")
    kept = [pair for pair in response.headers.pairs if pair[0] != "Content-Security-Policy"]
    return Response(response.status, Headers(kept).plus(*extra), response.body)


def _looking(visit: Visit) -> Caller:
    """Who looks. Raises ApiError: their token is bad, or has no scope for it."""
    caller = visitor(visit)
    if caller is None:
        return _NOBODY
    visit.entry.user, visit.entry.client, visit.entry.scopes = caller.user, caller.client, caller.scopes
    return require(caller, READ, _SEEING)


def _refusal(visit: Visit, error: ApiError) -> Response:
    """To a browser in words, to a program as every other refusal; whom nobody knows is asked to sign in."""
    nobody = error.status == 404 and visit.entry.user is None
    if nobody:
        error = ApiError(refuse("notSignedIn").rows, [("WWW-Authenticate", 'Bearer realm="svc"')])
    if "text/html" not in (visit.request.headers.get("Accept") or ""):
        raise error
    visit.entry.decided_by = error.rows[0].decided_by or visit.entry.decided_by  # a field's rule is not a page's
    here = visit.request.path + (f"?{visit.query}" if visit.query.pairs else "")
    if nobody:
        return sign_in_page(visit, here, status=401)
    title = _TITLES.get(error.status, "This cannot be shown")
    text = f"<h1>{escape(title)}</h1><p>{escape(str(error))}</p>{_way_on(visit, error, here)}"
    return page(title, text, status=error.status, extra=error.headers)


def _way_on(visit: Visit, error: ApiError, here: str) -> str:
    """The owner of a flagged file may have it all the same, and must know what it is (A6-03)."""
    if error.rows[0].reason != "cannotDownloadAbusiveFile":
        sign_in = "/signin?" + str(Query([("continue", here)]))
        return f'<p><a class="button" href="{escape(sign_in)}">Sign in as somebody else</a></p>'
    file_id = visit.query.get("id") or ""
    link = "/uc?" + str(Query([("id", file_id), ("acknowledgeAbuse", "true"), ("export", "download")]))
    return f'<p class="warning"><a class="button" href="{escape(link)}">I own it and know what it is: download</a></p>'
