"""Starts a notebook with a service in this kernel or elsewhere."""

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
from .sandbox import Sandbox as Sandbox, load_sandbox, new_sandbox
from .sandbox_numbers import explain_not_found, next_number, sandbox_at, seed_of

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
    """Start a whole service in this kernel, without a socket and a thread, and sign in to it.

    The calls of this package use its session from now on. Threads may share it. A process that was forked from this
    one cannot use it and gets an Unsupported error; call `lab.serve()` here and `connect()` there.

    Args:
        path: A folder for all data, to be opened again later. It is one of a sandbox or of `svc-notebooks serve`, or it
            is empty or does not exist. None: the data are in memory.
        seed: The same seed gives the same ids and delays in every run; None gives random ones. "auto" gives each
            sandbox of a kernel its own seed, in the order in which they are opened, so that a restarted kernel repeats
            the ids, and no row of one sandbox names a file of another. Two sandboxes with the same seed have the same
            ids.
        policy: The choices that the interface leaves open. None is `Policy(browser_sign_in="choose")`, with which a
            visitor of a link selects a user.
        names: The brand names on the wire.
        clock: "virtual" changes only by `lab.clock.advance("8d")` and by waits; "system" is the time of this machine.

    Raises:
        OSError: The folder is not empty and not a store, or the store is damaged, incomplete or in use. Nothing in it
            has changed; the message has the remedy.

    Warns:
        UserWarning: Files in the folder were moved aside, or its database was upgraded; a warning for each.

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
    """Open a sandbox in memory from a file of `lab.save(path)`. Calls use its session from now on.

    The file is not changed. The sandbox has the clock, the seed, the policy and the names of the saved one. If other
    sandboxes were opened before in this kernel, its new ids differ from theirs. Its channels are stopped, because a
    file can be opened many times and a receiver must be notified once.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not a saved sandbox, is damaged, or is of another version; nothing has changed.

    >>> from tempfile import mkdtemp
    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="kept.txt")
    >>> path = lab.save(mkdtemp() + "/lesson.svc")
    >>> again = svc.open_sandbox(path)
    >>> svc.files()["name"].tolist()
    ['kept.txt']
    """
    lab = load_sandbox(Path(path).expanduser(), next_number())
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
    """Return a session with a service elsewhere. The calls of this package use it from now on.

    No request is sent. Threads may share it. A forked process (`multiprocessing` on Linux) has the session, too, with
    connections of its own; a spawned one (spawn, forkserver, joblib) calls `connect()` itself.

    Args:
        base_url: The service's address; None: the variable `SVC_BASE_URL`.
        token: An access token, or a function that returns one (called again when it has expired); None: the variable
            `SVC_TOKEN`. It is never displayed.
        names: The brand names of this deployment on the wire.
        verify: False accepts every certificate; a path has the accepted authorities; None: those of this machine.
        proxies: Proxies by scheme, in place of those of the environment.

    Raises:
        ValueError: The address or the token is missing or not valid.

    >>> svc.connect("https://api.example.org", token="secret")
    <Session https://api.example.org>
    """
    from ...client.session import Session

    address = os.environ.get("SVC_BASE_URL") if base_url is None else base_url
    if not address:
        raise ValueError(_MISSING.format(argument="base_url", variable="SVC_BASE_URL"))
    access_token = os.environ.get("SVC_TOKEN") if token is None else token
    if not access_token:
        raise ValueError(_MISSING.format(argument="token", variable="SVC_TOKEN"))
    session = Session(address, access_token, names=names or Names(), verify=verify, proxies=proxies)
    session.explain = lambda error: explain_not_found(error, sandbox_at(session.base_url))
    make_current(session)
    return session


_MISSING = (
    "{argument} is missing; call connect({argument}=...), or set {variable} in the environment before the"
    " kernel starts. sandbox() needs neither."
)
