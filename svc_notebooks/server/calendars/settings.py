"""Handlers of a user's calendar settings, which can only be read."""

from __future__ import annotations

from ...core.api.operations import SETTING
from ...core.errors.catalogue import refuse
from ...core.events.calendars import SETTING_SHAPE
from ...core.http.messages import Response
from ...core.resources.calendars import Setting
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import primary_of, resource_response
from .event_messages import settings_of
from .list_pages import list_response, read_sync_request

_FIXED = {
    "autoAddHangouts": "false",
    "dateFieldOrder": "MDY",
    "defaultEventLength": "60",
    "format24HourTime": "true",
    "hideInvitations": "false",
    "hideWeekends": "false",
    "locale": "en",
    "remindOnRespondedEventsOnly": "false",
    "showDeclinedEvents": "true",
    "timezone": "",
    "useKeyboardShortcuts": "true",
    "weekStart": "0",
}
"""The settings with their values. The time zone is that of the user's primary calendar."""


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the setting whose id is in the path. Raises ApiError (404) for an unknown setting."""
    name = request.path_params[SETTING]
    if name not in _FIXED:
        raise refuse("notFound", message=f"there is no setting {name[:100]}.")
    return resource_response(request, _setting(context, request, name), SETTING_SHAPE)


def list_settings(context: ServiceContext, request: RequestContext) -> Response:
    """Return one page of the caller's settings, or of those that changed since the sync token."""
    sync = read_sync_request(context, request, settings_of(request.caller.user))
    names = [name for name in _FIXED if sync.changed is None or name in sync.changed]
    entries = [((name,), _setting(context, request, name)) for name in names]
    return list_response(context, request, sync, context.names.calendar_kind("settings"), entries, SETTING_SHAPE)


def _setting(context: ServiceContext, request: RequestContext, name: str) -> Setting:
    primary = primary_of(context, request.caller.user)
    value = primary.zone if name == "timezone" else _FIXED[name]
    return {"kind": context.names.calendar_kind("setting"), "id": name, "value": value}
