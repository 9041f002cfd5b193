"""Opens a service with options or environment variables, and implements serve, check, backup, migrate and sweep."""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..core.events.fields import is_address
from ..core.http.messages import Request, Response
from ..core.http.origins import ANY, is_host_name
from ..core.policy import Policy
from ..core.printable_text import terminal_text
from ..server.auth.accounts import ROLES, TOKEN_FILE, ClassAccount
from ..server.dispatch.service_context import Quota
from .options import add_options, commands, names_of, policy_of, token_file_option, warn

if TYPE_CHECKING:
    from ..server.auth.hub import HubSettings
    from ..server.service import Service
    from ..server.transports.metrics import Metrics


class _Terminated(KeyboardInterrupt):
    """Raised by SIGTERM, after which the requests in progress are finished."""


def serve(options: argparse.Namespace) -> int:
    """Run the service on a socket until SIGINT or SIGTERM, and print one line of JSON when the service is ready.

    Return the exit status 0 after a signal.
    """

    def stop(number: int, frame: object) -> NoReturn:
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)  # a second signal does not interrupt the shutdown
        raise _Terminated if number == signal.SIGTERM else KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    with suppress(KeyboardInterrupt):
        _run_service(options)
    return 0


def _run_service(options: argparse.Namespace) -> None:
    from ..notebook.sandbox.certificates import tls_for
    from ..server.transports.socket_server import SocketServer

    hub = _read_hub(options)
    with ExitStack() as stack:
        opened = open_with_options(options, stack, partial(warn, "serve"), hub)
        service, school_class = opened.service, opened.school_class
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
        gc.freeze()  # a collection would look at the objects of all modules, and every request would wait for it
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
    """Copy a store, print a line, and return 0, or 1 if a part of the store is damaged."""
    from ..server.store.maintenance import back_up
    from ..server.user_backup import BACKUPS

    result = back_up(options.directory, options.target, TOKEN_FILE, BACKUPS)
    for problem in result.damaged:
        warn("backup", f"{problem}; svc-notebooks check {options.directory} names its files")
    sys.stdout.write(f"{options.target}: {result.files:,} files, {result.size:,} bytes in {result.parts:,} parts\n")
    return 1 if result.damaged else 0


def check(options: argparse.Namespace) -> int:
    """Check a store, print a report, and return 0 without damage, or 1 with damage."""
    from ..server.store.maintenance import check_store

    report = check_store(options.directory)
    text = json.dumps(report.as_json(), indent=2) if options.json else "\n".join(map(terminal_text, report.lines()))
    sys.stdout.write(text + "\n")
    return 1 if report.problems else 0


def migrate(options: argparse.Namespace) -> int:
    """Copy a store, print a line, and return 0, or 130 after an interrupt."""
    from ..server.store.migration import discard, migrate
    from ..server.user_backup import BACKUPS

    report = partial(warn, "migrate")
    try:
        if options.discard:
            discard(options.source, options.target, options.content)
            sys.stdout.write("the unfinished copy was deleted\n")
            return 0
        done = migrate(options.source, options.target, options.content, (TOKEN_FILE, BACKUPS), report)
    except KeyboardInterrupt:
        report("interrupted; repeat the command to continue, or add --discard to delete what was copied")
        return 130
    for name in done.left:
        report(f"{name} was not copied, because the contents have no folder: keep the file")
    before = f", {done.reused:,} of them in an earlier run" if done.reused else ""
    sys.stdout.write(
        f"copied and verified: {done.rows:,} rows, {done.size:,} bytes in {done.parts:,} parts{before}\n"
        "the source is unchanged: do not start both, because both would deliver the messages of the same channels\n"
    )
    return 0


def sweep(options: argparse.Namespace) -> int:
    """List or delete stray parts, and return 0, or 1 if a part could not be deleted."""
    from ..server.store.migration import sweep

    swept = sweep(options.store, options.content, min_age=options.min_age, now=time.time(), delete=options.delete)
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


# -- the service that options or environment variables open, for servers that start it themselves


# The longest time in seconds for which a thread computes while other threads wait. Python's default is 5 ms. While the
# service builds a long list for one user, every request of other users waits for several such intervals.
_SWITCH_SECONDS = 0.0001

_QUOTA_OPTIONS = {"bytes": "quota_bytes", "requests_per_minute": "requests_per_minute", "channels": "channels"}


class ClassOptions(NamedTuple):
    """The accounts of a class, the file of their sign-in tokens and the quota of each student."""

    accounts: list[ClassAccount]
    token_file: Path
    quota: Quota


def read_class(options: argparse.Namespace) -> ClassOptions | None:
    """Return the class of `serve --class`, or None without a class. Raises ValueError for options that do not fit."""
    quotas = {field: value for field, option in _QUOTA_OPTIONS.items() if (value := getattr(options, option))}
    if options.roster is None:
        if quotas or options.tokens:
            raise ValueError(
                "--tokens, --quota-bytes, --requests-per-minute and --channels apply only to a class; add --class FILE"
            )
        return None
    if options.store is None:
        raise ValueError("--class needs the folder in which the files of the class are stored; add --store DIR")
    if options.token or options.control_token:
        raise ValueError("--token and --control-token cannot be used with --class: each account has its own token")
    if "://" in options.store and options.tokens is None:
        raise ValueError("--class with a database needs a file for the sign-in tokens; add --tokens FILE")
    token_file = options.tokens or Path(options.store) / TOKEN_FILE
    return ClassOptions(read_roster_accounts(options.roster), token_file, Quota(**quotas))


def read_roster_accounts(path: Path) -> list[ClassAccount]:
    """Read the accounts in a CSV file with the columns name, e-mail and role. An empty role is that of a student.

    Raises ValueError, which names the line and the column, for an invalid value. At least one account is a teacher.
    """
    from .marks.roster import read_rows  # which imports the course

    accounts: dict[str, ClassAccount] = {}
    rows = read_rows(path)
    if not rows or not {"name", "email"} <= rows[0][1].keys():
        raise ValueError(f"{path}, line 1: the columns must be name, e-mail and role, and one row for each person")
    for line, row in rows:
        name, email, role = row["name"], row["email"].lower(), row.get("role", "").casefold() or "student"
        if not name:
            raise ValueError(f"{path}, line {line}, column name: the name is missing")
        if not is_address(email):
            raise ValueError(f"{path}, line {line}, column e-mail: {email[:60]!r} is not an e-mail address")
        if email in accounts:
            raise ValueError(f"{path}, line {line}, column e-mail: {email} is in the roster twice")
        if role not in ROLES:
            raise ValueError(f"{path}, line {line}, column role: {role[:60]!r} is not a role; give student or teacher")
        accounts[email] = ClassAccount(name, email, ROLES[role])
    if all(account.role == "student" for account in accounts.values()):
        raise ValueError(f"{path}, column role: the class has no teacher; give at least one row the role teacher")
    return list(accounts.values())


class OpenedService(NamedTuple):
    """An open service, and how it is served. `is_open` is true if anyone can get the token of any user."""

    service: Service
    school_class: ClassOptions | None
    control: bool
    control_token: str | None
    is_open: bool


def open_with_options(
    options: argparse.Namespace, stack: ExitStack, note: Callable[[str], object], hub: HubSettings | None = None
) -> OpenedService:
    """Open the service of some options, and close it with `stack`. `note` is called with notes about the store.

    Raises ValueError, ImportError and OSError if the service cannot be opened with these options.
    """
    from ..server.auth.hub import JupyterHub
    from ..server.service import open_service

    if options.control_token and not options.control:
        raise ValueError("--control-token applies only to the control interface; add --control")
    control_token = options.control_token or os.environ.get("SVC_CONTROL_TOKEN")
    school_class = read_class(options)
    if hub and school_class:
        raise ValueError("--class and --hub cannot be used together: the hub has the accounts and their tokens")
    # Without any token, anyone can get the token of any user.
    is_open = options.control and control_token is None and not hub and not school_class
    settings = {
        "browser_sign_in": "choose" if is_open else "token",
        "fault_header": "anyone" if is_open else True,
        "domain": options.hub_domain or Policy().domain,
        "host_names": tuple(name for name in (options.host, *options.host_name) if name == ANY or is_host_name(name)),
        "allowed_origins": options.allow_origin and tuple(options.allow_origin),
        "live_page": not options.no_live_page,
        "path_prefix": options.prefix,
        "proxies": tuple(options.proxy),
        "durability": options.durability,
    }
    sys.setswitchinterval(_SWITCH_SECONDS)
    policy = Policy(**{**settings, **policy_of(options.names), **getattr(options, "policy", {})})
    service = stack.enter_context(
        open_service(
            options.store,
            content=options.content,
            shared=options.shared,
            journal=options.journal,
            policy=policy,
            names=names_of(options.names),
            base_url=options.public_url and options.public_url + policy.path_prefix,
        )
    )
    for text in service.notes:
        note(text)
    if options.log_format:
        log_requests(service, options.log_format)
    if hub:
        service.accept_users_of(JupyterHub(hub, policy.domain))
    if school_class:
        service.open_class(*school_class)
    control = options.control or school_class is not None
    return OpenedService(service, school_class, control, None if school_class else control_token, is_open)


def metrics_of(service: Service) -> Metrics:
    """Return the metrics of a service. Raises ImportError without the extra `metrics`."""
    try:
        from ..server.transports.metrics import Metrics
    except ImportError:
        raise ImportError('--metrics needs a library: pip install "svc-notebooks[metrics]"') from None
    return Metrics(service.monitor)


def log_requests(service: Service, log_format: str) -> None:
    """Write a line for each request, and the other records of the package, to the error output."""
    from ..server.transports.health import JsonFormatter, keep_request_log

    handler = logging.StreamHandler()
    if log_format == "json":
        handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    keep_request_log(service.monitor)


_log = logging.getLogger(__name__)

PREFIX = "SVC_"

_MEANINGS = {**dict.fromkeys(("1", "true", "yes", "on"), True), **dict.fromkeys(("", "0", "false", "no", "off"), False)}
_POLICY = f"{PREFIX}POLICY"


def read_environment(environ: Mapping[str, str]) -> argparse.Namespace:
    """Return the options of `serve` that environment variables set. The other options have their default values.

    The option `policy` has the settings of SVC_POLICY. Raises ValueError, which names the variable, for a bad value.
    """
    known = {name: option for name, option in commands()["serve"]["options"].items() if option.get("variable")}
    texts = {name: environ.get(variable_of(name), "") for name in known}
    arguments = [argument for name, text in texts.items() for argument in _arguments(name, known[name], text)]
    parser = argparse.ArgumentParser(prog="svc-notebooks serve", exit_on_error=False, allow_abbrev=False)
    add_options(parser, "serve")
    try:
        options = parser.parse_args(arguments)
    except argparse.ArgumentError as error:
        option = str(error.argument_name)
        secret = "token" in option or "://" in texts[option]  # neither is printed
        name = variable_of(option)
        raise ValueError(f"{name} has a bad value" if secret else f"{name}: {error.message}") from None
    options.policy = _policy(environ.get(_POLICY) or "{}")
    return options


def variable_of(option: str) -> str:
    """Return the variable of an option, such as SVC_STORE for `--store`."""
    return PREFIX + option.lstrip("-").replace("-", "_").upper()


def _arguments(name: str, option: Mapping[str, Any], text: str) -> list[str]:
    """Return the arguments of `serve` that mean the same as the text of a variable."""
    text, action = text.strip(), option.get("action")
    if action == "store_true":
        if text.lower() not in _MEANINGS:
            raise ValueError(f"{variable_of(name)} must be 1 or 0, not {text[:40]!r}")
        return [name] if _MEANINGS[text.lower()] else []
    values = text.replace(",", " ").split() if action == "append" else [text] if text else []
    return [f"{name}={value}" for value in values]


def _policy(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise ValueError(f'{_POLICY} must be a JSON object of settings, such as {{"rate_limit": 12000}}')
    if unknown := sorted(settings.keys() - {field.name for field in fields(Policy)}):
        raise ValueError(f"{_POLICY} has the unknown setting {unknown[0][:40]!r}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}


def open_from_environment(stack: ExitStack, environ: Mapping[str, str] = os.environ) -> Callable[[Request], Response]:
    """Open the service of some environment variables, and return its handler. `stack` closes the service.

    Raises ValueError, ImportError and OSError if the service cannot be opened with these variables.
    """
    from ..server.transports.control_api import served_paths
    from ..server.transports.health import with_health

    options = read_environment(environ)
    opened = open_with_options(options, stack, _log.warning)
    service = opened.service
    if options.token and not opened.school_class:
        service.sign_in(token=options.token)
    page_key = None if opened.is_open else opened.control_token or token_urlsafe(16)
    handle = served_paths(
        service,
        control=opened.control,
        control_token=opened.control_token,
        page_key=page_key,
        # Nobody knows a random key, but the token of a teacher is a key of the page, too.
        has_page=service.policy.live_page and bool(opened.is_open or opened.control_token or opened.school_class),
    )
    metrics = metrics_of(service).content if options.metrics else None
    return with_health(service, handle, lambda: False, metrics)
