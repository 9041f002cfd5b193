"""The options of the commands, the readers of their values, the settings of `--names`, and the output files.

A reader of a value raises ArgumentTypeError for an invalid value.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

from ..core.brand_names import GOOGLE, Names
from ..core.errors.errors import PathExists
from ..core.http.origins import ANY, is_host_name, is_network, is_origin, is_path_prefix
from ..core.printable_text import terminal_text
from ..core.time_arguments import parse_duration
from ..local.saving import DEVICE, existing, free_path, save_bytes

_MAX_SECONDS = 86_400.0
_MAX_TOKEN_FILE = 4096


def file_option(text: str) -> Path:
    """Return the path of an output file, which is not a folder, in an existing folder."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written; give a file name in an existing folder")
    return path


def _checked(
    is_valid: Callable[[str], bool], expected: str, convert: Callable[[str], Any] = lambda text: text
) -> Callable[[str], Any]:
    """Return a reader that converts the text of an option, and refuses a text that is not `expected`."""

    def read(text: str) -> Any:
        if not is_valid(text):
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
        return convert(text)

    return read


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_percentage(text: str) -> bool:
    number = text.removesuffix("%")
    return number.replace(".", "", 1).isdecimal() and float(number) <= 100


def _seconds(text: str) -> float:
    """Return a duration in seconds, or -1 for another text."""
    try:
        return parse_duration(text).total_seconds()
    except ValueError:
        return -1


def _without_slash(text: str) -> str:
    return text.rstrip("/")


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


# -- the options of the commands, which are a table in a file of its own


# The readers of the option types in commands.toml.
_READERS: Mapping[str, Callable[[str], Any]] = {
    "path": Path,
    "int": int,
    "file": file_option,
    "token": token_option,
    "token_file": token_file_option,
    "count": _checked(lambda text: _is_whole(text) and int(text) > 0, "a number; give a whole number, 1 or more", int),
    "port": _checked(lambda text: _is_whole(text) and int(text) <= 65535, "a port; give a number from 0 to 65535", int),
    "percent": _checked(
        _is_percentage, "a percentage; give a number from 0 to 100", lambda text: float(text.removesuffix("%"))
    ),
    "age": _checked(lambda text: _seconds(text) >= 0, "a time; give a duration such as 2h or 7d", _seconds),
    "seconds": _checked(
        lambda text: 0 < _seconds(text) <= _MAX_SECONDS,
        "a time limit; give seconds, or a duration such as 5min, more than 0 and at most a day",
        _seconds,
    ),
    "host_name": _checked(
        lambda text: text == ANY or is_host_name(text),
        "a host name; give a host name such as files.example.org, without a port",
    ),
    "network": _checked(
        is_network, "an IP address; give the address of the proxy, or its network such as 172.28.0.0/24"
    ),
    "origin": _checked(
        lambda text: text == ANY or is_origin(text),
        "an origin; give an origin such as https://app.example, without a path",
    ),
    "public_url": _checked(
        lambda text: is_origin(_without_slash(text)) and text.startswith(("http://", "https://")),
        "a public address; give one such as https://files.example.org, and a path as --prefix",
        _without_slash,
    ),
    "path_prefix": _checked(
        lambda text: not _without_slash(text) or is_path_prefix(_without_slash(text)),
        "a path; give a path such as /services/svc",
        _without_slash,
    ),
}


@cache
def commands() -> dict[str, dict[str, Any]]:
    """Return the commands by name, with their help, description and options, as argparse takes them."""
    return tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options of a command to a parser."""
    for name, option in commands()[command].get("options", {}).items():
        settings = {key: value for key, value in option.items() if key != "variable"}
        if "type" in option:
            settings["type"] = _READERS[option["type"]]
        parser.add_argument(name, **settings)


def warn(command: str, message: object) -> None:
    """Write a message of a command to the error output."""
    sys.stderr.write(f"svc-notebooks {command}: {terminal_text(message)}\n")


def fail(command: str, message: object, status: int = 2) -> int:
    """Write the error message of a command, and return its exit status."""
    warn(command, message)
    return status


def check_output_paths(*paths: Path | None, overwrite: bool) -> str | None:
    """Return an error message for the first path whose file must not be replaced. Return None if there is no error."""
    for path in paths:
        existing_file = existing(path) if path else None
        if existing_file and existing_file.kind != DEVICE and not overwrite:
            advice = "give --overwrite to replace the file, or choose another path"
            return f"{path} exists ({existing_file.facts}); {advice}"
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
