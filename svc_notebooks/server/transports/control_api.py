"""The control API, with which tests control tokens, the clock, faults, limits and the stored state, and the live page.

The API under `/_control/` is off by default, because its clients can do everything. It refuses pages of other sites and
foreign Host headers (server/dispatch/origin.py), and requests without the control token, if one is set. The calls for
a class need the token of a teacher. `RECEIVERS_PATH` needs that of a user only.

The live page at `/` has no data, and a browser may open it without a credential. Its data at `/_live/activity` is about
all users of the service. Where everybody may choose any account without a password (`browser_sign_in="choose"`),
everybody may act as every user, so no key is needed to see what they do. Anywhere else a request for the data must have
a key, which only the person who has started the server knows. In a class, the sign-in token of a teacher is the key,
and with JupyterHub the token of an administrator. The browser session of such a user is enough, too.

These requests bypass the dispatcher. So they are not in the journal that the page shows, trigger no faults and count
towards no limits. The page asks for its data once a second, so that an open page occupies a thread for some
milliseconds only.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from tempfile import TemporaryFile
from typing import BinaryIO, TypeAlias
from urllib.parse import urlsplit

from ...core.clock import format_time, parse_time
from ...core.durations import parse_duration
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import (
    JSON,
    Disconnected,
    Headers,
    JSONObject,
    Query,
    Request,
    Response,
    as_body,
    plain_segment,
)
from ...core.thread_permit import release_permit
from ..auth.class_accounts import ClassAccounts, check_teacher
from ..auth.hub import check_admin
from ..dispatch.bodies import decoded_request
from ..dispatch.messages import empty_response, encode_json, error_response, json_bytes, json_response, read_json
from ..dispatch.origin import check_host, check_same_origin, without_prefix
from ..dispatch.service_context import ServiceContext, bearer
from ..files.storage_errors import disk_refusal
from ..service import Service
from ..store.blob_store import BLOCK
from ..user_backup import ResetUser
from ..web.html import redirect
from ..web.live_page import live_page

_PREFIX = "/_control/"
RECEIVERS_PATH = "/_class/receivers"
_MAX_BODY_SIZE = 16 * 1024 * 1024
_MAX_RECEIVER_SIZE = 100_000
_MAX_SECONDS = 10**10  # three hundred years
_TOKEN = re.compile(r"[!-~]+")

Fields: TypeAlias = JSONObject
Answer: TypeAlias = "Mapping[str, object] | None"


def with_receivers(service: Service) -> Callable[[Request], Response]:
    """Return the function that handles the requests to a service, and to `RECEIVERS_PATH` for users of JupyterHub."""
    if service.provider is None:
        return service.handle

    def handle(request: Request) -> Response:
        own = without_prefix(request, service.policy.path_prefix)
        return handle_receiver(service, own) if own.path == RECEIVERS_PATH else service.handle(request)

    return handle


def handle_receiver(service: Service, request: Request) -> Response:
    """Register the receiver in the body, {"address", "ca_pem"?}, for the channels of the caller only."""

    def check(request: Request, context: ServiceContext) -> None:
        service.count_request(_caller(service, request))

    if refused := service.refusal(request, check, "class"):
        return refused
    try:
        if request.method != "POST":
            allowed = refuse("methodNotAllowed", method=request.method[:20], allowed="POST")
            raise ApiError(allowed.rows, [("Allow", "POST")])
        with decoded_request(request, service.clock.now(), _MAX_RECEIVER_SIZE) as decoded:
            fields = read_json(as_body(decoded.body), _MAX_RECEIVER_SIZE)
        address, ca_pem = fields.get("address"), fields.get("ca_pem")
        if not isinstance(address, str) or not isinstance(ca_pem, str | None):
            raise ValueError('the body must be {"address": "https://...", "ca_pem": a certificate in PEM, or null}')
        endpoint = service.register_receiver(_caller(service, request), address, ca_pem)
        return json_response(Query(), {"receiver": endpoint})
    except ApiError as error:
        return error_response(error)
    except ValueError as error:
        return error_response(refuse("badRequest", message=str(error)))


def _caller(service: Service, request: Request) -> str:
    """Return the user of the bearer token. Raises ApiError, 401 without a valid token of the class or of the hub.

    A cookie is not enough, so that no page of another origin can register a receiver.
    """
    secret = bearer(request)
    accounts, provider = service.class_view.accounts, service.provider
    account = accounts.caller(secret) if accounts else None
    user = account.email if account else None
    if provider and secret:
        provided = provider.user(secret)  # first, because it explains why a token of the hub is refused
        user = provided.email if provided else service.user_of(secret)
    if user is None:
        raise ApiError(refuse("badToken").rows, [("WWW-Authenticate", 'Bearer realm="svc class"')])
    return user


def _accounts(service: Service) -> ClassAccounts:
    if service.class_view.accounts is None:
        raise refuse("notFound", message="this service has no class; start it with serve --class.")
    return service.class_view.accounts


def _require_class(service: Service) -> Service:
    if not service.class_view.is_open:
        raise refuse("notFound", message="this service has no class; start it with serve --class or serve --hub.")
    return service


def _account(fields: Fields) -> str:
    return _require_text(fields, "user").lower()


def _reset(service: Service, fields: Fields, base_url: str) -> ResetUser:
    user = _account(fields)
    if user not in _members(_require_class(service)):
        raise ValueError(f"{user[:80]!r} is not the e-mail address of an account of this class")
    return service.user_backups.reset(user)


def _members(service: Service) -> set[str]:
    return {account.email for account in service.class_view.members()}


class Control:
    """A service with its control API.

    Each control call must send `token`, if set. Raises ValueError for a bad token.
    """

    def __init__(self, service: Service, token: str | None = None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("the control token must be printable ASCII without spaces, and not empty")
        self._service = service
        self._token = token

    def handle(self, request: Request) -> Response:
        """Return the response of the control API for paths under `/_control/`, or of the service for other paths."""
        request = without_prefix(request, self._service.policy.path_prefix)
        path = urlsplit(request.url).path
        if path == RECEIVERS_PATH and self._service.class_view.is_open:
            return handle_receiver(self._service, request)
        if not path.startswith(_PREFIX):
            return self._service.handle(request)
        response = self._service.refusal(request, self._check) or self._answer(request, path[len(_PREFIX) :])
        return Response(response.status, response.headers) if request.method == "HEAD" else response

    def _check(self, request: Request, context: ServiceContext) -> None:
        check_host(request, context)
        check_same_origin(request, context, configured=self._service.provider is None)
        _check_operator(self._service, request, self._token, "controlToken", "svc control")

    def _answer(self, request: Request, name: str) -> Response:
        try:
            limit = self._service.policy.max_upload_size if name == "state" else _MAX_BODY_SIZE
            with decoded_request(request, self._service.clock.now(), limit) as decoded:
                if name == "state":
                    return _transfer_state(self._service, decoded)
                with release_permit():  # a call can wait for deliveries, whose receivers may send requests
                    answer = _call(self._service, decoded, name)
        except ApiError as error:
            return error_response(error)
        except (ValueError, ImportError) as error:
            return error_response(refuse("badRequest", message=str(error)))
        except OSError as error:
            return error_response(disk_refusal(error))
        return empty_response(204) if answer is None else json_response(Query(), answer)


def _check_operator(service: Service, request: Request, secret: str | None, refusal: str, realm: str) -> None:
    """Check that a request is one of an administrator of the hub, of a teacher of the class, or has the secret."""
    if provider := service.provider:
        check_admin(provider, service.class_view.credential(request))
    elif accounts := service.class_view.accounts:
        check_teacher(accounts, service.class_view.credential(request))
    elif secret is not None and not hmac.compare_digest((bearer(request) or "").encode(), secret.encode()):
        raise ApiError(refuse(refusal).rows, [("WWW-Authenticate", f'Bearer realm="{realm}"')])


def _transfer_state(service: Service, request: Request) -> Response:
    """Return the whole state (GET), or replace the state by the body (PUT). Raises ValueError or ApiError (405)."""
    if request.method == "GET":
        file = TemporaryFile()  # noqa: SIM115 -- closed by the response that reads it
        try:
            service.dump(file)
            size = file.seek(0, 2)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        headers = Headers([("Content-Type", "application/zip"), ("Content-Length", str(size))])
        return Response(200, headers, _blocks(file))
    if request.method != "PUT":
        refused = refuse("methodNotAllowed", method=request.method[:20], allowed="GET, PUT")
        raise ApiError(refused.rows, [("Allow", "GET, PUT")])
    body = as_body(request.body)
    with TemporaryFile() as copy:
        with suppress(Disconnected):  # `load` refuses a copy that is cut off
            while block := body.read(BLOCK):
                copy.write(block)
        service.load(copy)
    return empty_response(204)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block


def _call(service: Service, request: Request, name: str) -> Answer:
    """Perform a control call and return a JSON object or None. Raises ApiError or, for bad fields, ValueError."""
    if name.startswith("files/") and request.method == "POST":
        fields = read_json(as_body(request.body), _MAX_BODY_SIZE)
        return _flag_file(service, plain_segment(name[6:]), fields)
    function = CALLS.get((request.method, name))
    if function is None:
        raise refuse(
            "notFound", message=f"{request.method} {_PREFIX}{name[:80]} is not a call of the control interface."
        )
    fields = read_json(as_body(request.body), _MAX_BODY_SIZE)
    if name == "journal":
        fields = {**dict(Query.parse(urlsplit(request.url).query).pairs), **fields}
    if unknown := fields.keys() - set(_FIELDS.get(name, fields)):
        raise ValueError(f"{name} accepts the fields {', '.join(_FIELDS[name])}, not {min(unknown)[:40]}")
    return function(service, fields, request.origin + service.policy.path_prefix)


def _sign_in(service: Service, fields: Fields, base_url: str) -> Answer:
    scopes, expires_in = fields.get("scopes"), fields.get("expires_in")
    lifetime = None if expires_in is None else _duration("expires_in", expires_in)
    if lifetime is not None and abs(lifetime.total_seconds()) > _MAX_SECONDS:
        raise ValueError(f"expires_in must be at most {_MAX_SECONDS:,} seconds")
    token = service.sign_in(
        _text(fields, "user"),
        scopes=None if scopes is None else _texts(fields, "scopes"),
        client=_text(fields, "client") or "notebook",
        service_account=_flag(fields, "service_account"),
        expires_in=lifetime,
    )
    return {"access_token": token}


def _move_clock(service: Service, fields: Fields, base_url: str) -> Answer:
    if len(fields) > 1:
        raise ValueError("clock accepts only one of the fields advance, now and freeze")
    if (duration := fields.get("advance")) is not None:
        step = _duration("advance", duration)  # before the clock is stopped, so that a refused call changes nothing
        service.virtual_clock().advance(step)
    elif now := _text(fields, "now"):
        instant = parse_time(now)
        service.virtual_clock().set(instant)
    elif _flag(fields, "freeze"):
        service.virtual_clock().freeze()
    else:
        raise ValueError('clock needs a body {"advance": ...}, {"now": ...} or {"freeze": true}')
    return {"now": format_time(service.clock.now())}


def _duration(name: str, value: JSON) -> timedelta:
    try:
        return parse_duration(value, name)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _limit(service: Service, fields: Fields, base_url: str) -> Answer:
    requests, per = fields.get("requests"), fields.get("per", "60s")
    if isinstance(requests, bool) or not isinstance(requests, int | None):
        raise ValueError("requests must be a whole number of 1 or more, or null to remove the limit")
    service.limit(_text(fields, "user"), requests, _duration("per", per))
    return {"limits": service.limits()}


def _agenda(service: Service, fields: Fields, base_url: str) -> Answer:
    since, until = _text(fields, "since"), _text(fields, "until")
    rows = service.agenda(parse_time(since) if since else None, parse_time(until) if until else None)
    return {"agenda": rows}


def _add_client(service: Service, fields: Fields, base_url: str) -> Answer:
    addresses, is_public = _texts(fields, "redirect_uris"), _flag(fields, "public")
    return service.oauth_client(_require_text(fields, "name"), addresses, public=is_public, base_url=base_url)


def _add_account(service: Service, fields: Fields, base_url: str) -> Answer:
    return service.service_account(
        _require_text(fields, "name"),
        delegation=_texts(fields, "delegation"),
        client=_text(fields, "client") or "notebook",
        base_url=base_url,
    )


def _journal(service: Service, fields: Fields, base_url: str) -> Answer:
    since, user = str(fields.get("since", 0)), _text(fields, "user")
    if not (since.isascii() and since.isdigit() and len(since) < 16):
        raise ValueError("since must be the number of a request")
    return {"journal": [row for row in service.journal(int(since)) if user is None or row["user"] == user.lower()]}


def _flag_file(service: Service, file_id: str, fields: Fields) -> Answer:
    abusive, client = fields.get("abusive"), _text(fields, "open_with")
    if client:
        exists = service.open_with(file_id, client)
    elif isinstance(abusive, bool):
        exists = service.flag(file_id, abusive=abusive)
    else:
        raise ValueError('files needs a body {"abusive": true or false} or {"open_with": "a client"}')
    if not exists:
        raise refuse("fileNotFound", fileId=file_id[:200])
    return {"id": file_id, **fields}


CALLS: Mapping[tuple[str, str], Callable[[Service, Fields, str], Answer]] = {
    ("POST", "tokens"): _sign_in,
    ("POST", "clients"): _add_client,
    ("POST", "service_accounts"): _add_account,
    ("GET", "clock"): lambda service, fields, base_url: {"now": format_time(service.clock.now())},
    ("POST", "clock"): _move_clock,
    ("POST", "faults"): lambda service, fields, base_url: {"id": service.add_faults(fields)},
    ("GET", "faults"): lambda service, fields, base_url: {"plans": service.fault_plans()},
    ("DELETE", "faults"): lambda service, fields, base_url: service.clear_faults(),
    ("POST", "limits"): _limit,
    ("GET", "limits"): lambda service, fields, base_url: {"limits": service.limits()},
    ("POST", "agenda"): _agenda,
    ("GET", "agenda"): _agenda,
    ("POST", "domains"): lambda service, fields, base_url: {
        "domain": service.register_domain(_require_text(fields, "domain"))
    },
    ("POST", "trust"): lambda service, fields, base_url: service.trust(_require_text(fields, "ca_pem")),
    ("GET", "journal"): _journal,
    ("GET", "deliveries"): lambda service, fields, base_url: {"deliveries": service.deliveries()},
    ("GET", "outbox"): lambda service, fields, base_url: {"outbox": service.outbox()},
    ("POST", "snapshot"): lambda service, fields, base_url: {"id": service.snapshot()},
    ("POST", "restore"): lambda service, fields, base_url: service.restore(_text(fields, "id") or ""),
    ("POST", "reset"): lambda service, fields, base_url: service.reset(),
    ("POST", "class/revoke"): lambda service, fields, base_url: _accounts(service).revoke(_account(fields)),
    ("POST", "class/renew"): lambda service, fields, base_url: {"token": _accounts(service).renew(_account(fields))},
    ("GET", "class/students"): lambda service, fields, base_url: {
        "students": _require_class(service).class_view.students()
    },
    ("GET", "class/steps"): lambda service, fields, base_url: {"steps": _require_class(service).class_view.steps()},
    ("POST", "class/reset"): _reset,
    ("GET", "class/backups"): lambda service, fields, base_url: {
        "backups": _require_class(service).user_backups.rows()
    },
    ("POST", "class/restore"): lambda service, fields, base_url: service.user_backups.restore(
        _require_text(fields, "backup"), _members(_require_class(service))
    ),
}
"""The functions of the control calls, which take the service, the fields of the body and the base URL of the
request."""

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "tokens": ("user", "client", "scopes", "service_account", "expires_in"),
    "clock": ("advance", "now", "freeze"),
    "limits": ("user", "requests", "per"),
    "agenda": ("since", "until"),
    "journal": ("since", "user"),
    "domains": ("domain",),
    "trust": ("ca_pem",),
    "restore": ("id",),
    "clients": ("name", "redirect_uris", "public"),
    "service_accounts": ("name", "delegation", "client"),
    "class/revoke": ("user",),
    "class/renew": ("user",),
    "class/reset": ("user",),
    "class/restore": ("backup",),
}
"""The allowed fields in the body of each call. Calls that are not listed ignore the body or check it themselves."""


def _flag(fields: Fields, name: str) -> bool:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false")
    return value is True


def _text(fields: Fields, name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} must be a string")
    return value


def _require_text(fields: Fields, name: str) -> str:
    text = _text(fields, name)
    if not text:
        raise ValueError(f'the body must have {{"{name}": a string}}')
    return text


def _texts(fields: Fields, name: str) -> list[str]:
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} must be a list of strings")
    return [str(text) for text in value]


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
        _check_operator(self._service, request, self._key, "livePageKey", "svc live page")

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
