"""The control interface: tokens, clock, faults, deliveries, journal and whole-state copies over HTTP.

It is for tests in any language, under `/_control/`, and only if it was switched on. A client of it can do everything.
So it refuses pages of other sites (server/context/csrf.py) and host names that are not the service's
(server/context/allowed_hosts.py), and with a control token every request that does not send it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from tempfile import TemporaryFile
from typing import BinaryIO, TypeAlias
from urllib.parse import urlsplit

from ...core.clock import format_time, parse_duration, parse_time
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
from ..blobs.blob_store import BLOCK
from ..context.access_tokens import bearer
from ..context.allowed_hosts import check_host
from ..context.bodies import declared_length
from ..context.csrf import check_same_origin
from ..context.responses import empty_response, error_response, json_response
from ..context.service_context import ServiceContext
from ..files.operations import read_json
from ..files.storage_errors import disk_refusal
from ..service import Service

CALLS = ("GET", "PUT")
_TYPE = "application/zip"


def state(service: Service, request: Request) -> Response:
    """Answer one of the two calls. Raises ValueError for a file that cannot be taken; nothing has changed then."""
    if request.method == "GET":
        return _give(service)
    if request.method == "PUT":
        return _take(service, request)
    allowed = ", ".join(CALLS)
    refused = refuse("methodNotAllowed", method=request.method[:20], allowed=allowed)
    raise ApiError(refused.rows, [("Allow", allowed)])


def _give(service: Service) -> Response:
    file = TemporaryFile()  # noqa: SIM115 -- closed by the answer that reads it
    try:
        service.dump(file)
        size = file.seek(0, 2)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return Response(200, Headers([("Content-Type", _TYPE), ("Content-Length", str(size))]), _blocks(file))


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block


def _take(service: Service, request: Request) -> Response:
    body, left = as_body(request.body), declared_length(request)
    with TemporaryFile() as file:
        with suppress(Disconnected):  # what is missing will be missed
            while (left is None or file.tell() < left) and (block := body.read(BLOCK)):
                file.write(block)
        service.load(file)
    return empty_response(204)


_PREFIX = "/_control/"
_MOST = 16 * 1024 * 1024
_MOST_SECONDS = 10**10  # three hundred years
_TOKEN = re.compile(r"[!-~]+")

Answer: TypeAlias = "JSONObject | None"


class Control:
    """A service with its control interface in front; with a `token` each control call must send it.

    Raises ValueError for a token that no header can carry.
    """

    def __init__(self, service: Service, token: str | None = None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("the control token must be one word of printable ASCII, at least one character")
        self._service = service
        self._token = token
        self._calls: Mapping[tuple[str, str], Callable[[JSONObject], Answer]] = {
            ("POST", "tokens"): self._tokens,
            ("GET", "clock"): self._clock,
            ("POST", "clock"): self._move_clock,
            ("POST", "faults"): self._add_faults,
            ("GET", "faults"): self._faults,
            ("DELETE", "faults"): self._clear_faults,
            ("POST", "limits"): self._limit,
            ("GET", "limits"): self._limits,
            ("POST", "agenda"): self._agenda,
            ("GET", "agenda"): self._agenda,
            ("POST", "domains"): self._register_domain,
            ("POST", "trust"): self._trust,
            ("GET", "journal"): self._journal,
            ("GET", "deliveries"): self._deliveries,
            ("GET", "outbox"): self._outbox,
            ("POST", "snapshot"): self._snapshot,
            ("POST", "restore"): self._restore,
            ("POST", "reset"): self._reset,
        }
        self._registers: Mapping[str, Callable[[JSONObject, str], JSONObject]] = {
            "clients": self._add_client,
            "service_accounts": self._add_account,
        }

    def handle(self, request: Request) -> Response:
        """Answer a control call, or hand the request to the service."""
        path = urlsplit(request.url).path
        if not path.startswith(_PREFIX):
            return self._service.handle(request)
        if refusal := self._service.refusal(request, self._check):
            return refusal
        response = self._answer(request, path[len(_PREFIX) :])
        return Response(response.status, response.headers) if request.method == "HEAD" else response

    def _check(self, request: Request, context: ServiceContext) -> None:
        """Raises ApiError (401, 403) for a request that must not control the service."""
        check_host(request, context)
        check_same_origin(request, context)
        if self._token is not None and not hmac.compare_digest((bearer(request) or "").encode(), self._token.encode()):
            raise ApiError(refuse("controlToken").rows, [("WWW-Authenticate", 'Bearer realm="svc control"')])

    def _answer(self, request: Request, name: str) -> Response:
        try:
            if name == "state":
                return state(self._service, request)
            answer = self._call(request, name)
        except ApiError as error:
            return error_response(error)
        except (ValueError, ImportError) as error:
            return error_response(refuse("badRequest", message=str(error)))
        except OSError as error:
            return error_response(disk_refusal(error))
        return empty_response(204) if answer is None else json_response(Query(), answer)

    def _call(self, request: Request, name: str) -> Answer:
        if name.startswith("files/") and request.method == "POST":
            return self._flag(plain_segment(name[6:]), _body(request))
        if request.method == "POST" and (register := self._registers.get(name)):
            return register(_known_fields(name, _body(request)), request.origin)
        control_call = self._calls.get((request.method, name))
        if control_call is None:
            raise refuse("notFound", message=f"{request.method} {_PREFIX}{name[:80]} is no control call.")
        return control_call(_known_fields(name, _body(request)))

    def _tokens(self, body: JSONObject) -> Answer:
        scopes, expires_in = body.get("scopes"), body.get("expires_in")
        token = self._service.sign_in(
            _text(body, "user"),
            scopes=None if scopes is None else _texts(scopes, "scopes"),
            client=_text(body, "client") or "notebook",
            service_account=_flag_value(body, "service_account"),
            expires_in=_lifetime(expires_in),
        )
        return {"access_token": token}

    def _clock(self, body: JSONObject) -> Answer:
        return {"now": format_time(self._service.clock.now())}

    def _move_clock(self, body: JSONObject) -> Answer:
        if len(body) > 1:
            raise ValueError("the clock takes one of advance, now and freeze at a time")
        if (duration := body.get("advance")) is not None:
            if not isinstance(duration, str | int | float) or isinstance(duration, bool):
                raise ValueError('advance takes seconds, or a text like "7d" or "PT1H"')
            step = parse_duration(duration)  # before the clock is stopped: a refused call changes nothing
            self._service.virtual_clock().advance(step)
        elif now := _text(body, "now"):
            instant = parse_time(now)
            self._service.virtual_clock().set(instant)
        elif _flag_value(body, "freeze"):
            self._service.virtual_clock().freeze()
        else:
            raise ValueError('a body {"advance": ...}, {"now": ...} or {"freeze": true} is needed')
        return self._clock(body)

    def _add_faults(self, body: JSONObject) -> Answer:
        return {"id": self._service.add_faults(body)}

    def _faults(self, body: JSONObject) -> Answer:
        return {"plans": list(self._service.fault_plans())}

    def _clear_faults(self, body: JSONObject) -> Answer:
        self._service.clear_faults()
        return None

    def _limit(self, body: JSONObject) -> Answer:
        requests, per = body.get("requests"), body.get("per", "60s")
        if isinstance(requests, bool) or not isinstance(requests, int | None):
            raise ValueError("requests takes a whole number from 1 on, or null to lift the limit")
        if isinstance(per, bool) or not isinstance(per, str | int | float):
            raise ValueError('per takes seconds, or a text like "60s" or "1h"')
        self._service.limit(_text(body, "user"), requests, per)
        return self._limits(body)

    def _limits(self, body: JSONObject) -> Answer:
        return {"limits": list(self._service.limits())}

    def _add_client(self, body: JSONObject, origin: str) -> JSONObject:
        addresses, public = _texts(body.get("redirect_uris", []), "redirect_uris"), _flag_value(body, "public")
        return self._service.oauth_client(_required_text(body, "name"), addresses, public=public, base_url=origin)

    def _add_account(self, body: JSONObject, origin: str) -> JSONObject:
        return self._service.service_account(
            _required_text(body, "name"),
            delegation=_texts(body.get("delegation", []), "delegation"),
            client=_text(body, "client") or "notebook",
            base_url=origin,
        )

    def _agenda(self, body: JSONObject) -> Answer:
        since, until = _text(body, "since"), _text(body, "until")
        rows = self._service.agenda(parse_time(since) if since else None, parse_time(until) if until else None)
        return {"agenda": list(rows)}

    def _register_domain(self, body: JSONObject) -> Answer:
        return {"domain": self._service.register_domain(_required_text(body, "domain"))}

    def _trust(self, body: JSONObject) -> Answer:
        self._service.trust(_required_text(body, "ca_pem"))
        return None

    def _deliveries(self, body: JSONObject) -> Answer:
        return {"deliveries": list(self._service.deliveries())}

    def _outbox(self, body: JSONObject) -> Answer:
        return {"outbox": list(self._service.outbox())}

    def _journal(self, body: JSONObject) -> Answer:
        return {"journal": list(self._service.journal())}

    def _snapshot(self, body: JSONObject) -> Answer:
        return {"id": self._service.snapshot()}

    def _restore(self, body: JSONObject) -> Answer:
        self._service.restore(_text(body, "id") or "")
        return None

    def _reset(self, body: JSONObject) -> Answer:
        self._service.reset()
        return None

    def _flag(self, file_id: str, body: JSONObject) -> Answer:
        abusive, client = body.get("abusive"), _text(body, "open_with")
        if client:
            exists = self._service.open_with(file_id, client)
        elif isinstance(abusive, bool):
            exists = self._service.flag(file_id, abusive=abusive)
        else:
            raise ValueError('a body {"abusive": true or false} or {"open_with": "a client"} is needed')
        if not exists:
            raise refuse("fileNotFound", fileId=file_id[:200])
        return {"id": file_id, **body}


def _body(request: Request) -> JSONObject:
    length = request.headers.get("Content-Length")
    return read_json(as_body(request.body), _MOST) if length != "0" else {}


_TAKES: Mapping[str, tuple[str, ...]] = {
    "tokens": ("user", "client", "scopes", "service_account", "expires_in"),
    "clock": ("advance", "now", "freeze"),
    "limits": ("user", "requests", "per"),
    "agenda": ("since", "until"),
    "domains": ("domain",),
    "trust": ("ca_pem",),
    "restore": ("id",),
    "clients": ("name", "redirect_uris", "public"),
    "service_accounts": ("name", "delegation", "client"),
}
"""What the body of a call may have; of the others nothing is looked at, or they say themselves what is wrong."""


def _known_fields(name: str, body: JSONObject) -> JSONObject:
    """A body that has nothing that the call would pass over. Raises ValueError."""
    if unknown := body.keys() - set(_TAKES.get(name, body)):
        raise ValueError(f"{name} takes {', '.join(_TAKES[name])}, not {min(unknown)[:40]}")
    return body


def _flag_value(body: JSONObject, name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} takes true or false")
    return value is True


def _text(body: JSONObject, name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} takes a text")
    return value


def _required_text(body: JSONObject, name: str) -> str:
    text = _text(body, name)
    if not text:
        raise ValueError(f'a body {{"{name}": ...}} is needed')
    return text


def _texts(value: JSON, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} takes a list of texts")
    return [str(text) for text in value]


def _lifetime(value: JSON) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError("expires_in takes a number of seconds")
    if value is not None and not abs(value) <= _MOST_SECONDS:
        raise ValueError(f"expires_in takes at most {_MOST_SECONDS:,} seconds")
    return value
