"""Implements `svc-notebooks serve`, and the commands on its stores: check, backup, migrate and sweep."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from ..core.http.origins import ANY
from ..core.printable_text import terminal_text
from .environment import log_requests, metrics_of, open_with_options
from .options import fail, token_file_option

if TYPE_CHECKING:
    from ..server.auth.hub import HubSettings


class _Terminated(KeyboardInterrupt):
    """Raised by SIGTERM, after which the requests in progress are finished."""


def serve(options: argparse.Namespace) -> int:
    """Run the service on a socket until SIGINT or SIGTERM, and print one line of JSON when the service is ready.

    Return the exit status, which is 0 after a signal, or 2 if the service cannot start with these options.
    """

    def stop(number: int, frame: object) -> NoReturn:
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)  # a second signal does not interrupt the shutdown
        raise _Terminated if number == signal.SIGTERM else KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        _run_service(options)
    except KeyboardInterrupt:
        return 0
    except (ImportError, OSError, ValueError, argparse.ArgumentTypeError) as error:
        sys.stderr.write(f"svc-notebooks serve: {error}\n")
        return 2
    return 0


def _run_service(options: argparse.Namespace) -> None:
    from ..notebook.sandbox.certificates import tls_for
    from ..server.transports.socket_server import SocketServer

    hub = _read_hub(options)
    with ExitStack() as stack:
        opened = open_with_options(options, stack, lambda note: sys.stderr.write(f"svc-notebooks serve: {note}\n"), hub)
        service, school_class = opened.service, opened.school_class
        if options.log_format:
            log_requests(service, options.log_format)
        token_file = None if hub or school_class else os.environ.get("SVC_TOKEN_FILE")
        first_token = options.token or (token_file and token_file_option(token_file))
        token = None if hub or school_class else service.sign_in(token=first_token)
        tls, ca = stack.enter_context(tls_for(options.host, *options.host_name)) if options.tls else (None, None)
        server = SocketServer(
            service,
            options.host,
            options.port,
            control=opened.control,
            control_token=opened.control_token,
            tls=tls,
            metrics=metrics_of(service) if options.metrics else None,
        )
        ready = {
            "base_url": stack.enter_context(server).base_url,
            "token": token,
            "auth_scope_base": service.policy.auth_scope_base,
            "ca": ca and str(ca),
            "control": opened.control,
            "page": server.page_url,
        }
        if school_class:
            ready["page"] = server.page_url and server.page_url.partition("#")[0]  # the token of a teacher is the key
            ready["tokens"] = str(school_class.token_file)
        print(json.dumps(ready), flush=True)
        try:
            server.serve_forever()
        except _Terminated:
            server.finish(options.shutdown_timeout, options.shutdown_delay)
            raise


def _read_hub(options: argparse.Namespace) -> HubSettings | None:
    """Return the settings of `serve --hub`, and set the options that they decide. Return None without a hub.

    Raises ValueError for options that do not fit.
    """
    if not options.hub:
        if options.hub_domain:
            raise ValueError("--hub-domain applies only to JupyterHub; add --hub")
        return None
    from ..server.auth.hub import read_hub_settings

    for name in ("port", "prefix", "tls", "token", "control_token"):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} cannot be used with --hub, because JupyterHub decides this")
    hub = read_hub_settings(os.environ)
    options.host, options.port, options.prefix = hub.host, hub.port, hub.prefix
    options.host_name = [ANY]  # only the proxy knows its names, and nothing can be read here without a sign-in
    return hub


def backup(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, 1 if a part of the store is damaged, or 2 if the copy failed."""
    from ..server.auth.class_accounts import TOKEN_FILE
    from ..server.store.backup import back_up
    from ..server.user_backup import BACKUPS

    try:
        result = back_up(options.directory, options.target, TOKEN_FILE, BACKUPS)
    except OSError as error:
        return fail("backup", error)
    for problem in result.damaged:
        sys.stderr.write(
            f"svc-notebooks backup: {terminal_text(problem)}; svc-notebooks check {options.directory} names its files\n"
        )
    sys.stdout.write(f"{options.target}: {result.files:,} files, {result.size:,} bytes in {result.parts:,} parts\n")
    return 1 if result.damaged else 0


def check(options: argparse.Namespace) -> int:
    """Check a store, print a report, and return 0 without damage, 1 with damage, or 2 if the check failed."""
    from ..server.store.check import check_store

    try:
        report = check_store(options.directory)
    except OSError as error:
        return fail("check", error)
    text = json.dumps(report.as_json(), indent=2) if options.json else "\n".join(map(terminal_text, report.lines()))
    sys.stdout.write(text + "\n")
    return 1 if report.problems else 0


def migrate(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, or 2 if the store could not be copied or discarded."""
    from ..server.auth.class_accounts import TOKEN_FILE
    from ..server.store.migration import discard, migrate
    from ..server.user_backup import BACKUPS

    def report(step: str) -> None:
        sys.stderr.write(f"svc-notebooks migrate: {terminal_text(step)}\n")

    try:
        if options.discard:
            discard(options.source, options.target, options.content)
            sys.stdout.write("the unfinished copy was deleted\n")
            return 0
        done = migrate(options.source, options.target, options.content, (TOKEN_FILE, BACKUPS), report)
    except KeyboardInterrupt:
        report("interrupted; repeat the command to continue, or add --discard to delete what was copied")
        return 130
    except (ImportError, OSError, ValueError) as error:
        report(str(error))
        return 2
    for name in done.left:
        report(f"{name} was not copied, because the contents have no folder: keep the file")
    before = f", {done.reused:,} of them in an earlier run" if done.reused else ""
    sys.stdout.write(
        f"copied and verified: {done.rows:,} rows, {done.size:,} bytes in {done.parts:,} parts{before}\n"
        "the source is unchanged: do not start both, because both would deliver the messages of the same channels\n"
    )
    return 0


def sweep(options: argparse.Namespace) -> int:
    """List or delete stray parts, and return 0, 1 if a part could not be deleted, or 2 if the store cannot be used."""
    from ..server.store.migration import sweep

    try:
        swept = sweep(options.store, options.content, min_age=options.min_age, now=time.time(), delete=options.delete)
    except (ImportError, OSError, ValueError) as error:
        return fail("sweep", error)
    for part in swept.old:
        written = datetime.fromtimestamp(part.modified, UTC).isoformat(timespec="seconds")
        state = "deleted" if part.key in swept.deleted else "stays" if options.delete else "found"
        sys.stdout.write(f"{state}: {terminal_text(part.key)}  {part.size:,} bytes  {written}\n")
    size = sum(part.size for part in swept.old)
    sys.stdout.write(f"{len(swept.old):,} parts with {size:,} bytes belong to no file or upload\n")
    if swept.younger:
        sys.stdout.write(f"{swept.younger:,} further parts are younger than --min-age\n")
    if swept.old and not options.delete:
        sys.stdout.write("nothing was deleted: add --delete to delete them\n")
    return 1 if options.delete and len(swept.deleted) < len(swept.old) else 0
