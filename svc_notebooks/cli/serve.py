"""Implements `svc-notebooks serve`, which runs the service on a socket for programs in any language."""

import argparse
import json
import os
import signal
import sys
from contextlib import ExitStack

from ..core.http.origins import ANY, is_host_name

_SWITCH_SECONDS = 0.0001
"""The longest time in seconds for which a thread computes while other threads wait. Python's default is 5 ms. While the
service builds a long list for one user, every request of other users waits for several such intervals."""


def serve(options: argparse.Namespace) -> int:
    """Run the service on a socket until SIGINT or SIGTERM, and print one line of JSON when the service is ready.

    Return the exit status, which is 0 after a signal, or 2 if the service cannot start with these options.
    """

    def stop(number: int, frame: object) -> None:
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)  # a second signal does not interrupt the shutdown
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        _run_service(options)
    except KeyboardInterrupt:
        return 0
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"svc-notebooks serve: {error}\n")
        return 2
    return 0


def _run_service(options: argparse.Namespace) -> None:
    from ..core.policy import Policy
    from ..notebook.sandbox.certificates import tls_for
    from ..server.service import open_service
    from ..server.transports.socket_server import SocketServer

    if options.control_token and not options.control:
        raise ValueError("--control-token applies only to the control interface; add --control")
    control_token = options.control_token or os.environ.get("SVC_CONTROL_TOKEN")
    is_open = options.control and control_token is None  # then anyone can get the token of any user
    policy = Policy(
        browser_sign_in="choose" if is_open else "token",
        fault_header="anyone" if is_open else True,
        host_names=tuple(name for name in (options.host, *options.host_name) if name == ANY or is_host_name(name)),
        allowed_origins=options.allow_origin and tuple(options.allow_origin),
        live_page=not options.no_live_page,
    )
    with ExitStack() as stack:
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
            "page": server.page_url,
        }
        print(json.dumps(ready), flush=True)
        sys.setswitchinterval(_SWITCH_SECONDS)
        server.serve_forever()
