"""The command line `svc-notebooks lab | run | grade | solutions | serve | check | conformance | doctor`.

lab, run, grade, solutions, serve, check, conformance    a module for each command
notebook_files, jupyter_settings                         the notebooks of the package; settings of JupyterLab
rule_report, report_plugin, deployment                   report, pytest plugin and tested deployment of `conformance`
output_file                                              checks and writes the output files of commands
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import __version__
from ..core.durations import parse_duration
from ..core.http.origins import ANY, is_host_name, is_origin


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` selects, by default `sys.argv`, and return its exit status.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    own_arguments, jupyter_arguments = _split(sys.argv[1:] if argv is None else list(argv))
    options = _parser().parse_args(own_arguments)
    match options.command:
        case "lab":
            from .lab import lab

            return lab(options.directory, jupyter_arguments, fresh=options.fresh, only_copy=options.only_copy)
        case "run":
            from .run import run

            return run(options.directory, options.jobs)
        case "grade":
            from .grade import grade

            return grade(options)
        case "solutions":
            from .solutions import solutions

            return solutions(options.directory)
        case "serve":
            from .serve import serve

            return serve(options)
        case "check":
            from .check import check

            return check(options)
        case "conformance":
            from .conformance import conformance

            return conformance(options)
        case _:
            from .. import doctor

            sys.stdout.write(doctor().to_string(index=False) + "\n")
            return 0


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split the command line into the arguments of this program and the arguments of JupyterLab.

    For the command `lab`, the arguments of JupyterLab begin at the first option that this program does not define.
    argparse alone would read the 8890 of `lab --port 8890` as the folder.

    >>> _split(["lab", "mine", "--port", "8890", "--fresh", "01"])
    (['lab', 'mine', '--fresh', '01'], ['--port', '8890'])
    """
    if argv[:1] != ["lab"]:
        return argv, []
    own, jupyter_arguments, words = ["lab"], list[str](), iter(argv[1:])
    for word in words:
        if word == "--":
            jupyter_arguments += words
        elif word.partition("=")[0] in _LAB_OPTIONS:
            own += [word, *([next(words, "")] if word == "--fresh" else [])]
        elif not jupyter_arguments and (word in ("-h", "--help") or not word.startswith("-")):
            own.append(word)
        else:
            jupyter_arguments.append(word)
    return own, jupyter_arguments


_LAB_OPTIONS = ("--fresh", "--only-copy")
_MAX_SECONDS = 86_400.0
_OVERWRITE = "replace a FILE that exists"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="svc-notebooks",
        description="A file-storage service, its client and its notebooks. Start with: svc-notebooks lab",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_lab(commands)
    _add_run(commands)
    _add_grade(commands)
    _add_solutions(commands)
    _add_serve(commands)
    _add_check(commands)
    _add_conformance(commands)
    commands.add_parser("doctor", help="show versions, limits and what to do about them")
    return parser


def _add_lab(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    lab = commands.add_parser(
        "lab",
        help="copy the notebooks to a folder and open JupyterLab there",
        description="Copies the notebooks to DIR, never over one that you changed, and opens JupyterLab"
        " there. Further arguments go to JupyterLab, for example --no-browser --port 8890.",
    )
    lab.add_argument("directory", nargs="?", type=Path, default=Path("svc-notebooks"), metavar="DIR",
        help="the folder; created if it does not exist (%(default)s)")  # fmt: skip
    lab.add_argument("--fresh", metavar="NAME",
        help="restore a notebook, such as --fresh 01; your version is kept beside it")  # fmt: skip
    lab.add_argument("--only-copy", action="store_true", help="copy the notebooks without opening JupyterLab")


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser(
        "run",
        help="execute all notebooks without a browser",
        description="Executes every notebook in DIR, prints a line for each, and saves none. Without DIR, executes the"
        " notebooks of this package in a temporary folder. Exit status 0: all succeeded; 1: at least one failed;"
        " 130: interrupted.",
    )
    run.add_argument("directory", nargs="?", type=Path, metavar="DIR")
    run.add_argument(
        "--jobs", type=_jobs, metavar="N", help="the number of notebooks to run at once (default: one per processor)"
    )


def _add_grade(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "grade",
        help="run the submissions of students, and print who has solved which exercise",
        description="DIR has a folder or a notebook for each student. Every notebook with exercises runs in a process"
        " of its own, with other data than the student had, and is graded by its requests to a service outside of"
        " that process. Exit status 0: all ran to the end; 1: at least one did not, and is named; 2: nothing to grade.",
    )
    add = command.add_argument
    add("directory", type=Path, metavar="DIR")
    add("--json", type=_file, metavar="FILE", help="also write all results, with the message of each check, as JSON")
    add("--csv", type=_file, metavar="FILE", help="also write the table as CSV")
    add("--seed", help="the seed of the students' data (default: a random one, which is printed)")
    add(
        "--cell-timeout",
        type=_seconds,
        default=30.0,
        metavar="DURATION",
        help="limit for one cell (%(default)s seconds)",
    )
    add(
        "--timeout",
        type=_seconds,
        default=120.0,
        metavar="DURATION",
        help="limit for one notebook (%(default)s seconds)",
    )
    add("--jobs", type=_jobs, metavar="N", help="the number of notebooks to run at once (default: one per processor)")
    add("--overwrite", action="store_true", help=_OVERWRITE)


def _add_solutions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "solutions",
        help="write the exercise notebooks with their solutions, for a teacher",
        description="Writes the exercise notebooks with their solutions to DIR. An existing file is not replaced.",
    )
    command.add_argument("directory", type=Path, metavar="DIR")


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = commands.add_parser(
        "serve",
        help="run the service on a socket",
        description="Prints one line of JSON when it is ready, with base_url, token, auth_scope_base, ca, control and"
        " page, the link to the live page with files, messages and requests. Stops on SIGINT and SIGTERM.",
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    serve.add_argument("--port", type=_port, default=0, help="port; 0 selects a free one (%(default)s)")
    serve.add_argument("--tls", action="store_true",
        help="use https; `ca` is then a file with the certificate authority, removed at the end")  # fmt: skip
    serve.add_argument("--token", type=_token, help="the first user's token (default: a random one)")
    serve.add_argument("--store", metavar="PATH", help="data folder, empty or of this service (default: in memory)")
    serve.add_argument("--control", action="store_true", help="also serve {base_url}/_control/...")
    serve.add_argument("--control-token", type=_token, metavar="TOKEN",
        help="bearer token that every control request must have (default: SVC_CONTROL_TOKEN)")  # fmt: skip
    serve.add_argument("--host-name", action="append", default=[], type=_host_name, metavar="NAME",
        help="another host name of the service, such as a proxy's; * for any; repeatable")  # fmt: skip
    serve.add_argument("--allow-origin", action="append", type=_origin, metavar="ORIGIN",
        help="origin whose pages may use the interface, such as https://app.example; repeatable")  # fmt: skip
    serve.add_argument("--no-live-page", action="store_true", help="serve no live page at {base_url}/")


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "check",
        help="read a whole store and report damage",
        description="Reads the database of a store and every stored part, and compares them with the recorded lengths"
        " and checksums. Nothing in DIR changes. A service that uses DIR must be stopped first. Exit"
        " status 0: no damage; 1: damage, with the affected files; 2: DIR cannot be checked.",
    )
    command.add_argument("directory", type=Path, metavar="DIR")
    command.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_conformance(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "conformance",
        help="test any deployment of the interface, rule by rule",
        description="Runs the contract suite against a deployment and prints a table by rule. It removes everything"
        " that it creates there, and changes nothing else. Exit status 0: no rule fails; 1: at least one rule fails;"
        " 2: nothing could be tested.",
    )
    add = command.add_argument
    add("base_url", nargs="?", metavar="BASE_URL", help="base address, such as https://files.example.org")
    add("--token", help="a bearer token with all scopes (default: SVC_TOKEN)")
    add("--second-token", metavar="TOKEN",
        help="a bearer token of another user, for rules about sharing (default: SVC_SECOND_TOKEN)")  # fmt: skip
    add("--rules", action="append", default=[], metavar="IDS", help="only these rules, such as A3 or A3-06,E")
    add("--list", action="store_true", help="print the rules and the number of tests of each, without a request")
    add("--json", type=_file, metavar="FILE", help="also write the results as JSON")
    add("--overwrite", action="store_true", help=_OVERWRITE)
    add("--names", action="append", default=[], metavar="FIELD=VALUE",
        help="a name that differs there: header_prefix, media_prefix, storage, kind_prefix or calendar")  # fmt: skip
    add("--address", metavar="URL", help="a receiving URL whose domain is registered there; it need not answer")
    add("--ca", type=Path, metavar="FILE", help="PEM file of certificate authorities to trust")
    add("--timeout", type=_seconds, default=30.0, metavar="DURATION",
        help="limit for one response (%(default)s seconds)")  # fmt: skip
    add("--control-token", metavar="TOKEN", help="token of its control interface (default: SVC_CONTROL_TOKEN)")
    add("--no-control", action="store_true", help="do not use its control interface")
    add("--destructive", action="store_true", help="also run tests that empty the account's trash")


def _file(text: str) -> Path:
    """Return the path of an output file. Raises ArgumentTypeError if the path is a folder or its folder is missing."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written; give a file in an existing folder")
    return path


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 0 to 65535")
    return int(text)


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of jobs; give 1 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text).total_seconds()
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time limit; give seconds, or a duration such as 5min, more than 0 and at most a day"
        )
    return seconds


def _host_name(text: str) -> str:
    if text != ANY and not is_host_name(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a host name; give a host name such as files.example.org, without a port"
        )
    return text


def _origin(text: str) -> str:
    if text != ANY and not is_origin(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an origin; give an origin such as https://app.example, without a path"
        )
    return text


def _token(text: str) -> str:
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("a token must be printable ASCII without spaces")
    return text
