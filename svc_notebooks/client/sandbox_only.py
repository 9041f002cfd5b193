"""The attributes that only a sandbox has, with what to use at a session of another service instead."""

from __future__ import annotations

_IN_A_SANDBOX = "try it in svc.sandbox()"
_AT_THE_DEPLOYMENT = "the deployment decides this; try it in svc.sandbox()"
_TOKEN = "get an access token from the deployment, and pass it to svc.connect(base_url, token)"
_CONSOLE = "register it in the console of the deployment"

INSTEAD = {
    "access_token": _TOKEN,
    "advance": "wait, or use the virtual clock of svc.sandbox()",
    "agenda": _IN_A_SANDBOX,
    "create_access_token": _TOKEN,
    "deliver": "a deployment delivers by itself; call receiver.wait_for('update')",
    "deliveries": "svc.notifications() lists the messages that have arrived",
    "domains": _CONSOLE,
    "fault_plans": _IN_A_SANDBOX,
    "faults": "session.fault('status=503') injects one fault, if `svc-notebooks serve` runs the service",
    "flag": _AT_THE_DEPLOYMENT,
    "fork": _IN_A_SANDBOX,
    "freeze": "the clock of the system does not stop; use the clock of svc.sandbox()",
    "journal": "svc.exchanges() lists the requests that this session has sent",
    "limit": _AT_THE_DEPLOYMENT,
    "limits": _AT_THE_DEPLOYMENT,
    "number": _IN_A_SANDBOX,
    "oauth_client": _CONSOLE,
    "open_with": "the user opens the file with the application, in the file picker of the deployment",
    "outbox": _IN_A_SANDBOX,
    "register_domain": _CONSOLE,
    "restore": _IN_A_SANDBOX,
    "save": "svc.download(...) saves files",
    "serve": "the service runs already, at session.base_url",
    "service": _IN_A_SANDBOX,
    "service_account": "create it in the console of the deployment; svc.service_account_token(key, scopes) signs it in",
    "set": "the clock of the system cannot be set; use the virtual clock of svc.sandbox()",
    "sign_in": "svc.connect(base_url, token) with an access token of the other user",
    "snapshot": _IN_A_SANDBOX,
    "trust": "the deployment decides which certificates are valid; use one of a public authority",
}
"""Maps attributes of a sandbox and of its clock to what a program does at another service."""


def missing_attribute(owner: object, name: str, *, sandbox: bool = False) -> AttributeError:
    """Return the error for an attribute that a session or its clock does not have.

    `sandbox` is true for the session of a sandbox, which is one attribute away.
    """
    kind = type(owner).__name__
    if name not in INSTEAD:
        return AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=owner)
    if sandbox:
        return AttributeError(f"{name!r} is an attribute of the sandbox, not of its session: use lab.{name}")
    return AttributeError(f"only a sandbox has {name!r}, and this session belongs to another service: {INSTEAD[name]}")
