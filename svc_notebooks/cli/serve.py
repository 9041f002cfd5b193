"""`svc-notebooks serve`: the service on a socket, for programs in any language."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ..core.http.origins import ANY, is_host_name

if TYPE_CHECKING:
    from ..core.policy import Policy


_SWITCH_SECONDS = 0.0001
"""How long a thread computes before another one may go on, far less than the 5 ms of Python: a long list of one user
delays every request of the others by this several times."""


def serve(options: argparse.Namespace) -> int:
    """Carry a service until SIGINT or SIGTERM; 2 if an argument cannot be met.

    One line of JSON on standard output says that it is ready, and nothing else ever goes there.
    """
    try:
        with _until_interrupted():
            _run_service(options)
    except (ImportError, OSError, ValueError) as error:
        return _fail(str(error))
    return 0


def _run_service(options: argparse.Namespace) -> None:
    from ..notebook.sandbox.certificates import tls_for
    from ..server.service import open_service
    from ..server.transports.socket_server import SocketServer

    control_token = _control_token(options)
    with ExitStack() as stack:
        policy = _policy(options, is_open=options.control and control_token is None)
        service = stack.enter_context(open_service(options.store, policy=policy))
        for note in service.notes:
            sys.stderr.write(f"svc-notebooks serve: {note}\n")
        token = service.sign_in(token=options.token)
        tls, ca = stack.enter_context(tls_for(options.host)) if options.tls else (None, None)
        server = SocketServer(
            service, options.host, options.port, control=options.control, control_token=control_token, tls=tls
        )
        ready = {
            "base_url": stack.enter_context(server).base_url,
            "token": token,
            "auth_scope_base": service.policy.auth_scope_base,
            "ca": ca and str(ca),
            "control": options.control,
        }
        print(json.dumps(ready), flush=True)
        sys.setswitchinterval(_SWITCH_SECONDS)
        server.serve_forever()


def _policy(options: argparse.Namespace, *, is_open: bool) -> "Policy":
    """How the service behaves; `is_open`: anyone may use the control interface, and get the token of any user there."""
    from ..core.policy import Policy

    return Policy(
        browser_sign_in="choose" if is_open else "token",
        fault_header="anyone" if is_open else True,
        host_names=tuple(name for name in (options.host, *options.host_name) if name == ANY or is_host_name(name)),
        allowed_origins=options.allow_origin and tuple(options.allow_origin),
    )


def _control_token(options: argparse.Namespace) -> str | None:
    """The token of the control interface, from the command line or the environment. Raises ValueError."""
    if options.control_token and not options.control:
        raise ValueError("--control-token needs --control: without it there is no control interface")
    return options.control_token or os.environ.get("SVC_CONTROL_TOKEN")


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Let SIGTERM end the body as SIGINT does; the second of them does not cut the ending short."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    try:
        yield
    except KeyboardInterrupt:
        return


def _end(number: int, frame: object) -> None:
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks serve: {message}\n")
    return 2
