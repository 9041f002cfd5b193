"""Every call of the control interface, and what of a service they change."""

from typing import Any

from svc_notebooks.server.service import Service

CALLS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "tokens", {"user": "eve@svc.example"}),
    ("GET", "clock", None),
    ("POST", "clock", {"advance": "7d"}),
    ("POST", "faults", {"preset": "flaky wifi"}),
    ("GET", "faults", None),
    ("DELETE", "faults", None),
    ("POST", "limits", {"user": "ada@svc.example", "requests": 1}),
    ("GET", "limits", None),
    ("POST", "agenda", {}),
    ("GET", "agenda", None),
    ("POST", "domains", {"domain": "evil.example"}),
    ("POST", "trust", {"ca_pem": "x"}),
    ("POST", "files/x", {"abusive": True}),
    ("POST", "clients", {"name": "evil"}),
    ("POST", "service_accounts", {"name": "evil"}),
    ("GET", "journal", None),
    ("GET", "deliveries", None),
    ("GET", "outbox", None),
    ("POST", "snapshot", {}),
    ("POST", "restore", {"id": "x"}),
    ("GET", "state", None),
    ("PUT", "state", {}),
    ("POST", "class/revoke", {"user": "ada@svc.example"}),
    ("POST", "class/renew", {"user": "ada@svc.example"}),
    ("POST", "reset", None),
    ("OPTIONS", "reset", None),
    ("GET", "nothing", None),
]


def control_state(service: Service) -> tuple[object, ...]:
    interface_rows = [row for row in service.journal() if row["operation"] != "control"]
    changes = service.fault_plans(), service.limits(), service.clock.is_virtual
    return (*changes, len(interface_rows), service._context.store.users.emails())
