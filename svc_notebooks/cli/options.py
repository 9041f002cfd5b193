# ruff: noqa: E501  the options are tables: an option is a line
"""The options of the commands, the readers of their values, the settings of `--names`, and the output files.

A reader of a value raises ArgumentTypeError for an invalid value.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias

from ..core.brand_names import GOOGLE, Names
from ..core.durations import parse_duration
from ..core.errors.errors import PathExists
from ..core.http.origins import ANY, is_host_name, is_network, is_origin, is_path_prefix
from ..core.printable_text import terminal_text
from ..local.existing_file import DEVICE, existing, free_path
from ..local.saving import save_bytes

Option: TypeAlias = "tuple[str, str, dict[str, Any]]"
"""The name of an option or of an argument, its help, and the other arguments of argparse's `add_argument`."""

_MAX_SECONDS = 86_400.0
_MAX_TOKEN_FILE = 4096


def file_option(text: str) -> Path:
    """Return the path of an output file, which is not a folder, in an existing folder."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written; give a file name in an existing folder")
    return path


def port_option(text: str) -> int:
    """Return a port number, which is 0 for a free port."""
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 0 to 65535")
    return int(text)


def count_option(text: str) -> int:
    """Return a whole number, 1 or more."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; give a whole number, 1 or more")
    return int(text)


def percent_option(text: str) -> float:
    """Return a percentage from 0 to 100."""
    number = text.removesuffix("%")
    if not (number.replace(".", "", 1).isdecimal() and float(number) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage; give a number from 0 to 100")
    return float(number)


def age_option(text: str) -> float:
    """Return an age in seconds, 0 or more."""
    try:
        return parse_duration(text).total_seconds()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; give a duration such as 2h or 7d") from None


def seconds_option(text: str) -> float:
    """Return a time limit in seconds, at most a day."""
    try:
        seconds = parse_duration(text).total_seconds()
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time limit; give seconds, or a duration such as 5min, more than 0 and at most a day"
        )
    return seconds


def _checked(is_valid: Callable[[str], bool], expected: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not is_valid(text):
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
        return text

    return read


host_name_option = _checked(
    lambda text: text == ANY or is_host_name(text),
    "a host name; give a host name such as files.example.org, without a port",
)
network_option = _checked(
    is_network, "an IP address; give the address of the proxy, or its network such as 172.28.0.0/24"
)
origin_option = _checked(
    lambda text: text == ANY or is_origin(text),
    "an origin; give an origin such as https://app.example, without a path",
)


def public_url_option(text: str) -> str:
    """Return the scheme, host and port at which clients reach a service, without a slash at the end."""
    origin = text.rstrip("/")
    if not (is_origin(origin) and origin.startswith(("http://", "https://"))):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a public address; give one such as https://files.example.org, and a path as --prefix"
        )
    return origin


def path_prefix_option(text: str) -> str:
    """Return a path prefix without a slash at its end, which is empty for the path /."""
    prefix = text.rstrip("/")
    if prefix and not is_path_prefix(prefix):
        raise argparse.ArgumentTypeError(f"{text!r} is not a path; give a path such as /services/svc")
    return prefix


def token_option(text: str) -> str:
    """Return a token of printable ASCII."""
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("a token must be printable ASCII without spaces")
    return text


def token_file_option(text: str) -> str:
    """Return the token in a file, whose only line it is."""
    try:
        with Path(text).open(encoding="ascii", errors="replace") as file:
            return token_option(file.read(_MAX_TOKEN_FILE).strip())
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be read: {error.strerror}") from None


# -- --names ---------------------------------------------------------------------------------------------------------

_GOOGLE = "google"


def names_of(texts: Iterable[str]) -> Names:
    """Return the names that the values of the option select. Raises ValueError for a bad value.

    >>> names_of(["google", "header_prefix=X-Cloud-"]).header("Channel-ID")
    'X-Cloud-Channel-ID'
    """
    selected: dict[str, str] = {}
    for text in texts:
        selected |= _read(text)
    return Names(**selected)


def policy_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return the settings of the policy that belong to the values of the option."""
    return {"auth_scope_base": "https://www.googleapis.com/auth", "int64_as_string": True} if _GOOGLE in texts else {}


def _read(text: str) -> dict[str, str]:
    if text == _GOOGLE:
        return asdict(GOOGLE)
    known = [field.name for field in fields(Names)]
    name, equals, value = text.partition("=")
    names: Any = {name: value}
    if not equals:
        try:
            names = json.loads(Path(text).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            names = None
    if not isinstance(names, dict) or not all(
        key in known and value and type(value) is str for key, value in names.items()
    ):
        raise ValueError(
            f"--names must be {_GOOGLE}, NAME=VALUE with one of the names {', '.join(known)}, or the path of a JSON"
            f" object with these names, not {text!r}"
        )
    return names


# -- the options -----------------------------------------------------------------------------------------------------

_DAY = 86_400.0
# fmt: off
NAMES_OPTION: Option = ("--names", "the names in paths, headers and media types: google (the Drive and Calendar APIs), a field of svc.Names such as storage=drive, or a JSON file of such fields; can be repeated", {"action": "append", "default": [], "metavar": "NAMES"})

SERVE_OPTIONS: tuple[Option, ...] = (
    ("--host", "the address to listen on (default: %(default)s)", {"default": "127.0.0.1"}),
    ("--port", "the port to listen on (default: a free port)", {"type": port_option, "default": 0}),
    ("--hub", "run as a managed service of JupyterHub, which sets the address, the path and the users (docs/hub.md)", {"action": "store_true"}),
    ("--hub-domain", "with --hub, the domain of the users' e-mail addresses (default: svc.example)", {"type": host_name_option, "metavar": "DOMAIN"}),
    ("--prefix", "the path below which a proxy serves the service, such as /services/svc", {"type": path_prefix_option, "default": "", "metavar": "PATH"}),
    ("--public-url", "the scheme, host and port at which clients reach the service (default: the address it listens on)", {"type": public_url_option, "metavar": "URL"}),
    ("--proxy", "use the headers Forwarded and X-Forwarded-* of the proxy at this IP address or network; can be repeated", {"action": "append", "default": [], "type": network_option, "metavar": "ADDRESS"}),
    ("--tls", "use https; ca in the output is then the path of the CA certificate, which is removed at the end", {"action": "store_true"}),
    NAMES_OPTION,
    ("--token", "the first user's token (default: a random one)", {"type": token_option}),
    ("--token-file", "read --token from a file, so that no list of processes shows it", {"dest": "token", "type": token_file_option, "metavar": "FILE"}),
    ("--control-token-file", "read --control-token from a file, so that no list of processes shows it", {"dest": "control_token", "type": token_file_option, "metavar": "FILE"}),
    ("--store", "the data folder of a service, or an empty folder, or postgresql://user@host/database (default: data in memory)", {"metavar": "PATH"}),
    ("--content", "with --store postgresql://..., the folder or s3://bucket/prefix for the contents of files", {"metavar": "DIR"}),
    ("--shared", "with --store postgresql://..., let other processes with --shared serve the same store (docs/scale.md)", {"action": "store_true"}),
    ("--durability", "what the data of an answered request survive: process (the end of this process) or power (also that of the machine) (default: power on PostgreSQL, otherwise process)", {"choices": ("process", "power")}),
    ("--journal", "with --store postgresql://..., keep the last N requests and deliveries of all processes in the database", {"type": int, "metavar": "N"}),
    ("--control", "also serve the control interface at {base_url}/_control/", {"action": "store_true"}),
    ("--control-token", "the bearer token that the control interface requires (default: SVC_CONTROL_TOKEN, or no token)", {"type": token_option, "metavar": "TOKEN"}),
    ("--host-name", "accept this host name, such as that of a proxy, or * for any; can be repeated", {"action": "append", "default": [], "type": host_name_option, "metavar": "NAME"}),
    ("--allow-origin", "allow only pages of this origin to use the interface, such as https://app.example; can be repeated", {"action": "append", "type": origin_option, "metavar": "ORIGIN"}),
    ("--class", "serve a class: only the students and teachers in this CSV file (name, e-mail, role) can sign in", {"dest": "roster", "type": Path, "metavar": "FILE"}),
    ("--tokens", "with --class, the file of the sign-in tokens (default: sign-in-tokens.csv in the folder of --store)", {"type": file_option, "metavar": "FILE"}),
    ("--quota-bytes", "with --class, the most bytes of files and open uploads of a student (default: 512 MiB)", {"type": count_option, "metavar": "N"}),
    ("--requests-per-minute", "with --class, the most requests of a student in a minute (default: 600)", {"type": count_option, "metavar": "N"}),
    ("--channels", "with --class, the most active channels of a student (default: 20)", {"type": count_option, "metavar": "N"}),
    ("--metrics", "also serve metrics for Prometheus at {base_url}/metrics, without a token", {"action": "store_true"}),
    ("--log-format", "write a line for each request to the error output, without names, addresses and tokens", {"choices": ("text", "json")}),
    ("--shutdown-timeout", "after SIGTERM, the time in which requests in progress may end (default: %(default)s seconds)", {"type": seconds_option, "default": 10.0, "metavar": "DURATION"}),
    ("--shutdown-delay", "after SIGTERM, the time for which /readyz reports the end before connections are refused (default: 0)", {"type": seconds_option, "default": 0.0, "metavar": "DURATION"}),
    ("--no-live-page", "do not serve the live page at {base_url}/", {"action": "store_true"}),
)

MIGRATE_OPTIONS: tuple[Option, ...] = (
    ("source", "the data folder or the address of the database to copy", {"metavar": "FROM"}),
    ("target", "a new folder, or the address of an empty database", {"metavar": "TO"}),
    ("--content", "the folder or s3://bucket/prefix for the contents of files beside the database", {"metavar": "DIR"}),
    ("--discard", "delete what an interrupted migration from FROM has written to TO, instead of continuing", {"action": "store_true"}),
)

SWEEP_OPTIONS: tuple[Option, ...] = (
    ("store", "a data folder, or postgresql://user@host/database", {"metavar": "STORE"}),
    ("--content", "the folder or s3://bucket/prefix for the contents of files of the database", {"metavar": "DIR"}),
    ("--min-age", "leave out parts that were written less than this time ago, such as 2h or 7d (default: 1d)", {"type": age_option, "default": _DAY, "metavar": "TIME"}),
    ("--delete", "delete the parts that are listed", {"action": "store_true"}),
)

GRADE_OPTIONS: tuple[Option, ...] = (
    ("directory", "a folder with a folder or files for each student, or a .zip or .tar.gz of it", {"type": Path, "metavar": "DIR"}),
    ("--names", "how files are named, such as {student}_{time}_{file}, if not as by Canvas, Moodle, nbgrader or a classroom", {"metavar": "PATTERN"}),
    ("--only", "grade only this student or exercise; can be repeated", {"action": "append", "default": [], "metavar": "NAME"}),
    ("--json", "also write all results, with the message of each check, as JSON, after each submission", {"type": file_option, "metavar": "FILE"}),
    ("--resume", "continue an interrupted run: keep the results in the file of --json, and grade only new and changed submissions", {"action": "store_true"}),
    ("--csv", "also write the table as CSV", {"type": file_option, "metavar": "FILE"}),
    ("--output", "also write the gradebook in the format of --format", {"type": file_option, "metavar": "FILE"}),
    ("--format", "the format of --output (default: %(default)s)", {"choices": ("csv", "canvas", "moodle", "nbgrader", "html"), "default": "csv"}),
    ("--class-page", "also write a page in HTML about the class: what fails how often, and who handed in what", {"type": file_option, "metavar": "FILE"}),
    ("--feedback", "also write a page in HTML for each student to a new folder", {"type": Path, "metavar": "DIR"}),
    ("--pseudonyms", "show pseudonyms instead of names, except in --json, --output and --feedback; FILE has both", {"type": Path, "metavar": "FILE"}),
    ("--roster", "a CSV file of students: name, email, id, login, section, deadline", {"type": Path, "metavar": "FILE"}),
    ("--points", "a CSV file with the columns exercise and points (default: 1 each)", {"type": Path, "metavar": "FILE"}),
    ("--deadline", "name later submissions, for example 2026-11-30 or 2026-11-30T18:00", {"metavar": "TIME"}),
    ("--late-points", "the points that late submissions keep (default: %(default)s)", {"type": percent_option, "default": 100.0, "metavar": "PERCENT"}),
    ("--assignment", "the name of the assignment in the gradebook (default: the name of DIR)", {"metavar": "NAME"}),
    ("--isolation", "how submissions are isolated: in bubblewrap; by limits of processes only; or auto, which is bubblewrap where it works (default: %(default)s)", {"choices": ("auto", "bubblewrap", "limits"), "default": "auto"}),
    ("--seed", "the seed of the students' data (default: a random one, which is printed)", {}),
    ("--cell-timeout", "time limit for one cell, in seconds or as 2min (default: %(default)s seconds)", {"type": seconds_option, "default": 30.0, "metavar": "DURATION"}),
    ("--timeout", "time limit for one notebook (default: %(default)s seconds)", {"type": seconds_option, "default": 120.0, "metavar": "DURATION"}),
    ("--jobs", "the number of notebooks to run at once (default: as for run)", {"type": count_option, "metavar": "N"}),
    ("--overwrite", "replace a FILE that exists", {"action": "store_true"}),
)

CONFORMANCE_OPTIONS: tuple[Option, ...] = (
    ("base_url", "the base URL, such as https://files.example.org", {"nargs": "?", "metavar": "BASE_URL"}),
    ("--token", "a bearer token with all scopes (default: SVC_TOKEN)", {}),
    ("--second-token", "a bearer token of another user, for rules about sharing (default: SVC_SECOND_TOKEN)", {"metavar": "TOKEN"}),
    ("--rules", "test only these rules, such as A3 or A3-06,E", {"action": "append", "default": [], "metavar": "IDS"}),
    ("--list", "print the rules with their numbers of tests, and send no request", {"action": "store_true"}),
    ("--json", "also write the results as JSON", {"type": file_option, "metavar": "FILE"}),
    ("--overwrite", "replace a FILE that exists", {"action": "store_true"}),
    NAMES_OPTION,
    ("--address", "a receiving URL whose domain is registered there; no receiver needs to run", {"metavar": "URL"}),
    ("--ca", "a PEM file of certificate authorities to trust", {"type": Path, "metavar": "FILE"}),
    ("--timeout", "time limit for one response (default: %(default)s seconds)", {"type": seconds_option, "default": 30.0, "metavar": "DURATION"}),
    ("--control-token", "the token of the control interface (default: SVC_CONTROL_TOKEN)", {"metavar": "TOKEN"}),
    ("--no-control", "do not use the control interface", {"action": "store_true"}),
    ("--destructive", "also run the tests that empty the trash of the account", {"action": "store_true"}),
)
# fmt: on


def add_options(command: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    """Add the options of a command to its parser."""
    for name, text, settings in options:
        command.add_argument(name, help=text, **settings)


def serve_parser() -> argparse.ArgumentParser:
    """Return a parser with the options of `svc-notebooks serve` only, which raises ArgumentError for a bad value."""
    parser = argparse.ArgumentParser(prog="svc-notebooks serve", exit_on_error=False, allow_abbrev=False)
    add_options(parser, SERVE_OPTIONS)
    return parser


def fail(command: str, message: object, status: int = 2) -> int:
    """Write the error message of a command, and return its exit status."""
    sys.stderr.write(f"svc-notebooks {command}: {terminal_text(message)}\n")
    return status


def check_output_paths(*paths: Path | None, overwrite: bool) -> str | None:
    """Return an error message for the first path whose file must not be replaced. Return None if there is no error."""
    for path in paths:
        existing_file = existing(path) if path else None
        if existing_file and existing_file.kind != DEVICE and not overwrite:
            return (
                f"{path} exists ({existing_file.facts}); give --overwrite to replace the file, or choose another path"
            )
    return None


def write_report(path: Path, text: str, *, overwrite: bool) -> Path:
    """Write a report and return its path, which is a free name if the file was created after `check_output_paths`."""
    content = text.encode(errors="backslashreplace")  # a file name that is not UTF-8 has lone surrogates
    existing_file = existing(path)
    if existing_file and existing_file.kind == DEVICE:
        path.write_bytes(content)  # such as /dev/stdout
        return path
    try:
        save_bytes(path, content, overwrite=overwrite)
    except PathExists:
        free = free_path(path)
        save_bytes(free, content, overwrite=False)
        sys.stderr.write(f"svc-notebooks: {path} exists now; the report is {free}\n")
        return free
    return path
