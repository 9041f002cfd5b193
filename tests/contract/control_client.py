"""What tests ask of the inside of a service: through the control interface where a deployment has one.

The names are those of `Service`, so that a test reads the same. What is not there is "not testable from
outside": the test that asks for it is skipped, and no list has to be kept.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import pytest

from svc_notebooks.core.times import parse_time

Call = Callable[..., Any]


def skip_untestable(requirement: str) -> NoReturn:
    """Give a test up, for nobody outside can do this."""
    pytest.skip(f"needs {requirement}")


class NoControl:
    """The inside of a deployment without a control interface: nothing but the tokens that we were given."""

    def __init__(self, tokens: Mapping[str, str], first: str, meet: Callable[[str, str], None]) -> None:
        self._tokens, self._first, self._meet = tokens, first, meet
        self.clock = SystemClock()

    def sign_in(self, user: str | None = None, *, token: str | None = None, **more: Any) -> str:
        if token or any(value not in (None, "notebook", False) for value in more.values()):
            skip_untestable("tokens of other scopes, clients or lifetimes")
        access_token = self._tokens.get(user or self._first)
        if access_token is None:
            which = "--second-token" if len(self._tokens) < 2 else "a third one"
            skip_untestable(f"a token of another person ({which})")
        self._meet(access_token, user or self._first)
        return access_token

    def undo(self) -> None:
        """Nothing was done."""

    def __getattr__(self, name: str) -> NoReturn:
        skip_untestable(f"the inside of the service: {name}")


class SystemClock:
    """The clock of a deployment, which is taken to go as ours does, and cannot be moved."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def __getattr__(self, name: str) -> NoReturn:
        skip_untestable("a clock that can be moved")


class ControlClient:
    def __init__(
        self, call: Call, first: str, meet: Callable[[str, str], None], hide: Callable[[str | None], None]
    ) -> None:
        self._call = call
        self._first = first
        self._meet = meet
        self._hide = hide
        self._limited: set[str] = set()
        self._tokens: dict[str, str] = {}
        self.clock = Clock(call)

    def sign_in(
        self,
        user: str | None = None,
        *,
        scopes: Any = None,
        client: str = "notebook",
        service_account: bool = False,
        expires_in: float | None = None,
        token: str | None = None,
    ) -> str:
        if token:
            skip_untestable("a token of our choice")
        body: dict[str, Any] = {"user": user or self._first, "client": client}
        body |= {} if scopes is None else {"scopes": list(scopes)}
        body |= {"service_account": True} if service_account else {}
        if expires_in is not None:
            return self._new({**body, "expires_in": expires_in})
        key = json.dumps(body, sort_keys=True)
        if key not in self._tokens:
            self._tokens[key] = self._new(body)
            if scopes is None:
                self._meet(self._tokens[key], str(body["user"]))
        return self._tokens[key]

    def _new(self, body: Mapping[str, Any]) -> str:
        access_token: str = self._call("POST", "tokens", body)["access_token"]
        self._hide(access_token)
        return access_token

    def register_domain(self, domain: str) -> str:
        return str(self._call("POST", "domains", {"domain": domain})["domain"])

    def trust(self, pem: str) -> None:
        self._call("POST", "trust", {"ca_pem": pem})

    def flag(self, file_id: str, *, abusive: bool) -> bool:
        return bool(self._call("POST", f"files/{file_id}", {"abusive": abusive}))

    def limit(self, user: str, requests: int | None, per: Any = "60s") -> Any:
        step = per.total_seconds() if isinstance(per, timedelta) else per
        row = self._call("POST", "limits", {"user": user, "requests": requests, "per": step})
        self._limited.add(user)
        return row

    def undo(self) -> None:
        for user in self._limited:
            self._call("POST", "limits", {"user": user, "requests": None})
        self._limited = set()

    def oauth_client(
        self, name: str, redirect_uris: Iterable[str] = (), *, public: bool = False, base_url: str | None = None
    ) -> Any:
        made = self._call("POST", "clients", {"name": name, "redirect_uris": list(redirect_uris), "public": public})
        self._hide(made.get("client_secret"))
        return made

    def service_account(
        self, name: str, *, delegation: Iterable[str] = (), client: str = "notebook", base_url: str | None = None
    ) -> Any:
        body = {"name": name, "delegation": list(delegation), "client": client}
        made = self._call("POST", "service_accounts", body)
        self._hide(made.get("private_key"))
        return made

    def deliver(self, timeout: float | None = None) -> None:
        self.clock.advance(0)  # a clock that is moved lets everything happen that is due

    def deliveries(self) -> list[Any]:
        return list(self._call("GET", "deliveries")["deliveries"])

    def outbox(self) -> list[Any]:
        return list(self._call("GET", "outbox")["outbox"])

    def journal(self) -> list[Any]:
        return list(self._call("GET", "journal")["journal"])

    @contextmanager
    def faults(self, *steps: Any, in_order: bool = False) -> Iterator[None]:
        if self._call("GET", "faults")["plans"]:
            skip_untestable("that no faults of others are in force")
        self._call("POST", "faults", {"steps": list(steps), "in_order": in_order})
        try:
            yield
        finally:
            plans = self._call("GET", "faults")["plans"]
            self._call("DELETE", "faults")
        if not all(step["fired"] for plan in plans for step in plan["steps"]):
            raise AssertionError("this fault never happened")

    def __getattr__(self, name: str) -> NoReturn:
        skip_untestable(f"more of the inside than the control interface gives: {name}")


class Clock:
    is_virtual = True

    def __init__(self, call: Call) -> None:
        self._call = call

    def now(self) -> datetime:
        return parse_time(self._call("GET", "clock")["now"])

    def advance(self, duration: str | float | timedelta) -> datetime:
        step = duration.total_seconds() if isinstance(duration, timedelta) else duration
        return parse_time(self._call("POST", "clock", {"advance": step})["now"])

    def __getattr__(self, name: str) -> NoReturn:
        skip_untestable(f"more of the clock than the control interface gives: {name}")
