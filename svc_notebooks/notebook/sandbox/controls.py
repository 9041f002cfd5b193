"""Controls the service of a sandbox with faults, rate limits, domains, the agenda and snapshots."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frames.frames import frame
from ..frames.schemas import AGENDA, DOMAINS, FAULT_PLANS, FAULT_PRESETS, LIMITS

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.http.messages import JSONObject
    from ...server.service import Service

_MATCH = frozenset({"operation", "method", "path", "user", "nth"})


def fault_presets() -> DataFrame:
    """List the presets of faults, for `lab.faults("flaky wifi")`.

    Columns: name, teaches (str), steps (Int64), what (str: the effects of the steps, in order).

    >>> svc.fault_presets()["name"].tolist()[:3]
    ['flaky wifi', 'lost receipt', 'expired session']
    """
    from ...core.faults.presets import PRESETS

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


class SandboxControls:
    """The methods of a sandbox that control its service."""

    service: Service

    def faults(
        self, *steps: JSONObject | str, in_order: bool = False, times: int = 1, **one: Any
    ) -> AbstractContextManager[None]:
        """Inject faults inside a with block. A step that has not happened is an error at the end of the block.

        Args:
            *steps: Steps of the control interface, with match, times and action; or the name of a preset of
                `fault_presets()`, of which at least one step must happen.
            in_order: A step waits until the one before it has happened.
            times: The number of times that the step of the keyword arguments happens.
            **one: One step as keyword arguments. operation, method, path (a glob), user and nth (of the matching
                requests, from 1) select the request; status (with headers, body), reset="before" or "after",
                cut_request_after and cut_response_after (bytes), delay (seconds on the sandbox's clock) and
                expire="session" are the fault.

        Raises:
            ValueError: There is no such match, action or preset.
            AssertionError: At the end of the block, if a step has not happened; the message has the reason.

        >>> lab = svc.sandbox()
        >>> chosen = svc.generate_ids(1)["id"][0]
        >>> with lab.faults(operation="files.create", reset="after"):
        ...     made = svc.upload(b"hello", file_id=chosen)
        >>> svc.exchanges()["error"].notna().tolist()
        [False, True, False, False]
        >>> with lab.faults("rate limit"):
        ...     svc.read(made)
        b'hello'
        """
        if one:
            match: JSONObject = {key: value for key, value in one.items() if key in _MATCH}
            action: JSONObject = {key: value for key, value in one.items() if key not in _MATCH}
            steps += ({"match": match, "action": action, "times": times},)
        return self.service.faults(*steps, in_order=in_order)

    def fault_plans(self) -> DataFrame:
        """List the active faults, a row for each step.

        Columns: plan, preset (str), step (Int64, from 0), waits_for, does (str), times, seen (Int64: matching
        requests), fired (Int64: times that the step has happened).

        >>> lab = svc.sandbox()
        >>> with lab.faults(operation="files.list", nth=2, status=503):
        ...     files = svc.files(), svc.files()
        ...     lab.fault_plans()[["waits_for", "does", "seen", "fired"]].values.tolist()
        [['the 2nd request of files.list', 'answers 503', 3, 1]]
        """
        from ...core.faults.plan import Action, Match

        rows = [
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
            for plan in self.service.fault_plans()
            for number, step in enumerate(plan["steps"])
        ]
        return frame(FAULT_PLANS, rows)

    def limit(
        self, user: str | None = None, requests: int | None = None, per: str | float | timedelta = "60s"
    ) -> DataFrame:
        """Limit a user to a number of requests in a time window (`per`, such as "60s" or 90). None removes the limit.

        Further requests are refused with 403 `userRateLimitExceeded` and Retry-After, which the client of this package
        obeys. The time is that of the sandbox's clock; a virtual clock must be moved for clients outside this kernel.

        Returns:
            One row for each limit: user (str), requests (Int64), per (Float64, seconds), spent (Int64, requests in the
            current window), until (datetime64[ms, UTC], its end).

        Raises:
            ValueError: The number or the time is not valid.

        >>> lab = svc.sandbox()
        >>> lab.limit(requests=2, per="60s")["user"].tolist()
        ['ada@svc.example']
        >>> [len(svc.files()) for _ in range(3)]
        [0, 0, 0]
        >>> lab.clock.now().isoformat()
        '2026-01-05T09:01:00+00:00'
        """
        self.service.limit(user, requests, per)
        return self.limits()

    def limits(self) -> DataFrame:
        """List the limits, with the columns of `limit`."""
        return frame(LIMITS, self.service.limits())

    def register_domain(self, name: str) -> DataFrame:
        """Register the domain of a receiving URL, so that notification channels may use its addresses.

        It takes the place of verifying the domain and registering it in the project's console. A `receiver()` of this
        kernel registers its own domain. A subdomain of a registered domain must be registered, too.

        Args:
            name: A host name or an IP address, such as "hooks.example.com", without scheme, port and path.

        Returns:
            All registered domains, those of `Policy(verified_domains=...)` first: domain (str, in ASCII and lower
            case).

        Raises:
            TypeError, ValueError: `name` is not a domain; nothing was registered.

        See docs/rules.md#a8-05 (A8-05).

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
        """List the domains that notification channels may use, with the columns of `register_domain`."""
        return frame(DOMAINS, [{"domain": domain} for domain in self.service.domains()])

    def trust(self, pem: str) -> None:
        """Add certificate authorities that deliveries trust, and revocation lists, to those of the system.

        The server at a channel's address needs a valid certificate. Delivery fails for one of an unknown authority,
        and `deliveries()` has the reason. The authority of a `receiver()` of this kernel is trusted.

        Args:
            pem: Certificates, revocation lists or both, in PEM. They stay until the sandbox is closed.

        Raises:
            TypeError, ValueError: `pem` has no certificate and no revocation list; nothing was added.

        See docs/rules.md#a8-04b (A8-04b).

        >>> lab = svc.sandbox()
        >>> rx = svc.receiver()
        >>> lab.trust(rx.ca_pem)
        >>> rx.close()
        """
        if not isinstance(pem, str):
            raise TypeError(f"pem must be a str with certificates in PEM, not {type(pem).__name__}")
        self.service.trust(pem)

    def agenda(self, since: str | datetime | None = None, until: str | datetime | None = None) -> DataFrame:
        """List expirations and deliveries by time, from now on or between two instants.

        With `since`, an instant before the clock was moved, the list has the effects of that move, as far as the
        service still remembers them.

        Columns: time (datetime64[ms, UTC]), what (str: upload expires, channel expires, token expires, message is
        sent), user, subject, detail (str).

        >>> lab = svc.sandbox()
        >>> upload = svc.start_upload(b"x" * 600_000, name="film.mp4", chunk_size=262_144)
        >>> upload.send_chunk()["stored"].tolist()
        [262144]
        >>> lab.agenda()[["what", "subject", "detail"]].values.tolist()
        [['upload expires', 'film.mp4', '262,144 of 600,000 bytes']]
        """
        from ...core.clock import parse_time

        first, last = (parse_time(moment) if isinstance(moment, str) else moment for moment in (since, until))
        return frame(AGENDA, self.service.agenda(first, last))

    def snapshot(self) -> str:
        """Store the service's whole state, and return its name for `restore`."""
        return self.service.snapshot()

    def restore(self, snapshot: str) -> None:
        """Restore the state that `snapshot` has stored. Raises ValueError for an unknown name."""
        self.service.restore(snapshot)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the service's whole state to one file, which `open_sandbox` opens on this or another machine.

        A file with the same state is not changed, so the same cell can run again. The file has digests of tokens, and
        no token.

        Args:
            overwrite: Replace a saved sandbox with another state. It is kept beside the new one as `.bak`, and one of
                the two is complete at any time. A file that is not a saved sandbox is never replaced.

        Raises:
            PathExists: The path has another state or another file, which is kept; it is also a FileExistsError.
            OSError: The file cannot be written; an existing file is not changed.

        >>> lab = svc.sandbox()
        >>> path = lab.save(folder / "lesson.svc")
        >>> made = svc.upload(b"more")
        >>> lab.save(path, overwrite=True) == path
        True
        """
        return self.service.save(Path(path).expanduser(), overwrite=overwrite)
