"""`svc-notebooks serve`: the service on a socket, for programs in any language."""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


def serve(options: argparse.Namespace) -> int:
    """Carry a service until SIGINT or SIGTERM; 2 if an argument cannot be met.

    One line of JSON on standard output says that it is ready, and nothing else ever goes there.
    """
    try:
        with _until_told():
            _carry(options)
    except (ImportError, OSError, ValueError) as error:
        return _fail(str(error))
    return 0


def _carry(options: argparse.Namespace) -> None:
    from ..core.policy import Policy
    from ..notebook.authority import tls_for
    from ..server.service import open_service
    from ..server.socket import SocketServer

    with ExitStack() as stack:
        # Whoever reaches the control interface can be anybody there, and so may a browser.
        policy = Policy(browser_sign_in="choose" if options.control else "token")
        service = stack.enter_context(open_service(options.store, policy=policy))
        token = service.sign_in(token=options.token)
        tls, ca = stack.enter_context(tls_for(options.host)) if options.tls else (None, None)
        server = SocketServer(service, options.host, options.port, control=options.control, tls=tls)
        ready = {
            "base_url": stack.enter_context(server).base_url,
            "token": token,
            "auth_scope_base": service.policy.auth_scope_base,
            "ca": ca and str(ca),
            "control": options.control,
        }
        print(json.dumps(ready), flush=True)
        server.serve_forever()


@contextmanager
def _until_told() -> Iterator[None]:
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
