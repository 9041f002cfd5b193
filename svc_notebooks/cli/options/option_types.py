"""Reads the values of options of the command line. Each function raises ArgumentTypeError for an invalid value."""

import argparse
from pathlib import Path

from ...core.durations import parse_duration
from ...core.http.origins import ANY, is_host_name, is_network, is_origin, is_path_prefix

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


def jobs_option(text: str) -> int:
    """Return a number of jobs, 1 or more."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of jobs; give 1 or more")
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


def host_name_option(text: str) -> str:
    """Return a host name, or * for any."""
    if text != ANY and not is_host_name(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a host name; give a host name such as files.example.org, without a port"
        )
    return text


def network_option(text: str) -> str:
    """Return an IP address or a network."""
    if not is_network(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an IP address; give the address of the proxy, or its network such as 172.28.0.0/24"
        )
    return text


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


def origin_option(text: str) -> str:
    """Return an origin, or * for any."""
    if text != ANY and not is_origin(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an origin; give an origin such as https://app.example, without a path"
        )
    return text


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
