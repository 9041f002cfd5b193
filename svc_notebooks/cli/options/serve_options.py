"""The options of `svc-notebooks serve`, which are also read from environment variables."""

import argparse
from pathlib import Path

from .names_option import add_names_option
from .option_types import (
    age_option,
    count_option,
    file_option,
    host_name_option,
    network_option,
    origin_option,
    path_prefix_option,
    port_option,
    public_url_option,
    seconds_option,
    token_file_option,
    token_option,
)

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


def serve_parser() -> argparse.ArgumentParser:
    """Return a parser with the options of `svc-notebooks serve` only, which raises ArgumentError for a bad value."""
    parser = argparse.ArgumentParser(prog="svc-notebooks serve", exit_on_error=False)
    add_serve_options(parser)
    return parser


def add_serve_options(serve: argparse.ArgumentParser) -> None:
    """Add all options of `svc-notebooks serve`."""
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=port_option, default=0, help="the port to listen on (default: a free port)")
    serve.add_argument(
        "--hub",
        action="store_true",
        help="run as a managed service of JupyterHub, which sets the address, the path and the users (docs/hub.md)",
    )
    serve.add_argument(
        "--hub-domain",
        type=host_name_option,
        metavar="DOMAIN",
        help="with --hub, the domain of the users' e-mail addresses (default: svc.example)",
    )
    serve.add_argument(
        "--prefix",
        type=path_prefix_option,
        default="",
        metavar="PATH",
        help="the path below which a proxy serves the service, such as /services/svc",
    )
    serve.add_argument(
        "--public-url",
        type=public_url_option,
        metavar="URL",
        help="the scheme, host and port at which clients reach the service (default: the address it listens on)",
    )
    serve.add_argument(
        "--proxy",
        action="append",
        default=[],
        type=network_option,
        metavar="ADDRESS",
        help="use the headers Forwarded and X-Forwarded-* of the proxy at this IP address or network; can be repeated",
    )
    serve.add_argument(
        "--tls",
        action="store_true",
        help="use https; ca in the output is then the path of the CA certificate, which is removed at the end",
    )
    add_names_option(serve)
    serve.add_argument("--token", type=token_option, help="the first user's token (default: a random one)")
    for name, option in (("token", "--token-file"), ("control_token", "--control-token-file")):
        serve.add_argument(
            option,
            dest=name,
            type=token_file_option,
            metavar="FILE",
            help=f"read --{name.replace('_', '-')} from a file, so that no list of processes shows it",
        )
    serve.add_argument(
        "--store",
        metavar="PATH",
        help="the data folder of a service, or an empty folder, or postgresql://user@host/database (default: data in"
        " memory)",
    )
    serve.add_argument(
        "--content",
        metavar="DIR",
        help="with --store postgresql://..., the folder or s3://bucket/prefix for the contents of files",
    )
    serve.add_argument(
        "--shared",
        action="store_true",
        help="with --store postgresql://..., let other processes with --shared serve the same store (docs/scale.md)",
    )
    serve.add_argument(
        "--journal",
        type=int,
        metavar="N",
        help="with --store postgresql://..., keep the last N requests and deliveries of all processes in the database",
    )
    serve.add_argument(
        "--control", action="store_true", help="also serve the control interface at {base_url}/_control/"
    )
    serve.add_argument(
        "--control-token",
        type=token_option,
        metavar="TOKEN",
        help="the bearer token that the control interface requires (default: SVC_CONTROL_TOKEN, or no token)",
    )
    serve.add_argument(
        "--host-name",
        action="append",
        default=[],
        type=host_name_option,
        metavar="NAME",
        help="accept this host name, such as that of a proxy, or * for any; can be repeated",
    )
    serve.add_argument(
        "--allow-origin",
        action="append",
        type=origin_option,
        metavar="ORIGIN",
        help="allow only pages of this origin to use the interface, such as https://app.example; can be repeated",
    )
    serve.add_argument(
        "--class",
        dest="roster",
        type=Path,
        metavar="FILE",
        help="serve a class: only the students and teachers in this CSV file (name, e-mail, role) can sign in",
    )
    serve.add_argument(
        "--tokens",
        type=file_option,
        metavar="FILE",
        help="with --class, the file of the sign-in tokens (default: sign-in-tokens.csv in the folder of --store)",
    )
    for option, limit in (
        ("--quota-bytes", "bytes of files and open uploads of a student (default: 256 MiB)"),
        ("--requests-per-minute", "requests of a student in a minute (default: 600)"),
        ("--channels", "active channels of a student (default: 20)"),
    ):
        serve.add_argument(option, type=count_option, metavar="N", help=f"with --class, the most {limit}")
    add_operation_options(serve)
    serve.add_argument("--no-live-page", action="store_true", help="do not serve the live page at {base_url}/")
