"""Opens a service in this kernel or connects to another service, and makes the new session the current session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from ...client.session import EnvironmentToken, Session, current_session as current_session, make_current
from ...core.api.operations import LIST_COST
from ...core.brand_names import Names
from ...core.errors.caller_warning import warn_caller
from ...core.policy import Policy
from ..arguments import choice
from .sandbox import Sandbox as Sandbox, load_sandbox, new_sandbox
from .sandbox_numbers import explain_not_found, next_number, sandbox_at, seed_of


def sandbox(
    path: str | os.PathLike[str] | None = None,
    *,
    seed: int | Literal["auto"] | None = "auto",
    policy: Policy | None = None,
    names: Names | None = None,
    clock: Literal["virtual", "system"] = "virtual",
) -> Sandbox:
    """Start a complete service in this kernel, sign in, and make the new session the current session.

    The service needs no socket and no thread. Functions that are called without a `session` argument use the new
    session from now on. Threads may share the sandbox. A forked process cannot use the sandbox of its parent process,
    and gets an Unsupported error. Call `lab.serve()` in the parent and `connect()` in the forked process instead.

    Args:
        path: A folder in which all data are stored, so that a later call can open the same data again. The folder
            belongs to a sandbox or to `svc-notebooks serve`, is empty or does not exist. None: the data are in memory.
        seed: A number gives the same ids and delays in every run. None gives random ids and delays. "auto" gives each
            sandbox of a kernel its own seed, in the order in which the sandboxes are opened. So a restarted kernel
            repeats the ids, and different sandboxes have different ids.
        policy: The choices that the interface leaves to the service. None is `Policy(browser_sign_in="choose")`, with
            which a visitor of a link selects a user.
        names: The brand names in paths, headers and JSON. None: the default names.
        clock: "virtual" is a clock that only `lab.clock.advance("8d")` and waits of the client move. "system" is the
            clock of this machine.

    Returns:
        The `Sandbox`, which can be used in a with statement.

    Raises:
        OSError: The folder is neither empty nor a store, or the store is damaged, incomplete or in use. No file has
            changed. The message suggests what to do.

    Warns:
        UserWarning: Files in the folder were moved aside, or its database was upgraded.

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
        warn_caller(note)
    if policy and policy.rate_costs == "units" and policy.rate_limit and policy.rate_limit < LIST_COST:
        warn_caller(
            f"rate_limit={policy.rate_limit} counts units, of which a list of files costs {LIST_COST}, so that it is"
            " always refused; rate_costs='requests' counts requests"
        )
    return lab


def open_sandbox(path: str | os.PathLike[str]) -> Sandbox:
    """Open a sandbox in memory from a file of `lab.save(path)`, and make its session the current session.

    The file is not changed. The new sandbox has the clock, the seed, the policy and the names of the saved sandbox. If
    this kernel has opened other sandboxes before, the ids of new files differ from the ids in those sandboxes. The
    notification channels are stopped, because a file can be opened several times and a receiver must not be notified
    several times.

    Args:
        path: The path of the saved file.

    Returns:
        The new `Sandbox`.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not a saved sandbox, is damaged, or has another version. The session is unchanged.

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
    """Create a session for a service outside this kernel, and make the new session the current session.

    Functions that are called without a `session` argument use the new session from now on. `connect` itself sends no
    request. Threads may share the session. A forked process (`multiprocessing` on Linux) inherits the session and opens
    its own connections. A spawned process (spawn, forkserver, joblib) must call `connect()` again.

    Args:
        base_url: The address of the service. None: the environment variable `SVC_BASE_URL`. Without that variable, in a
            notebook server of JupyterHub: the address in `SVC_NOTEBOOKS_URL`, which the hub's configuration sets.
        token: An access token, or a function that returns an access token. The function is called again when the token
            has expired. None: the environment variable `SVC_TOKEN`, and with the address in `SVC_NOTEBOOKS_URL` the
            variable `JUPYTERHUB_API_TOKEN`. The token is never displayed.
        names: The brand names of this deployment in paths, headers and JSON. None: the default names.
        verify: A file with trusted certificate authorities. None: the machine's authorities. False: no check.
        proxies: A dict from URL schemes to proxies, which replaces the proxy settings of the environment. None: those
            of the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY), and no proxy for this machine.

    Returns:
        The new `Session`.

    Raises:
        ValueError: The address or the token is missing or not valid.

    >>> svc.connect("https://api.example.org", token="secret")
    <Session https://api.example.org>
    """
    session = new_session(base_url, token, names=names, verify=verify, proxies=proxies)
    make_current(session)
    return session


def new_session(
    base_url: str | None = None,
    token: str | Callable[[], str] | None = None,
    *,
    names: Names | None = None,
    verify: bool | str | Path | None = None,
    proxies: Mapping[str, str] | None = None,
) -> Session:
    """Return a session as `connect` does, without making it the current session."""
    address, variable = (base_url, "SVC_TOKEN") if base_url is not None else _address_in_environment()
    if not address:
        raise ValueError(_MISSING.format(argument="base_url", variable="SVC_BASE_URL"))
    access_token = EnvironmentToken(variable) if token is None else token
    if not access_token or (token is None and not os.environ.get(variable)):
        raise ValueError(_MISSING.format(argument="token", variable=variable))
    session = Session(address, access_token, names=names or Names(), verify=verify, proxies=proxies)
    session.explain = lambda error: explain_not_found(error, sandbox_at(session.base_url), session.base_url)
    return session


def _address_in_environment() -> tuple[str | None, str]:
    """Return the address of the service, or None, and the name of the variable with the access token.

    The token of JupyterHub is sent only to the address that the hub has set.
    """
    address = os.environ.get("SVC_BASE_URL")
    if not address and (hub_address := os.environ.get("SVC_NOTEBOOKS_URL")):
        return hub_address, "JUPYTERHUB_API_TOKEN"
    return address, "SVC_TOKEN"


_MISSING = (
    "{argument} is missing; call connect({argument}=...), or set {variable} in the environment before the"
    " kernel starts. sandbox() needs neither."
)
