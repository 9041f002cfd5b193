"""The control API, with which tests control tokens, the clock, faults, limits and the stored state, and the live page.

The API under `/_control/` is off by default, because its clients can do everything. It refuses pages of other sites and
foreign Host headers (server/dispatch/origin.py), and requests without the control token, if one is set. The calls for
a class need the token of a teacher. Those of `STUDENT_CALLS` need that of a user only, and a student can read the
journal of their own requests.

The live page at `/` has no data, and a browser may open it without a credential. Its data at `/_live/activity` is about
all users of the service. Where everybody may choose any account without a password (`browser_sign_in="choose"`),
everybody may act as every user, so no key is needed to see what they do. Anywhere else a request for the data must have
a key, which only the person who has started the server knows. In a class, the sign-in token of a teacher is the key,
and with JupyterHub the token of an administrator. The browser session of such a user is enough, too.

These requests bypass the pipeline. So they are not in the journal that the page shows, trigger no faults and count
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
from typing import BinaryIO, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import JSON, Disconnected, Headers, JSONObject, Query, Request, Response, as_body
from ...core.thread_permit import release_permit
from ...core.time_arguments import parse_duration
from ...core.times import format_time, parse_time
from ..auth.accounts import ClassAccounts, check_teacher
from ..auth.hub import check_admin
from ..dispatch.decoded_bodies import decoded_request
from ..dispatch.origin import check_host, check_same_origin, without_prefix
from ..dispatch.requests_and_responses import (
    empty_response,
    encode_json,
    error_response,
    json_bytes,
    json_response,
    read_json,
)
from ..dispatch.service_context import ServiceContext, bearer
from ..files.storage_errors import disk_refusal
from ..service import Service
from ..store.blob_store import BLOCK
from ..store.errors import on_error
from ..web.html import redirect
from ..web.live_page import PredictedAnswer, live_page

_PREFIX = "/_control/"
_MAX_BODY_SIZE = 16 * 1024 * 1024
_MAX_RECEIVER_SIZE = 100_000
_MAX_SECONDS = 10**10  # three hundred years
_TOKEN = re.compile(r"[!-~]+")

Fields: TypeAlias = JSONObject
CallResult: TypeAlias = "Mapping[str, object] | None"


def _not_allowed(request: Request, allowed: str) -> ApiError:
    return refuse("methodNotAllowed", headers=[("Allow", allowed)], method=request.method[:20], allowed=allowed)


def _handle_student_call(service: Service, request: Request) -> Response:
    """Perform one of `STUDENT_CALLS` for the caller, who must be a user of the class or of the hub."""

    def check(request: Request, context: ServiceContext) -> None:
        service.count_request(_caller(service, request))

    if refused := service.refusal(request, check, "class"):
        return refused
    try:
        if request.method != "POST":
            raise _not_allowed(request, "POST")
        with decoded_request(request, service.clock.now(), _MAX_RECEIVER_SIZE) as decoded:
            fields = read_json(as_body(decoded.body), _MAX_RECEIVER_SIZE)
        return json_response(Query(), STUDENT_CALLS[request.path](service, _caller(service, request), fields))
    except ApiError as error:
        return error_response(error)
    except ValueError as error:
        return error_response(refuse("badRequest", message=str(error)))


def _register_receiver(service: Service, user: str, fields: Fields) -> Mapping[str, object]:
    """Register the receiver in the body for the channels of the caller only."""
    address, ca_pem = fields.get("address"), fields.get("ca_pem")
    if not isinstance(address, str) or not isinstance(ca_pem, str | None):
        raise ValueError('the body must be {"address": "https://...", "ca_pem": a certificate in PEM, or null}')
    return {"receiver": service.register_receiver(user, address, ca_pem)}


def _count_prediction(service: Service, user: str, fields: Fields) -> Mapping[str, object]:
    """Count the caller's first answer to a question of a lesson."""
    question, answer, right = fields.get("question"), fields.get("answer"), fields.get("right")
    if not (isinstance(question, str) and isinstance(answer, str) and isinstance(right, bool)):
        raise ValueError('the body must be {"question": a name, "answer": a text, "right": true or false}')
    return {"counted": service.class_view.count_prediction(user, PredictedAnswer(question, answer, right))}


STUDENT_CALLS: Mapping[str, Callable[[Service, str, Fields], Mapping[str, object]]] = {
    "/_class/receivers": _register_receiver,
    "/_class/predictions": _count_prediction,
}


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
        raise refuse("badToken", headers=[("WWW-Authenticate", 'Bearer realm="svc class"')])
    return user


def with_control(service: Service, token: str | None = None, *, control: bool = True) -> Callable[[Request], Response]:
    """Return a function with the control API for paths under `/_control/`, and the service for other paths.

    Each control call must send `token`, if set. If `control` is false, a class has `STUDENT_CALLS` only. Raises
    ValueError for a bad token.
    """
    if token is not None and not _TOKEN.fullmatch(token):
        raise ValueError("the control token must be printable ASCII without spaces, and not empty")

    def check(request: Request, context: ServiceContext) -> None:
        check_host(request, context)
        check_same_origin(request, context, configured=service.provider is None)
        if student := _student_of_journal(service, request):
            service.count_request(student)
            return
        _check_operator(service, request, token, "controlToken", "svc control")

    def handle(request: Request) -> Response:
        request = without_prefix(request, service.policy.path_prefix)
        path = urlsplit(request.url).path
        if path in STUDENT_CALLS and service.class_view.is_open:
            return _handle_student_call(service, request)
        if not (control and path.startswith(_PREFIX)):
            return service.handle(request)
        response = service.refusal(request, check) or _control_response(service, request, path[len(_PREFIX) :])
        return Response(response.status, response.headers) if request.method == "HEAD" else response

    return handle


def _control_response(service: Service, request: Request, name: str) -> Response:
    try:
        limit = service.policy.max_upload_size if name == "state" else _MAX_BODY_SIZE
        with decoded_request(request, service.clock.now(), limit) as decoded:
            if name == "state":
                return _transfer_state(service, decoded)
            with release_permit():  # a call can wait for deliveries, whose receivers may send requests
                result = _result_of(service, decoded, name)
    except ApiError as error:
        return error_response(error)
    except (ValueError, ImportError) as error:
        return error_response(refuse("badRequest", message=str(error)))
    except OSError as error:
        return error_response(disk_refusal(error))
    return empty_response(204) if result is None else json_response(Query(), result)


def _student_of_journal(service: Service, request: Request) -> str | None:
    """Return the student who reads the journal of their own requests, or None for any other request."""
    if (request.method, urlsplit(request.url).path) != ("GET", f"{_PREFIX}journal"):
        return None
    secret = service.class_view.credential(request)
    if secret and service.provider and (user := service.provider.user(secret)):
        return None if user.admin else user.email
    account = service.class_view.accounts.caller(secret) if service.class_view.accounts else None
    return account.email if account and account.role == "student" else None


def _check_operator(service: Service, request: Request, secret: str | None, refusal: str, realm: str) -> None:
    """Check that a request is one of an administrator of the hub, of a teacher of the class, or has the secret."""
    if provider := service.provider:
        check_admin(provider, service.class_view.credential(request))
    elif accounts := service.class_view.accounts:
        check_teacher(accounts, service.class_view.credential(request))
    elif secret is not None and not hmac.compare_digest((bearer(request) or "").encode(), secret.encode()):
        raise refuse(refusal, headers=[("WWW-Authenticate", f'Bearer realm="{realm}"')])


def _transfer_state(service: Service, request: Request) -> Response:
    """Return the whole state (GET), or replace the state by the body (PUT). Raises ValueError or ApiError (405)."""
    if request.method == "GET":
        file = TemporaryFile()  # noqa: SIM115 -- closed by the response that reads it
        with on_error(file.close):
            service.dump(file)
            size = file.seek(0, 2)
            file.seek(0)
        headers = Headers([("Content-Type", "application/zip"), ("Content-Length", str(size))])
        return Response(200, headers, _blocks(file))
    if request.method != "PUT":
        raise _not_allowed(request, "GET, PUT")
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


class _Call(NamedTuple):
    """A control call with the fields of its body. The methods return fields, or raise ValueError for a bad field."""

    service: Service
    fields: Fields
    base_url: str

    @property
    def class_service(self) -> Service:
        """The service of a class. Raises ApiError (404) without a class."""
        if not self.service.class_view.is_open:
            raise refuse("notFound", message="this service has no class; start it with serve --class or serve --hub.")
        return self.service

    @property
    def accounts(self) -> ClassAccounts:
        """The accounts of the roster. Raises ApiError (404) without a roster."""
        if self.service.class_view.accounts is None:
            raise refuse("notFound", message="this service has no class; start it with serve --class.")
        return self.service.class_view.accounts

    @property
    def members(self) -> set[str]:
        """The e-mail addresses of the accounts of the class."""
        return {account.email for account in self.class_service.class_view.members()}

    @property
    def account(self) -> str:
        return self.required("user").lower()

    def flag(self, name: str) -> bool:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false")
        return value is True

    def text(self, name: str) -> str | None:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be a string")
        return value

    def required(self, name: str) -> str:
        text = self.text(name)
        if not text:
            raise ValueError(f'the body must have {{"{name}": a string}}')
        return text

    def texts(self, name: str) -> list[str]:
        value = self.fields.get(name, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError(f"{name} must be a list of strings")
        return [str(text) for text in value]

    def duration(self, name: str, otherwise: JSON = None) -> timedelta:
        try:
            return parse_duration(self.fields.get(name, otherwise), name)
        except TypeError as error:
            raise ValueError(str(error)) from None


def _sign_in(call: _Call) -> CallResult:
    lifetime = None if call.fields.get("expires_in") is None else call.duration("expires_in")
    if lifetime is not None and abs(lifetime.total_seconds()) > _MAX_SECONDS:
        raise ValueError(f"expires_in must be at most {_MAX_SECONDS:,} seconds")
    token = call.service.sign_in(
        call.text("user"),
        scopes=None if call.fields.get("scopes") is None else call.texts("scopes"),
        client=call.text("client") or "notebook",
        service_account=call.flag("service_account"),
        expires_in=lifetime,
    )
    return {"access_token": token}


def _move_clock(call: _Call) -> CallResult:
    service = call.service
    if len(call.fields) > 1:
        raise ValueError("clock accepts only one of the fields advance, now and freeze")
    if call.fields.get("advance") is not None:
        step = call.duration("advance")  # before the clock is stopped, so that a refused call changes nothing
        service.virtual_clock().advance(step)
    elif now := call.text("now"):
        instant = parse_time(now)
        service.virtual_clock().set(instant)
    elif call.flag("freeze"):
        service.virtual_clock().freeze()
    else:
        raise ValueError('clock needs a body {"advance": ...}, {"now": ...} or {"freeze": true}')
    return {"now": format_time(service.clock.now())}


def _limit(call: _Call) -> CallResult:
    requests = call.fields.get("requests")
    if isinstance(requests, bool) or not isinstance(requests, int | None):
        raise ValueError("requests must be a whole number of 1 or more, or null to remove the limit")
    call.service.limit(call.text("user"), requests, call.duration("per", "60s"))
    return {"limits": call.service.limits()}


def _agenda(call: _Call) -> CallResult:
    since, until = call.text("since"), call.text("until")
    rows = call.service.agenda(parse_time(since) if since else None, parse_time(until) if until else None)
    return {"agenda": rows}


def _add_client(call: _Call) -> CallResult:
    addresses, is_public = call.texts("redirect_uris"), call.flag("public")
    return call.service.oauth_client(call.required("name"), addresses, public=is_public, base_url=call.base_url)


def _add_account(call: _Call) -> CallResult:
    return call.service.service_account(
        call.required("name"),
        delegation=call.texts("delegation"),
        client=call.text("client") or "notebook",
        base_url=call.base_url,
    )


def _journal(call: _Call) -> CallResult:
    since, user = str(call.fields.get("since", 0)), call.text("user")
    if not (since.isascii() and since.isdigit() and len(since) < 16):
        raise ValueError("since must be the number of a request")
    rows = call.service.journal(int(since))
    return {"journal": [row for row in rows if user is None or row["user"] == user.lower()]}


def _reset(call: _Call) -> CallResult:
    if call.account not in call.members:
        raise ValueError(f"{call.account[:80]!r} is not the e-mail address of an account of this class")
    return call.service.user_backups.reset(call.account)


def _flag_file(call: _Call, file_id: str) -> CallResult:
    abusive, client = call.fields.get("abusive"), call.text("open_with")
    if client:
        exists = call.service.open_with(file_id, client)
    elif isinstance(abusive, bool):
        exists = call.service.flag(file_id, abusive=abusive)
    else:
        raise ValueError('files needs a body {"abusive": true or false} or {"open_with": "a client"}')
    if not exists:
        raise refuse("fileNotFound", fileId=file_id[:200])
    return {"id": file_id, **call.fields}


# The functions of the control calls, and the allowed fields of the body. A call with None ignores the body or checks it
# itself.
CALLS: Mapping[tuple[str, str], tuple[Callable[[_Call], CallResult], str | None]] = {
    ("POST", "tokens"): (_sign_in, "user client scopes service_account expires_in"),
    ("POST", "clients"): (_add_client, "name redirect_uris public"),
    ("POST", "service_accounts"): (_add_account, "name delegation client"),
    ("GET", "clock"): (lambda call: {"now": format_time(call.service.clock.now())}, "advance now freeze"),
    ("POST", "clock"): (_move_clock, "advance now freeze"),
    ("POST", "faults"): (lambda call: {"id": call.service.add_faults(call.fields)}, None),
    ("GET", "faults"): (lambda call: {"plans": call.service.fault_plans()}, None),
    ("DELETE", "faults"): (lambda call: call.service.clear_faults(), None),
    ("POST", "limits"): (_limit, "user requests per"),
    ("GET", "limits"): (lambda call: {"limits": call.service.limits()}, "user requests per"),
    ("POST", "agenda"): (_agenda, "since until"),
    ("GET", "agenda"): (_agenda, "since until"),
    ("POST", "domains"): (lambda call: {"domain": call.service.register_domain(call.required("domain"))}, "domain"),
    ("POST", "trust"): (lambda call: call.service.trust(call.required("ca_pem")), "ca_pem"),
    ("GET", "journal"): (_journal, "since user"),
    ("GET", "deliveries"): (lambda call: {"deliveries": call.service.deliveries()}, None),
    ("GET", "outbox"): (lambda call: {"outbox": call.service.outbox()}, None),
    ("POST", "snapshot"): (lambda call: {"id": call.service.snapshot()}, None),
    ("POST", "restore"): (lambda call: call.service.restore(call.text("id") or ""), "id"),
    ("POST", "reset"): (lambda call: call.service.reset(), None),
    ("POST", "class/revoke"): (lambda call: call.accounts.revoke(call.account), "user"),
    ("POST", "class/renew"): (lambda call: {"token": call.accounts.renew(call.account)}, "user"),
    ("GET", "class/students"): (lambda call: {"students": call.class_service.class_view.students()}, None),
    ("GET", "class/steps"): (lambda call: {"steps": call.class_service.class_view.steps()}, None),
    ("GET", "class/predictions"): (lambda call: {"predictions": call.class_service.class_view.predictions()}, None),
    ("POST", "class/reset"): (_reset, "user"),
    ("GET", "class/backups"): (lambda call: {"backups": call.class_service.user_backups.rows()}, None),
    ("POST", "class/restore"): (
        lambda call: call.service.user_backups.restore(call.required("backup"), call.members),
        "backup",
    ),
}


def _result_of(service: Service, request: Request, name: str) -> CallResult:
    """Perform a control call and return a JSON object or None. Raises ApiError or, for bad fields, ValueError."""
    function, known = CALLS.get((request.method, name), (None, None))
    is_file = name.startswith("files/") and request.method == "POST"
    if function is None and not is_file:
        raise refuse(
            "notFound", message=f"{request.method} {_PREFIX}{name[:80]} is not a call of the control interface."
        )
    fields = read_json(as_body(request.body), _MAX_BODY_SIZE)
    if name == "journal":
        fields = {**dict(Query.parse(urlsplit(request.url).query).pairs), **fields}
        if student := _student_of_journal(service, request):
            if str(fields.get("user") or student).lower() != student:
                raise refuse("teacherOnly")
            fields = {**fields, "user": student}
    if known is not None and (unknown := fields.keys() - set(known.split())):
        raise ValueError(f"{name} accepts the fields {', '.join(known.split())}, not {min(unknown)[:40]}")
    call = _Call(service, fields, request.origin + service.policy.path_prefix)
    return function(call) if function else _flag_file(call, unquote(name[6:]))


_ACTIVITY = "/_live/activity"
_OPERATION = "livePage"
_OWN_PAGES_ONLY = [("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin")]


def with_live_page(
    service: Service, next_handle: Callable[[Request], Response], key: str | None, *, control: bool = True
) -> Callable[[Request], Response]:
    """Return a function with the live page of a service and its data, and `next_handle` for every other request.

    If `key` is given, a request for the data of the page must have the key. If `control` is true, the page of a class
    has buttons that call the control interface. A client that does not accept HTML gets no page, so that the address
    `/` is unknown to API clients.
    """

    def check(request: Request, context: ServiceContext) -> None:
        check_host(request, context)
        check_same_origin(request, context)
        _check_operator(service, request, key, "livePageKey", "svc live page")

    def handle(request: Request) -> Response:
        prefix = service.policy.path_prefix
        if prefix and request.path == prefix and request.method in ("GET", "HEAD"):
            return redirect(f"{request.path}/", 308)  # the page asks for its data at a relative address
        request = without_prefix(request, prefix)
        path = request.path
        if path == _ACTIVITY and request.method == "GET":
            return service.refusal(request, check, _OPERATION) or _activity(service, request, control=control)
        if path == "/" and request.method in ("GET", "HEAD") and "text/html" in (request.headers.get("Accept") or ""):
            response = service.refusal(request, check_host, _OPERATION) or live_page()
            return Response(response.status, response.headers) if request.method == "HEAD" else response
        return next_handle(request)

    return handle


def _activity(service: Service, request: Request, *, control: bool) -> Response:
    try:
        content = encode_json({**service.activity(request.query), "control": control}, compact=True)
    except OSError as error:
        return error_response(disk_refusal(error))
    return json_bytes(content, extra=_OWN_PAGES_ONLY)


def served_paths(
    service: Service, *, control: bool, control_token: str | None, page_key: str | None, has_page: bool
) -> Callable[[Request], Response]:
    """Return a function that handles all requests to a server.

    `page_key` is the key of the live page, or None if everybody may see it. Raises ValueError for a bad control token.
    """
    handle = with_control(service, control_token, control=control)
    return with_live_page(service, handle, page_key, control=control) if has_page else handle
