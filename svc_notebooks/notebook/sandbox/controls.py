"""Methods of a sandbox that control its service (faults, limits, domains, agenda, snapshots), and its users."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ContextDecorator
from datetime import date
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors.errors import warn_caller
from ...core.errors.public_calls import public_methods, unknown_argument
from ...core.fault_plan import ACTION_KEYS, ACTIONS, MATCH_KEYS, PRESETS, Action, Match
from ...core.http.messages import JSONObject
from ...core.suggestions import missing_attribute
from ...core.time_arguments import instant_of, parse_duration
from ..arguments import File, file_ids
from ..frames import AGENDA, DOMAINS, FAULT_PLANS, FAULT_PRESETS, LIMITS, frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.time_arguments import Duration
    from ...server.dispatch.faults import ArmedPlan
    from ...server.service import Service


def fault_steps(steps: Sequence[Any], one: Mapping[str, Any], times: int | None) -> list[JSONObject | str]:
    """Return the fault steps of positional arguments, and of the keyword arguments `one` as a last step.

    Raises TypeError for an argument of another type, for an unknown keyword argument, or without any argument.
    """
    for step in steps:
        if not isinstance(step, str | dict):
            kinds = "names of presets, texts such as 'status=503' or dicts"
            raise TypeError(f"faults() takes {kinds} by position, not {type(step).__name__}")
    known = [*MATCH_KEYS, *ACTION_KEYS, "reason", "retry_after", "in_order", "times"]
    for name in one:
        if name not in known:
            raise TypeError(unknown_argument("faults", name, known))
    if not steps and not one:
        raise TypeError("faults() needs a preset such as 'lost receipt', or a fault such as status=503")
    if not one:
        if times is not None:
            raise TypeError(f"times={times} needs a fault as keyword arguments, such as status=503, times={times}")
        return list(steps)
    if "retry_after" in one:
        seconds = ceil(parse_duration(one["retry_after"], "retry_after").total_seconds())
        one = {"status": 429, **one, "headers": {"Retry-After": seconds, **one.get("headers", {})}}
    if "reason" in one:
        status, reason = one.get("status", 403), one["reason"]
        errors = [{"domain": "global", "reason": reason, "message": f"A fault of the sandbox: {reason}"}]
        one = {"status": status, "body": {"error": {"code": status, "message": reason, "errors": errors}}, **one}
    if {"body", "headers"} & one.keys() and not {*ACTIONS} & one.keys():
        one = {"status": 200, **one}
    match = {name: value for name, value in one.items() if name in MATCH_KEYS}
    action = {name: value for name, value in one.items() if name in ACTION_KEYS}
    often = 1_000_000 if "probability" in one else 1
    return [*steps, {"match": match, "action": action, "times": often if times is None else times}]


class FaultBlock(ContextDecorator):
    """Faults that happen to the requests inside of a with block, or inside of a function that they decorate.

    `code` is the call that made the faults. If the object is neither used nor displayed, a warning says that it had no
    effect. `hits` is the number of faults that have happened, when the block has ended.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[list[ArmedPlan]]], code: str) -> None:
        self._begin = begin
        self._code = code
        self._entered: list[AbstractContextManager[list[ArmedPlan]]] = []  # the innermost block last
        self._plans: list[ArmedPlan] = []
        self._noticed = False

    def __enter__(self) -> FaultBlock:
        self._noticed = True
        block = self._begin()
        self._plans = block.__enter__()
        self._entered.append(block)
        return self

    @property
    def hits(self) -> int:
        return sum(step.fired for plan in self._plans for step in plan.steps)

    def __exit__(self, *error: Any) -> bool | None:
        return self._entered.pop().__exit__(*error)

    def _recreate_cm(self) -> FaultBlock:
        """Return the context manager for each call of a decorated function (ContextDecorator)."""
        self._noticed = True
        return self

    def __repr__(self) -> str:
        self._noticed = True
        return self._advice()

    def _advice(self) -> str:
        return f"{self._code} does nothing by itself. Put requests into a block: with {self._code}: ..."

    def __del__(self) -> None:
        if not self._noticed and not sys.is_finalizing():
            warn_caller(self._advice())


def fault_plan_rows(plans: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a record for each step of the active fault plans of a service."""
    return [
        {
            "plan": plan["id"],
            "preset": plan.get("preset"),
            "step": number,
            "waits_for": str(Match.read(step.get("match", {}))),
            "does": Action.read(step["action"]).description,
            "times": step.get("times", 1),
            "seen": step["seen"],
            "fired": step["fired"],
        }
        for plan in plans
        for number, step in enumerate(plan["steps"])
    ]


def fault_presets() -> DataFrame:
    """List the predefined sequences of faults. Pass the name of a preset to `lab.faults(...)` to activate its faults.

    Returns:
        One row for each preset: name, teaches (str, what a student learns with the preset), steps (Int64, number),
        what (str, the effects of the steps, in order).

    >>> svc.fault_presets()["name"].tolist()[:3]
    ['flaky wifi', 'lost receipt', 'expired session']
    """
    rows = [
        {
            "name": preset.name,
            "teaches": preset.teaches,
            "steps": len(preset.steps),
            "what": "; ".join(preset.descriptions()),
        }
        for preset in PRESETS
    ]
    return frame(FAULT_PRESETS, rows)


@public_methods
class SandboxControls:
    """The methods of a sandbox that control its service."""

    service: Service

    def faults(
        self, *steps: JSONObject | str, in_order: bool = False, times: int | None = None, **one: Any
    ) -> FaultBlock:
        """Inject faults into the requests inside a with block.

        Every step without a probability must have happened `times` times at the end of the block, and of a preset at
        least one step. Without a with block, nothing happens, and a warning says so.

        Args:
            *steps: The names of presets of `fault_presets()`, faults as texts such as "status=503", or faults as dicts
                with the keys match, times and action of the control interface.
            in_order: If True, a step becomes active only after the step before it has happened.
            times: The number of times that the step of the keyword arguments happens; 1000 or more stand for any
                number from 1. None: once, and with a `probability` any number.
            **one: A single step as keyword arguments. operation, method, path (a glob), user, nth (number of the
                matching request, from 1) and probability (of each matching request, 0 to 1; another seed gives other
                requests) select the requests. status (with headers, retry_after, body), reset="before" or "after",
                cut_request_after and cut_response_after (bytes), delay (a duration, such as "20s") and
                expire="session" define the fault. status=403 has the reason of a rate limit, after which the client
                tries again; reason="forbidden" is another reason. A delay moves the sandbox's clock for a call of this
                kernel, which does not wait. A program that uses `serve()` waits in real time. Policy(fault_delay=
                "clock" or "sleep") changes this.

        Returns:
            A context manager, which activates the faults on entry and removes the faults on exit. Its `hits` is the
            number of faults that have happened. It is a decorator for functions, too.

        Raises:
            TypeError: A keyword argument does not exist, or there is no fault.
            ValueError: A preset, a key or an operation does not exist, or a value is not valid.
            AssertionError: A step has not happened as often at the end of the block. The message has the reason.

        >>> lab = svc.sandbox()
        >>> chosen = svc.generate_ids(1)["id"][0]
        >>> with lab.faults(operation="files.create", reset="after"):
        ...     made = svc.upload(b"hello", file_id=chosen)
        >>> svc.exchanges()["error"].notna().tolist()
        [False, True, False, False]
        >>> with lab.faults(status=429, retry_after=5) as faults:
        ...     svc.read(made)
        b'hello'
        >>> faults.hits
        1
        """
        every = fault_steps(steps, one, times)
        self.service.faults(*every, in_order=in_order)  # refuses an invalid fault now, and not when the block begins
        options = one | ({"in_order": True} if in_order else {}) | ({"times": times} if times is not None else {})
        arguments = [*map(repr, steps), *(f"{name}={value!r}" for name, value in options.items())]
        return FaultBlock(lambda: self.service.faults(*every, in_order=in_order), f"lab.faults({', '.join(arguments)})")

    def fault_plans(self) -> DataFrame:
        """List the steps of all active faults.

        Returns:
            One row for each step: plan (str, an id), preset (str, missing without a preset), step (Int64, from 0),
            waits_for (str, the request that the step matches), does (str, the fault), times (Int64, how often the step
            can happen), seen (Int64, number of matching requests), fired (Int64, how often the step has happened).

        >>> lab = svc.sandbox()
        >>> with lab.faults(operation="files.list", nth=2, status=503):
        ...     files = svc.files(), svc.files()
        ...     lab.fault_plans()[["waits_for", "does", "seen", "fired"]].values.tolist()
        [['the 2nd request of files.list', 'returns 503', 3, 1]]
        """
        return frame(FAULT_PLANS, fault_plan_rows(self.service.fault_plans()))

    def limit(self, user: str | None = None, requests: int | None = None, per: Duration = "60s") -> DataFrame:
        """Limit a user to a number of requests in each time window, or remove the limit of a user.

        The service refuses further requests with 403 `userRateLimitExceeded` and Retry-After. The client of this
        package waits as long as Retry-After requires and raises no error; `lab.faults(status=429, times=9)` does.
        Windows are measured on the sandbox's clock, and also end for a client that has waited for Retry-After in real
        time. With `svc.sandbox(policy=svc.Policy(rate_status=429))` the status is 429.

        Args:
            user: The e-mail address of the user. None: the sandbox's own user.
            requests: The largest number of requests in a window. None removes the limit.
            per: The length of the window, as a timedelta, seconds or a text such as "60s" or "1 hour".

        Returns:
            One row for each limit of the sandbox: user (str), requests (Int64), per (Float64, seconds), spent (Int64,
            requests in the current window), until (datetime64[ms, UTC], the end of the current window).

        Raises:
            ValueError: `requests` or `per` is not valid.

        >>> lab = svc.sandbox()
        >>> lab.limit(requests=2, per="60s")["user"].tolist()
        ['ada@svc.example']
        >>> [len(svc.files()) for _ in range(3)]
        [0, 0, 0]
        >>> lab.clock.now().isoformat()
        '2026-01-05T09:01:00+00:00'
        """
        if user is not None and (not isinstance(user, str) or "@" not in user):
            raise ValueError(f"user is {user!r:.60}, not an e-mail address; write limit(requests=5, per='60s')")
        self.service.limit(user, requests, per)
        return self.limits()

    def limits(self) -> DataFrame:
        """List the request limits of all users, with a row for each limit and the columns of `limit`."""
        return frame(LIMITS, self.service.limits())

    def register_domain(self, name: str) -> DataFrame:
        """Register a domain, so that notification channels may send messages to receiving URLs of this domain.

        At a real deployment, the domain is verified and registered in the project's console instead. A `receiver()` of
        this kernel registers its own domain. A subdomain of a registered domain must be registered separately.

        Args:
            name: A host name or an IP address, such as "hooks.example.com", without scheme, port and path.

        Returns:
            One row for each registered domain, beginning with the domains of `Policy(verified_domains=...)`: domain
            (str, in ASCII and lower case).

        Raises:
            TypeError, ValueError: `name` is not a domain. No domain was registered.

        See tests/rules.csv (A8-05).

        >>> lab = svc.sandbox()
        >>> lab.register_domain("Hooks.example.com")["domain"].tolist()
        ['hooks.example.com']
        >>> svc.watch_changes("https://hooks.example.com/in")["address"].tolist()
        ['https://hooks.example.com/in']
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a str such as 'hooks.example.com', not {type(name).__name__}")
        self.service.register_domain(name)
        return self.domains()

    def domains(self) -> DataFrame:
        """List the domains to which notification channels may send messages, with the column `domain` (str)."""
        return frame(DOMAINS, [{"domain": domain} for domain in self.service.domains()])

    def trust(self, pem: str) -> None:
        """Add certificate authorities or revocation lists to those that the service uses for delivering notifications.

        The server at the address of a notification channel needs a valid certificate. If its certificate authority is
        unknown, the delivery fails, and `deliveries()` shows the reason. The service always trusts the authorities of
        the system, and the authority of a `receiver()` of this kernel.

        Args:
            pem: Certificates, revocation lists or both, as PEM text. The service uses them until the sandbox is closed.

        Raises:
            TypeError, ValueError: `pem` has neither a certificate nor a revocation list. Nothing was added.

        See tests/rules.csv (A8-04b).

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver()
        >>> lab.trust(rx.ca_pem)
        >>> rx.close()
        """
        if not isinstance(pem, str):
            raise TypeError(f"pem must be a str with certificates in PEM, not {type(pem).__name__}")
        self.service.trust(pem)

    def agenda(self, since: str | date | None = None, until: str | date | None = None) -> DataFrame:
        """List the expirations and deliveries that the service has scheduled, in the order of their times.

        Args:
            since: The first instant: a time, a date (its midnight in UTC), "yesterday" or "in 2 days". None: now. An
                instant in the past also lists earlier expirations and deliveries, such as those that moving the clock
                has caused, if the service still has their records.
            until: The last instant, in the same forms. None: no end.

        Returns:
            One row for each expiration or delivery: time (datetime64[ms, UTC]), what (str: upload expires, channel
            expires, token expires, message is sent), user, subject, detail (str).

        >>> lab = svc.sandbox()
        >>> upload = svc.start_upload(b"x" * 600_000, name="film.mp4", chunk_size=262_144)
        >>> upload.send_chunk()["stored"].tolist()
        [262144]
        >>> lab.agenda()[["what", "subject", "detail"]].values.tolist()
        [['upload expires', 'film.mp4', '262,144 of 600,000 bytes']]
        """
        now = self.service.clock.now()
        first = None if since is None else instant_of("since", since, now)
        last = None if until is None else instant_of("until", until, now)
        return frame(AGENDA, self.service.agenda(first, last))

    def snapshot(self) -> str:
        """Store the complete state of the service in memory, and return the snapshot's name (str) for `restore`."""
        return self.service.snapshot()

    def restore(self, snapshot: str) -> None:
        """Restore the state of the service from the snapshot with this name. Raises ValueError for an unknown name."""
        self.service.restore(snapshot)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the complete state of the service to one file. `open_sandbox` opens the file on any machine.

        If the file already has the same state, the file is not changed, so a notebook cell can run again. The file
        contains digests of access tokens, but no access tokens. It contains the tokens of channels.

        Args:
            path: The path of the file.
            overwrite: Replace a saved sandbox that has another state. The old file is renamed with the suffix `.bak`,
                and at least one of the two files is complete at any time. A file that is not a saved sandbox is never
                replaced.

        Returns:
            The path of the file.

        Raises:
            PathExists: The path has a saved sandbox with another state, or another file. The file is not changed.
                PathExists is a subclass of FileExistsError.
            OSError: The file cannot be written. An existing file is not changed.

        >>> lab = svc.sandbox()
        >>> path = lab.save(folder / "lesson.svc")
        >>> made = svc.upload(b"more")
        >>> lab.save(path, overwrite=True) == path
        True
        """
        return self.service.save(Path(path).expanduser(), overwrite=overwrite)


@public_methods
class ServiceAccount:
    """A service account of a sandbox, which signs in with a private key.

    `lab.sign_in(account)` or any OAuth library signs the account in. `email` is the address of the account. `key` is
    the content of the key file as a dict, for example for `google.oauth2.service_account`. The key is never displayed,
    because everyone who has the key can act as the account.

    >>> lab = svc.sandbox()
    >>> robot = lab.service_account("robot")
    >>> robot.email, sorted(robot.key)[:2]
    ('robot@notebooks.iam.svc.example', ['auth_uri', 'client_email'])
    """

    def __init__(self, key: Mapping[str, Any]) -> None:
        self._key = dict(key)

    def __repr__(self) -> str:
        return f"<ServiceAccount {self.email}>"

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute("a service account", self, name)

    @property
    def email(self) -> str:
        """The e-mail address of the account. Files can be shared with this address."""
        return str(self._key["client_email"])

    @property
    def key(self) -> dict[str, Any]:
        """The content of the key file as a new dict, including the private key."""
        return dict(self._key)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the key file so that only its owner can read the file, and return its path.

        Raises PathExists if a file with other content exists and `overwrite` is False, and OSError if the file cannot
        be written.
        """
        return _save(Path(path), self._key, overwrite=overwrite)


@public_methods
class OAuthClient:
    """An OAuth client, which is an application that acts for users with their consent.

    `settings` is the content of the application's client secrets file. The secret is never displayed.

    >>> lab = svc.sandbox()
    >>> lab.oauth_client("Photo album", public=True).client_secret is None
    True
    """

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        self._settings = dict(settings)

    def __repr__(self) -> str:
        return f"<OAuthClient {self.name}: {self.client_id}>"

    @property
    def client_id(self) -> str:
        """The id of the client at the service (str)."""
        return str(self._settings["client_id"])

    @property
    def client_secret(self) -> str | None:
        """The secret of the client. None for a public client, which has no secret."""
        return self._settings.get("client_secret")

    @property
    def settings(self) -> dict[str, Any]:
        """A dict with client_id, client_secret, auth_uri, token_uri, redirect_uris and project_id."""
        return dict(self._settings)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a client secrets file for OAuth libraries, and return its path. Only the owner can read the file.

        Raises PathExists if a file with other content exists and `overwrite` is False, and OSError if the file cannot
        be written.
        """
        return _save(Path(path), {"web": self._settings}, overwrite=overwrite)


def _save(path: Path, value: Mapping[str, Any], *, overwrite: bool) -> Path:
    from ...local.saving import save_bytes

    content = json.dumps(value, indent=2).encode()
    return save_bytes(path.expanduser(), content, overwrite=overwrite, mode=0o600).path


@public_methods
class Identities:
    """The methods of a sandbox for users, service accounts, OAuth clients and flagged files."""

    service: Service
    # The base URL of the service for programs outside this kernel.
    served: str
    _session: Callable[..., Session]

    def sign_in(
        self,
        user: str | ServiceAccount | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str | OAuthClient = "notebook",
        expires_in: Duration | None = None,
        service_account: bool = False,
        subject: str | None = None,
    ) -> Session:
        """Sign in a user or a service account, and return a new session. The current session does not change.

        Args:
            user: An e-mail address. If no user has this address, a new user is created. None: the sandbox's own user.
                A `ServiceAccount` signs in with its key at the token endpoint, and `exchanges()` of the new session
                shows the request.
            scopes: Scopes as last segments such as "storage.readonly", or as full URIs. None: all scopes.
            client: The OAuth client with which the user signs in, as an id or an `OAuthClient`.
            expires_in: The time on the sandbox's clock after which the token expires, as a timedelta, seconds or a
                text such as "1h". None: never.
            service_account: If True, `user` is the address of a service account that signs in without its key.
            subject: The user for whom the service account acts. The account needs a delegation.

        Returns:
            A `Session` for the `session` argument of other functions.

        Raises:
            ValueError: A scope does not exist, the user is not an e-mail address, or an argument does not apply to a
                service account.
            NotSignedIn: The service account has no delegation to act for the subject.

        >>> lab = svc.sandbox()
        >>> reader = lab.sign_in("bob@svc.example", scopes=["storage.readonly"])
        >>> svc.token_info(session=reader)[["email", "scopes"]].values.tolist()
        [['bob@svc.example', ['storage.readonly']]]
        """
        if isinstance(user, ServiceAccount):
            return self._sign_in_account(user, scopes, expires_in, subject)
        if subject is not None:
            raise ValueError("subject needs a service account; give lab.service_account(...) as the user")
        options = {"scopes": _scopes(scopes), "client": _client_id(client), "expires_in": expires_in}
        session = self._session(self.service.sign_in(user, service_account=service_account, **options))
        session.user = str(user)
        return session

    def create_access_token(
        self,
        user: str | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str | OAuthClient = "notebook",
        expires_in: Duration | None = None,
    ) -> str:
        """Create an access token for a program outside this kernel. `lab.access_token` is the token of the own user.

        A program that renews its tokens gets a refresh token from `create_refresh_token`.

        Args:
            user: An e-mail address. If no user has this address, a new user is created. None: the sandbox's own user.
            scopes: Scopes as last segments such as "storage.readonly", or as full URIs. None: all scopes.
            client: The OAuth client of the token, as an id or an `OAuthClient`.
            expires_in: The time on the sandbox's clock after which the token expires, as for `sign_in`. None: never.

        Returns:
            The token (str), for the header `Authorization: Bearer TOKEN`.

        Raises:
            ValueError: A scope does not exist, the user is not an e-mail address, or the duration is invalid.

        >>> import requests
        >>> lab = svc.sandbox()
        >>> server, token = lab.serve(), lab.create_access_token("bob@svc.example", scopes=["storage.readonly"])
        >>> response = requests.get(f"{server.base_url}/storage/v3/files", headers={"Authorization": f"Bearer {token}"})
        >>> response.json()["files"]
        []
        """
        return self.service.sign_in(user, scopes=_scopes(scopes), client=_client_id(client), expires_in=expires_in)

    def create_refresh_token(
        self, client: str | OAuthClient, user: str | None = None, *, scopes: Iterable[str] | None = None
    ) -> str:
        """Create a refresh token, with which a program gets access tokens at the token endpoint of `serve()`.

        Args:
            client: The program, as an `OAuthClient` of `oauth_client` or its id.
            user: The e-mail address of the user who has consented, as for `create_access_token`.
            scopes: The scopes to which the user has consented. None: all scopes.

        Returns:
            The token (str), for POST /token with grant_type=refresh_token.

        Raises:
            ValueError: The client is not registered, a scope does not exist, or the user is not an e-mail address.

        >>> import requests
        >>> lab = svc.sandbox()
        >>> server, app = lab.serve(), lab.oauth_client("My program")
        >>> form = {"client_id": app.client_id, "client_secret": app.client_secret, "grant_type": "refresh_token",
        ...         "refresh_token": lab.create_refresh_token(app)}
        >>> requests.post(f"{server.base_url}/token", data=form).json()["token_type"]
        'Bearer'
        """
        return self.service.refresh_token(user, _scopes(scopes), _client_id(client))

    def _sign_in_account(
        self, account: ServiceAccount, scopes: Iterable[str] | None, expires_in: Duration | None, subject: str | None
    ) -> Session:
        from ...client.service_account import AccountToken
        from ...core.api.operations import ALL_SCOPES

        if expires_in is not None:
            raise ValueError("expires_in does not apply to a service account, whose tokens are valid for an hour")
        anonymous, base = self._session(None), self.service.policy.auth_scope_base
        key = {**account.key, "token_uri": f"{anonymous.base_url}/token"}
        scope_uris = [
            scope if scope.startswith(f"{base}/") else f"{base}/{scope}"
            for scope in (ALL_SCOPES if scopes is None else _scopes(scopes))
        ]
        session = self._session(AccountToken(key, scope_uris, subject=subject, session=anonymous), anonymous.exchanges)
        session.renew()
        return session

    def service_account(self, name: str, *, delegation: Iterable[str] = (), client: str = "notebook") -> ServiceAccount:
        """Create a service account with a private key.

        Args:
            name: The first part of the account's e-mail address, which consists of a to z, digits and "-".
            delegation: Scopes with which the account may act for users (`sign_in(account, subject=...)`).
            client: The id of the account's OAuth client. Any user of the same client may stop the notification channels
                of the account (A10-02).

        Returns:
            A `ServiceAccount` with the attributes `email` and `key`.

        Raises:
            ValueError: The name or a scope is not valid.
            ImportError: PyJWT or cryptography is missing (`pip install 'svc-notebooks[identity]'`).

        >>> lab = svc.sandbox()
        >>> robot = lab.service_account("robot")
        >>> robot
        <ServiceAccount robot@notebooks.iam.svc.example>
        >>> svc.files(session=lab.sign_in(robot)).shape[0]
        0
        """
        key = self.service.service_account(name, delegation=_scopes(delegation), client=client, base_url=self.served)
        return ServiceAccount(key)

    def oauth_client(self, name: str, *, redirect_uris: Sequence[str] = (), public: bool = False) -> OAuthClient:
        """Register an OAuth client, which is an application that acts for users with their consent.

        Args:
            name: The application's name on the consent page.
            redirect_uris: The addresses that receive authorization codes. A loopback address matches every port.
            public: If True, the application has no secret, and must use PKCE.

        Returns:
            An `OAuthClient` with the attributes `client_id` and `client_secret`.

        Raises:
            ValueError: A redirect URI is not valid.

        >>> lab = svc.sandbox()
        >>> photos = lab.oauth_client("Photo album")
        >>> session = lab.sign_in("bob@svc.example", client=photos, scopes=["storage.file"])
        """
        settings = self.service.oauth_client(name, list(redirect_uris), public=public, base_url=self.served)
        return OAuthClient(name, settings)

    def open_with(self, file: File, client: str | OAuthClient) -> None:
        """Open files with an application, as a user does in a file picker.

        An application with the scope "storage.file" then has access to these files.

        Args:
            file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            client: The application, as an OAuth client id or an `OAuthClient`.

        Raises:
            ValueError: The sandbox has no file with this id.
        """
        _for_each(file, lambda file_id: self.service.open_with(file_id, _client_id(client)))

    def flag(self, file: File, *, abusive: bool = True) -> None:
        """Flag files as malware or spam, or remove the flag.

        Only the owner can download a flagged file, and only with `acknowledge_abuse=True`.

        Args:
            file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            abusive: True sets the flag, and False removes the flag.

        Raises:
            ValueError: The sandbox has no file with this id.

        >>> lab = svc.sandbox()
        >>> file = svc.upload(b"not what it seems", name="gift.bin")
        >>> lab.flag(file)
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore", category=svc.AbusiveFileWarning):
        ...     svc.read(file, acknowledge_abuse=True)
        b'not what it seems'
        """
        _for_each(file, lambda file_id: self.service.flag(file_id, abusive=abusive))


def _client_id(client: str | OAuthClient) -> str:
    return client.client_id if isinstance(client, OAuthClient) else client


def _for_each(file: File, call: Callable[[str], bool]) -> None:
    """Call a function of the service for each file. Raises ValueError if it returns False, because there is none."""
    for file_id in file_ids(file):
        if not call(file_id):
            raise ValueError(f"there is no file {file_id!r} in this sandbox")


def _scopes(scopes: Iterable[str] | None) -> Any:
    """Return scopes as a list, or None. Raises TypeError for a str, which would be read as a list of letters."""
    if isinstance(scopes, str):
        raise TypeError(f'scopes must be a list, such as ["{scopes}"], not a str')
    return None if scopes is None else list(scopes)
