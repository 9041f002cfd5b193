"""The handler of each operation. That of an upload also depends on `uploadType`, and that of files.get on `alt`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.api.openapi import document
from ..core.errors.catalogue import refuse
from ..core.http.messages import Response
from .auth import oauth_endpoints
from .auth.public_request import PublicRequest
from .calendars import access_rules, calendar_list, calendar_operations, event_messages, event_operations, event_queries
from .dispatch.requests_and_responses import json_response
from .dispatch.service_context import RequestContext, ServiceContext, external_base_url
from .files import change_log, conversion, download, file_operations, permissions, revisions
from .notifications import channels
from .uploads import resumable_upload, simple_and_multipart
from .web import pages, sign_in

Handler = Callable[[ServiceContext, RequestContext], Response]

# For each `uploadType`, the handler, the id of the rule for a new file and the id of the rule for an update.
UPLOAD_TYPES: Mapping[str, tuple[Handler, str, str]] = {
    "media": (simple_and_multipart.simple_upload, "A1-01", "A1-04"),
    "multipart": (simple_and_multipart.multipart, "A2-01", "A2-04"),
    "resumable": (resumable_upload.initiate, "A3-01", "A3-01"),
}


def _get(context: ServiceContext, request: RequestContext) -> Response:
    return download.download(context, request) if _alt(request) == "media" else file_operations.get(context, request)


def _export(context: ServiceContext, request: RequestContext) -> Response:
    """Return the exported content of a file. Both valid values of `alt` give the same response."""
    _alt(request)
    return conversion.export(context, request)


def _alt(request: RequestContext) -> str:
    """Return the query parameter `alt`, "json" or "media". Raises ApiError (400) for another value."""
    alt = (request.query.get("alt") or "json").lower()
    if alt not in ("json", "media"):
        raise refuse("invalidParameter", name="alt", message="expected json or media.")
    return alt


def _describe(request: PublicRequest) -> Response:
    """Return the OpenAPI document with the address that the client used. Raises ApiError (400) for an invalid Host."""
    context, base_url = request.context, external_base_url(request.http_request, request.context)
    return json_response(request.query, document(context.names, context.policy, base_url))


HANDLERS: Mapping[str, Handler] = {
    "files.create": file_operations.create,
    "files.get": _get,
    "files.update": file_operations.update,
    "files.generateIds": file_operations.generate_ids,
    "files.list": file_operations.list_files,
    "files.emptyTrash": file_operations.empty_trash,
    "files.delete": file_operations.delete,
    "files.copy": file_operations.copy,
    "files.export": _export,
    "permissions.create": permissions.create,
    "permissions.list": permissions.list_permissions,
    "permissions.get": permissions.get,
    "permissions.update": permissions.update,
    "permissions.delete": permissions.delete,
    "files.watch": file_operations.watch_file,
    "changes.getStartPageToken": change_log.start_page_token,
    "changes.list": change_log.list_changes,
    "changes.watch": file_operations.watch_changes,
    "channels.stop": channels.stop,
    "calendarChannels.stop": channels.stop,
    "revisions.list": revisions.list_revisions,
    "revisions.get": revisions.get_revision,
    "drives.list": file_operations.list_drives,
    "teamdrives.list": file_operations.list_drives,
    "about.get": file_operations.about,
    "events.insert": event_operations.insert,
    "events.import": event_operations.import_event,
    "events.quickAdd": event_operations.quick_add,
    "events.watch": event_messages.watch_events,
    "events.list": event_queries.list_events,
    "events.get": event_operations.get,
    "events.instances": event_queries.list_instances,
    "events.patch": event_operations.change,
    "events.update": event_operations.change,
    "events.delete": event_operations.delete,
    "events.move": event_operations.move,
    "calendars.insert": calendar_operations.insert,
    "calendars.get": calendar_operations.get,
    "calendars.patch": calendar_operations.change,
    "calendars.update": calendar_operations.change,
    "calendars.delete": calendar_operations.delete,
    "calendars.clear": calendar_operations.clear,
    "calendarList.list": calendar_list.list_entries,
    "calendarList.get": calendar_list.get_entry,
    "calendarList.insert": calendar_list.insert_entry,
    "calendarList.watch": event_messages.watch_calendar_list,
    "calendarList.patch": calendar_list.change_entry,
    "calendarList.update": calendar_list.change_entry,
    "calendarList.delete": calendar_list.delete_entry,
    "settings.list": calendar_list.list_settings,
    "settings.get": calendar_list.get_setting,
    "freebusy.query": event_queries.free_busy,
    "acl.insert": access_rules.insert_rule,
    "acl.list": access_rules.list_rules,
    "acl.get": access_rules.get_rule,
    "acl.patch": access_rules.change_rule,
    "acl.update": access_rules.change_rule,
    "acl.delete": access_rules.delete_rule,
    "colors.get": calendar_operations.colors,
    "upload.session": resumable_upload.serve,
}


# The operations that read many rows, with several statements.
LISTS = frozenset(
    {"files.list", "permissions.list", "changes.list", "events.list", "events.instances", "calendarList.list",
     "acl.list"}
)  # fmt: skip

# The operations that read the store from one snapshot, beside a request that changes the store.
SNAPSHOT_OPERATIONS = LISTS | {
    "files.get", "permissions.get", "changes.getStartPageToken", "about.get", "events.get", "calendars.get",
    "calendarList.get", "acl.get",
}  # fmt: skip


PUBLIC_HANDLERS: Mapping[str, Callable[[PublicRequest], Response]] = {
    "oauth.token": oauth_endpoints.token,
    "oauth.tokeninfo": oauth_endpoints.tokeninfo,
    "oauth.revoke": oauth_endpoints.revoke,
    "oauth.authorize": sign_in.authorize,
    "oauth.metadata": sign_in.metadata,
    "openid.configuration": oauth_endpoints.configuration,
    "openid.keys": oauth_endpoints.keys,
    "openid.userinfo": oauth_endpoints.userinfo,
    "browser.signIn": sign_in.sign_in,
    "browser.signedIn": sign_in.complete_sign_in,
    "browser.signOut": sign_in.sign_out,
    "files.page": pages.view,
    "files.content": pages.content,
    "events.page": pages.event_page,
    "openapi.get": _describe,
}
