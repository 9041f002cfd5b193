"""Starts a notebook with a service in this kernel (sandbox) or elsewhere (connect)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...core.brand_names import Names
from ...core.policy import Policy
from ..arguments import choice
from ..current_session import current_session as current_session, make_current
from .sandbox import Sandbox as Sandbox, new_sandbox, saved_sandbox
from .sandbox_numbers import explain_not_found, next_number, seed_of, served_at

if TYPE_CHECKING:
    from ...client.session import Session


def sandbox(
    path: str | os.PathLike[str] | None = None,
    *,
    seed: int | Literal["auto"] | None = "auto",
    policy: Policy | None = None,
    names: Names | None = None,
    clock: Literal["virtual", "system"] = "virtual",
) -> Sandbox:
    """A whole service in this kernel, signed in, with no socket and no thread.

    The calls of this package use its session from now on. Threads may share it; a process that was forked from this
    one cannot use it, and says so with Unsupported: call `lab.serve()` here and `connect()` there.

    Args:
        path: A folder that keeps everything, to be opened again later: one that a sandbox or `svc-notebooks serve`
            made, or one that is empty or does not exist. None keeps everything in memory.
        seed: The same seed gives the same ids and delays at every run; None gives random ones. "auto" is a seed of
            its own for each sandbox of a kernel, in the order in which they are opened: a kernel that is restarted
            repeats itself, and no row of one sandbox names a file of another. Two sandboxes with the same number as
            seed draw the same ids.
        policy: How the service behaves where the interface leaves it open. None is `Policy(browser_sign_in="choose")`:
            whoever opens a link in a browser says who they are.
        names: The brand names on the wire.
        clock: "virtual" stands still until `lab.clock.advance("8d")` or a wait moves it; "system" is
            the time of this machine.

    Raises:
        OSError: The folder is not empty and no store, or it is damaged, incomplete or in use; nothing in it has
            changed. The message says what to do.

    Warns:
        UserWarning: Files in the folder were moved aside, or its database was upgraded; once for each.

    >>> with svc.sandbox() as lab:
    ...     svc.upload(b"a,b", name="table.csv")["size"].tolist()
    [3]
    """
    choice("clock", clock, ("virtual", "system"))
    if not (seed is None or seed == "auto" or isinstance(seed, int)):
        raise TypeError(f'seed must be a whole number, "auto" or None, not {seed!r}')
    number = next_number()
    lab = new_sandbox(
        None if path is None else Path(path).expanduser(),
        number,
        seed=seed_of(number) if seed == "auto" else seed,
        policy=policy or Policy(browser_sign_in="choose"),
        names=names or Names(),
        virtual=clock == "virtual",
    )
    lab.follow(make_current(lab.session))
    for note in lab.service.notes:
        warnings.warn(note, stacklevel=2)
    return lab


def open_sandbox(path: str | os.PathLike[str]) -> Sandbox:
    """The sandbox that `lab.save(path)` wrote to a file, as it was, in memory; calls use its session from now on.

    The file stays as it is. The sandbox has the clock, the seed, the policy and the names that it was saved with.
    Where other sandboxes were opened before in this kernel, it draws ids that none of them draws.
    Its channels are stopped: a file can be opened many times, and whoever watched was told once.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no saved sandbox, or it is damaged, or another version wrote it; nothing has changed.

    >>> from tempfile import mkdtemp
    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="kept.txt")
    >>> path = lab.save(mkdtemp() + "/lesson.svc")
    >>> again = svc.open_sandbox(path)
    >>> svc.files()["name"].tolist()
    ['kept.txt']
    """
    lab = saved_sandbox(Path(path).expanduser(), next_number())
    lab.follow(make_current(lab.session))
    return lab


def connect(
    base_url: str | None = None,
    token: str | Callable[[], str] | None = None,
    *,
    names: Names | None = None,
    verify: bool | str | Path | None = None,
    proxies: Mapping[str, str] | None = None,
) -> Session:
    """A session with a service elsewhere; the calls of this package use it from now on.

    Nothing is sent yet. Threads may share it. A forked process (`multiprocessing` on Linux) has the session, too, with
    connections of its own; a spawned one (spawn, forkserver, joblib) calls `connect()` itself.

    Args:
        base_url: The service's address; None takes it from the environment's `SVC_BASE_URL`.
        token: An access token, or a function that gives one (asked again when one has expired); None
            takes it from the environment's `SVC_TOKEN`. It is never shown.
        names: The brand names that this deployment uses on the wire.
        verify: False accepts every certificate, a path names the certificates to accept; None is the
            machine's choice.
        proxies: Proxies by scheme, in place of those of the environment.

    Raises:
        ValueError: There is no address or no token, or one of them cannot be right.

    >>> svc.connect("https://api.example.org", token="secret")
    <Session https://api.example.org>
    """
    from ...client.session import Session

    session = Session(
        _address(base_url),
        _token(token),
        names=names or Names(),
        verify=verify,
        proxies=proxies,
    )
    session.explain = lambda error: explain_not_found(error, served_at(session.base_url))
    make_current(session)
    return session


def _address(base_url: str | None) -> str:
    address = os.environ.get("SVC_BASE_URL") if base_url is None else base_url
    if not address:
        raise ValueError(_MISSING.format(argument="base_url", variable="SVC_BASE_URL"))
    return address


def _token(token: str | Callable[[], str] | None) -> str | Callable[[], str]:
    access_token = os.environ.get("SVC_TOKEN") if token is None else token
    if not access_token:
        raise ValueError(_MISSING.format(argument="token", variable="SVC_TOKEN"))
    return access_token


_MISSING = (
    "{argument} is missing: call connect({argument}=...), or set {variable} in the environment before the"
    " kernel starts. sandbox() needs neither."
)
