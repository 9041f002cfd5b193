"""The options of `svc-notebooks serve`, `migrate` and `sweep` for the operator of a service."""

import argparse

from .option_types import age_option, seconds_option

_DAY = 86_400.0


def add_operation_options(serve: argparse.ArgumentParser) -> None:
    """Add the options about metrics, the log and the end of a process."""
    serve.add_argument(
        "--metrics",
        action="store_true",
        help="also serve metrics for Prometheus at {base_url}/metrics, without a token",
    )
    serve.add_argument(
        "--log-format",
        choices=("text", "json"),
        help="write a line for each request to the error output, without names, addresses and tokens",
    )
    serve.add_argument(
        "--shutdown-timeout",
        type=seconds_option,
        default=10.0,
        metavar="DURATION",
        help="after SIGTERM, the time in which requests in progress may end (default: %(default)s seconds)",
    )
    serve.add_argument(
        "--shutdown-delay",
        type=seconds_option,
        default=0.0,
        metavar="DURATION",
        help="after SIGTERM, the time for which /readyz reports the end before connections are refused (default: 0)",
    )


def add_migrate_options(command: argparse.ArgumentParser) -> None:
    """Add the two stores of a migration, and its options."""
    command.add_argument("source", metavar="FROM", help="the data folder or the address of the database to copy")
    command.add_argument("target", metavar="TO", help="a new folder, or the address of an empty database")
    command.add_argument(
        "--content",
        metavar="DIR",
        help="the folder or s3://bucket/prefix for the contents of files beside the database",
    )
    command.add_argument(
        "--discard",
        action="store_true",
        help="delete what an interrupted migration from FROM has written to TO, instead of continuing",
    )


def add_sweep_options(command: argparse.ArgumentParser) -> None:
    """Add the store that is swept, and the options of the sweep."""
    command.add_argument("store", metavar="STORE", help="a data folder, or postgresql://user@host/database")
    command.add_argument(
        "--content", metavar="DIR", help="the folder or s3://bucket/prefix for the contents of files of the database"
    )
    command.add_argument(
        "--min-age",
        type=age_option,
        default=_DAY,
        metavar="TIME",
        help="leave out parts that were written less than this time ago, such as 2h or 7d (default: 1d)",
    )
    command.add_argument("--delete", action="store_true", help="delete the parts that are listed")
