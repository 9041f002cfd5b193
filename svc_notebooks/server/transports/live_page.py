"""Serves the live page and decides who may see it.

The page at `/` has no data, and a browser may open it without a credential. Its data at `/_live/activity` is about all
users of the service. Where everybody may choose any account without a password (`browser_sign_in="choose"`), everybody
may act as every user, so no key is needed to see what they do. Anywhere else a request for the data must have a key,
which only the person who has started the server knows. In a class, the sign-in token of a teacher is the key, and with
JupyterHub the token of an administrator. The browser session of such a user is enough, too. As at the control API,
pages of other sites and foreign names of the service are refused (server/dispatch/origin.py).

These requests bypass the dispatcher. So they are not in the journal that the page shows, trigger no faults and count
towards no limits. The page asks for its data once a second, so that an open page occupies a thread for some
milliseconds only.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Request, Response
from ..auth.class_accounts import check_teacher
from ..auth.hub import check_admin
from ..dispatch.caller import bearer
from ..dispatch.origin import check_host, check_same_origin, without_prefix
from ..dispatch.responses import encode_json, error_response, json_bytes
from ..dispatch.service_context import ServiceContext
from ..files.storage_errors import disk_refusal
from ..service import Service
from ..web.html import redirect
from ..web.live_page import live_page
from .control_api import Control, with_receivers

_ACTIVITY = "/_live/activity"
_OPERATION = "livePage"
_OWN_PAGES_ONLY = [("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin")]


class LivePage:
    """The live page of a service. If `key` is given, a request for the data of the page must have the key.

    If `control` is true, the page of a class has buttons that call the control interface.
    """

    def __init__(
        self, service: Service, handle: Callable[[Request], Response], key: str | None, *, control: bool = True
    ) -> None:
        self._service = service
        self._next_handle = handle
        self._key = key
        self._control = control

    def handle(self, request: Request) -> Response:
        """Return the page, its data, or for every other request the response of the function `handle`.

        A client that does not accept HTML gets no page, so that the address `/` is unknown to API clients.
        """
        prefix = self._service.policy.path_prefix
        if prefix and request.path == prefix and request.method in ("GET", "HEAD"):
            return redirect(f"{request.path}/", 308)  # the page asks for its data at a relative address
        request = without_prefix(request, prefix)
        path = request.path
        if path == _ACTIVITY and request.method == "GET":
            return self._service.refusal(request, self._check, _OPERATION) or self._activity(request)
        if path == "/" and request.method in ("GET", "HEAD") and _accepts_html(request):
            response = self._service.refusal(request, check_host, _OPERATION) or live_page()
            return Response(response.status, response.headers) if request.method == "HEAD" else response
        return self._next_handle(request)

    def _check(self, request: Request, context: ServiceContext) -> None:
        """Check that a request may read the data of the page. Raises ApiError (401, 403)."""
        check_host(request, context)
        check_same_origin(request, context)
        if provider := self._service.provider:
            check_admin(provider, self._service.class_view.credential(request))
        elif accounts := self._service.class_view.accounts:
            check_teacher(accounts, self._service.class_view.credential(request))
        elif self._key is not None and not hmac.compare_digest((bearer(request) or "").encode(), self._key.encode()):
            raise ApiError(refuse("livePageKey").rows, [("WWW-Authenticate", 'Bearer realm="svc live page"')])

    def _activity(self, request: Request) -> Response:
        try:
            content = encode_json({**self._service.activity(request.query), "control": self._control}, compact=True)
        except OSError as error:
            return error_response(disk_refusal(error))
        return json_bytes(content, extra=_OWN_PAGES_ONLY)


def _accepts_html(request: Request) -> bool:
    return "text/html" in (request.headers.get("Accept") or "")


def served_paths(
    service: Service, *, control: bool, control_token: str | None, page_key: str | None, has_page: bool
) -> Callable[[Request], Response]:
    """Return a function that handles all requests to a server.

    `page_key` is the key of the live page, or None if everybody may see it. Raises ValueError for a bad control token.
    """
    handle = Control(service, control_token).handle if control else with_receivers(service)
    return LivePage(service, handle, page_key, control=control).handle if has_page else handle
