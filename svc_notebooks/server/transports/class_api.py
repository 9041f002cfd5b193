"""The calls of the control interface for a class, and the registration of receivers (POST /_class/receivers)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import JSONObject, Query, Request, Response, as_body
from ..auth.class_accounts import ClassAccounts
from ..dispatch.bodies import decoded_request
from ..dispatch.caller import bearer
from ..dispatch.origin import without_prefix
from ..dispatch.requests import read_json
from ..dispatch.responses import error_response, json_response
from ..dispatch.service_context import ServiceContext
from ..service import Service
from ..user_backup import ResetUser

RECEIVERS_PATH = "/_class/receivers"
_MAX_BODY_SIZE = 100_000

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
        _caller(service, request)

    if refused := service.refusal(request, check, "class"):
        return refused
    try:
        if request.method != "POST":
            allowed = refuse("methodNotAllowed", method=request.method[:20], allowed="POST")
            raise ApiError(allowed.rows, [("Allow", "POST")])
        with decoded_request(request, service.clock.now(), _MAX_BODY_SIZE) as decoded:
            fields = read_json(as_body(decoded.body), _MAX_BODY_SIZE)
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


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f'the body must have {{"{name}": a string}}')
    return value


def _account(fields: Fields) -> str:
    return _text(fields, "user").lower()


def _reset(service: Service, fields: Fields, base_url: str) -> ResetUser:
    user = _account(fields)
    if user not in _members(_require_class(service)):
        raise ValueError(f"{user[:80]!r} is not the e-mail address of an account of this class")
    return service.user_backups.reset(user)


def _members(service: Service) -> set[str]:
    return {account.email for account in service.class_view.members()}


CLASS_CALLS: Mapping[tuple[str, str], Callable[[Service, Fields, str], Answer]] = {
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
        _text(fields, "backup"), _members(_require_class(service))
    ),
}
"""The functions of the control calls for a class, with the arguments of those in control_api.py."""

CLASS_FIELDS: Mapping[str, tuple[str, ...]] = {
    "class/revoke": ("user",),
    "class/renew": ("user",),
    "class/reset": ("user",),
    "class/restore": ("backup",),
}
"""The allowed fields in the body of each call."""
