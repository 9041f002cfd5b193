"""Lets the accounts of a class register the receivers of their notebooks (POST /_class/receivers)."""

from __future__ import annotations

from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query, Request, Response, as_body
from ..auth.class_accounts import ClassAccounts, require_account
from ..context.responses import error_response, json_response
from ..context.service_context import ServiceContext
from ..files.operations import read_json
from ..service import Service

RECEIVERS_PATH = "/_class/receivers"
_MAX_BODY_SIZE = 100_000


def handle_receiver(service: Service, accounts: ClassAccounts, request: Request) -> Response:
    """Register the receiver in the body, {"address", "ca_pem"?}, for the channels of the caller only."""

    def check(request: Request, context: ServiceContext) -> None:
        require_account(accounts, request)

    if refused := service.refusal(request, check, "class"):
        return refused
    try:
        if request.method != "POST":
            allowed = refuse("methodNotAllowed", method=request.method[:20], allowed="POST")
            raise ApiError(allowed.rows, [("Allow", "POST")])
        fields = read_json(as_body(request.body), _MAX_BODY_SIZE)
        address, ca_pem = fields.get("address"), fields.get("ca_pem")
        if not isinstance(address, str) or not isinstance(ca_pem, str | None):
            raise ValueError('the body must be {"address": "https://...", "ca_pem": a certificate in PEM, or null}')
        endpoint = service.register_receiver(require_account(accounts, request).email, address, ca_pem)
        return json_response(Query(), {"receiver": endpoint})
    except ApiError as error:
        return error_response(error)
    except ValueError as error:
        return error_response(refuse("badRequest", message=str(error)))
