"""Controls a sandbox: faults, rate limits, domains, the agenda, snapshots."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frames.frames import frame
from ..frames.schemas import AGENDA, DOMAINS, FAULT_PLANS, FAULT_PRESETS, LIMITS

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.http.messages import JSON, JSONObject
    from ...server.service import Service

_MATCH = frozenset({"operation", "method", "path", "user", "nth"})


def _fault_steps(fields: Mapping[str, JSON], times: int) -> list[JSONObject]:
    if not fields:
        return []
    match: JSONObject = {key: value for key, value in fields.items() if key in _MATCH}
    action: JSONObject = {key: value for key, value in fields.items() if key not in _MATCH}
    return [{"match": match, "action": action, "times": times}]


def fault_presets() -> DataFrame:
    """The plans of faults that have a name, for `lab.faults("flaky wifi")`.

    Columns: name, teaches (str), steps (Int64), what (str: what the steps do, one after the other).

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
    """What a sandbox does to its service beside using it."""

    service: Service

    def faults(
        self, *steps: JSONObject | str, in_order: bool = False, times: int = 1, **one: Any
    ) -> AbstractContextManager[None]:
        """Let things go wrong inside a with block; a step that never happened is an error at its end.

        Args:
            *steps: Steps as the control interface takes them, with match, times and action; or the name of a
                preset, as `fault_presets()` lists them, of which at least one step must happen.
            in_order: A step waits until the one before it has happened.
            times: How often the step that is given by name happens.
            **one: One step by its names: operation, method, path (a glob), user and nth (of those
                requests, from 1) say when; status (with headers, body), reset="before" or "after",
                cut_request_after and cut_response_after (bytes), delay (seconds on the sandbox's clock) and
                expire="session" say what.

        Raises:
            ValueError: There is no such match, action or preset.
            AssertionError: At the end of the block: a step never happened; how near it came is said.

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
        return self.service.faults(*steps, *_fault_steps(one, times), in_order=in_order)

    def fault_plans(self) -> DataFrame:
        """The faults that are in force, one row for each step, with how often each has happened.

        Columns: plan, preset (str), step (Int64, from 0), waits_for, does (str), times, seen (Int64: requests that
        it was for), fired (Int64).

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
        """Let a user make so many requests within a time, as `per` says ("60s", 90); None lifts the limit.

        What is beyond it is refused with 403 `userRateLimitExceeded` and Retry-After, which our client obeys. The time
        is the sandbox's: for a client outside of this kernel, a clock that stands still has to be moved.

        Returns:
            All limits that were set: user (str), requests (Int64), per (Float64, seconds), spent (Int64, in the
            window that is open), until (datetime64[ms, UTC], when it closes).

        Raises:
            ValueError: The number or the time is none.

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
        """The limits that `limit` has set; the columns are those of its result."""
        return frame(LIMITS, self.service.limits())

    def register_domain(self, name: str) -> DataFrame:
        """Register the domain of a receiving URL, so that notification channels may use addresses of it.

        It stands for the verification of the domain and its registration in the project's console. A `receiver()` of
        this kernel registers its own. A domain below a registered one is another domain.

        Args:
            name: A host name or an IP address alone, such as "hooks.example.com": no scheme, port or path.

        Returns:
            All domains that are registered now, those of `Policy(verified_domains=...)` first: domain (str, in ASCII
            and lower case).

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
        """The domains that notification channels may use; the columns are those of `register_domain`."""
        return frame(DOMAINS, [{"domain": domain} for domain in self.service.domains()])

    def trust(self, pem: str) -> None:
        """Let deliveries trust further certificate authorities and apply revocation lists, beside the system's.

        A channel's address needs a valid certificate: without this, one of an unknown authority is refused at
        delivery, and `deliveries()` says why. A `receiver()` of this kernel has its own authority trusted.

        Args:
            pem: Certificates, revocation lists or both, in PEM. What was added stays until the sandbox ends.

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
        """What ends or is sent by itself, in the order of time: from now on, or between two instants.

        With `since`, an instant before a move of the clock, it tells what that move has brought about, as far as the
        service still remembers it.

        Columns: time (datetime64[ms, UTC]), what (str: upload expires, channel expires, token expires, message is
        sent), user, subject, detail (str).

        >>> lab = svc.sandbox()
        >>> upload = svc.start_upload(b"x" * 600_000, name="film.mp4", chunk_size=262_144)
        >>> upload.send_chunk()["stored"].tolist()
        [262144]
        >>> lab.agenda()[["what", "subject", "detail"]].values.tolist()
        [['upload expires', 'film.mp4', '262,144 of 600,000 bytes']]
        """
        return frame(AGENDA, self.service.agenda(_instant(since), _instant(until)))

    def snapshot(self) -> str:
        """Keep the service's whole state; `restore` with what this returns brings it back."""
        return self.service.snapshot()

    def restore(self, snapshot: str) -> None:
        """Put the service back into the state that `snapshot` kept.

        Raises ValueError for what `snapshot` never gave.
        """
        self.service.restore(snapshot)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the service's whole state to one file, which `open_sandbox` opens again, here or elsewhere.

        A path that has the same state is left alone, so the same cell can run again. There are digests of tokens in
        the file, and no token.

        Args:
            overwrite: Replace a saved sandbox with another state. It is kept beside the new one as `.bak`; whatever
                breaks, one of the two is whole. A file that is not a saved sandbox is never replaced.

        Raises:
            PathExists: The path has another state or another file, which was left as it is; it is also a
                FileExistsError.
            OSError: It cannot be written; what was there is as it was.

        >>> lab = svc.sandbox()
        >>> path = lab.save(folder / "lesson.svc")
        >>> made = svc.upload(b"more")
        >>> lab.save(path, overwrite=True) == path
        True
        """
        return self.service.save(Path(path).expanduser(), overwrite=overwrite)


def _instant(moment: str | datetime | None) -> datetime | None:
    from ...core.clock import parse_time

    return parse_time(moment) if isinstance(moment, str) else moment
