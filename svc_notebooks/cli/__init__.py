"""The command line: `svc-notebooks lab | run | grade | solutions | serve | check | conformance | doctor`.

lab, run, grade, solutions, serve, check, conformance    one module for each command, imported when it is called
notebook_files, jupyter_settings                         the notebooks of the package; settings of JupyterLab
rule_report, report_plugin, deployment                   report, pytest plugin and deployment of `conformance`
output_file                                              output files of commands
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__
from ..core.http.origins import ANY, is_host_name, is_origin


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    ours, for_lab = _split(sys.argv[1:] if argv is None else list(argv))
    options = _parser().parse_args(ours)
    return _COMMANDS[options.command](options, for_lab)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what JupyterLab gets: after `lab`, all from the first option on that is not ours.

    argparse alone would take the 8890 of `lab --port 8890` for the folder.

    >>> _split(["lab", "mine", "--port", "8890", "--fresh", "01"])
    (['lab', 'mine', '--fresh', '01'], ['--port', '8890'])
    """
    if argv[:1] != ["lab"]:
        return argv, []
    ours, jupyter_arguments, words = ["lab"], list[str](), iter(argv[1:])
    for word in words:
        if word == "--":
            jupyter_arguments += words
        elif word.partition("=")[0] in _LAB_OPTIONS:
            ours += [word, *([next(words, "")] if word == "--fresh" else [])]
        elif not jupyter_arguments and (word in ("-h", "--help") or not word.startswith("-")):
            ours.append(word)
        else:
            jupyter_arguments.append(word)
    return ours, jupyter_arguments


_LAB_OPTIONS = ("--fresh", "--only-copy")
_MAX_SECONDS = 86_400.0
_OVERWRITE = "replace a FILE that exists"


def _lab(options: argparse.Namespace, arguments: list[str]) -> int:
    from .lab import lab

    return lab(options.directory, arguments, fresh=options.fresh, only_copy=options.only_copy)


def _run(options: argparse.Namespace, _: list[str]) -> int:
    from .run import run

    return run(options.directory, options.jobs)


def _grade(options: argparse.Namespace, _: list[str]) -> int:
    from .grade import grade

    return grade(options)


def _solutions(options: argparse.Namespace, _: list[str]) -> int:
    from .solutions import solutions

    return solutions(options.directory)


def _serve(options: argparse.Namespace, _: list[str]) -> int:
    from .serve import serve

    return serve(options)


def _check(options: argparse.Namespace, _: list[str]) -> int:
    from .check import check

    return check(options)


def _conformance(options: argparse.Namespace, _: list[str]) -> int:
    from .conformance import conformance

    return conformance(options)


def _doctor(_options: argparse.Namespace, _: list[str]) -> int:
    from .. import doctor

    sys.stdout.write(doctor().to_string(index=False) + "\n")
    return 0


_COMMANDS: dict[str, Callable[[argparse.Namespace, list[str]], int]] = {
    "lab": _lab,
    "run": _run,
    "grade": _grade,
    "solutions": _solutions,
    "serve": _serve,
    "check": _check,
    "conformance": _conformance,
    "doctor": _doctor,
}


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
        help="made if it is not there (%(default)s)")  # fmt: skip
    lab.add_argument("--fresh", metavar="NAME", help="begin a lesson anew: yours is kept beside it, such as --fresh 01")
    lab.add_argument("--only-copy", action="store_true", help="copy, and open nothing")


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser(
        "run",
        help="execute all notebooks without a browser",
        description="Executes every notebook of DIR and saves none; a line for each when it is done. Without DIR:"
        " those of this package, in a temporary folder. Exit status 0: all ran to the end; 1: one did not;"
        " 130: interrupted.",
    )
    run.add_argument("directory", nargs="?", type=Path, metavar="DIR")
    run.add_argument(
        "--jobs", type=_jobs, metavar="N", help="how many run at the same time (default: one for each processor)"
    )


def _add_grade(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "grade",
        help="run what students handed in, and print who has solved what",
        description="DIR has a folder or a notebook for each student. Every notebook with exercises runs in a process"
        " of its own, with other data than the student had, and is judged by what it asked of a service outside of"
        " that process. Exit status 0: all ran to their end; 1: one did not, and is named; 2: nothing to grade.",
    )
    add = command.add_argument
    add("directory", type=Path, metavar="DIR")
    add("--json", type=_file, metavar="FILE", help="also write everything, with what the service saw of each exercise")
    add("--csv", type=_file, metavar="FILE", help="also write the table for a spreadsheet")
    add("--seed", help="what everybody's data come from (default: drawn, and printed)")
    add("--cell-timeout", type=_seconds, default=30.0, metavar="SECONDS", help="for one cell (%(default)s)")
    add("--timeout", type=_seconds, default=120.0, metavar="SECONDS", help="for one notebook (%(default)s)")
    add("--jobs", type=_jobs, metavar="N", help="how many run at the same time (default: one for each processor)")
    add("--overwrite", action="store_true", help=_OVERWRITE)


def _add_solutions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "solutions",
        help="write the exercises with their solutions, for a teacher",
        description="Writes the notebooks of the exercises, solved, to DIR, never over one that is there.",
    )
    command.add_argument("directory", type=Path, metavar="DIR")


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = commands.add_parser(
        "serve",
        help="carry the service on a socket",
        description="Prints one line of JSON when it is ready: base_url, token, auth_scope_base, ca,"
        " control. Ends on SIGINT and SIGTERM.",
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    serve.add_argument("--port", type=_port, default=0, help="port; 0 takes a free one (%(default)s)")
    serve.add_argument("--tls", action="store_true", help="https; `ca` is then a file to trust, there while it runs")
    serve.add_argument("--token", type=_token, help="the first user's token (default: a random one)")
    serve.add_argument("--store", metavar="PATH", help="folder for everything: a store or empty (default: memory)")
    serve.add_argument("--control", action="store_true", help="also answer {base_url}/_control/...")
    serve.add_argument("--control-token", type=_token, metavar="TOKEN",
        help="each control call must send it as a bearer token (or SVC_CONTROL_TOKEN)")  # fmt: skip
    serve.add_argument("--host-name", action="append", default=[], type=_host_name, metavar="NAME",
        help="a further name under which browsers find it, such as a proxy's; * for any; repeatable")  # fmt: skip
    serve.add_argument("--allow-origin", action="append", type=_origin, metavar="ORIGIN",
        help="whose pages may use the interface, such as https://app.example; repeatable (default: all)")  # fmt: skip


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "check",
        help="read a whole store and report what is damaged",
        description="Reads the database of a store and every stored part, and compares them with the lengths and"
        " checksums that were recorded. Nothing in DIR changes. A service that uses DIR must be stopped first. Exit"
        " status 0: no damage; 1: damage, with the files that are affected; 2: DIR cannot be checked.",
    )
    command.add_argument("directory", type=Path, metavar="DIR")
    command.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_conformance(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "conformance",
        help="test any deployment of the interface, rule by rule",
        description="Runs the contract suite against a deployment and prints a table by rule. What it makes there"
        " it removes again, and it touches nothing else. Exit status 0: no rule fails; 1: one does; 2: nothing"
        " could be tested.",
    )
    add = command.add_argument
    add("base_url", nargs="?", metavar="BASE_URL", help="where it is, such as https://files.example.org")
    add("--token", help="a bearer token with all scopes (default: SVC_TOKEN of the environment)")
    add("--second-token", metavar="TOKEN", help="one of another person, for rules about sharing (SVC_SECOND_TOKEN)")
    add("--rules", action="append", default=[], metavar="IDS", help="only these, such as A3 or A3-06,E")
    add("--list", action="store_true", help="print the rules and how many tests each has, and go nowhere")
    add("--json", type=_file, metavar="FILE", help="write the results for machines, too")
    add("--overwrite", action="store_true", help=_OVERWRITE)
    add("--names", action="append", default=[], metavar="FIELD=VALUE",
        help="a name of the deployment's own: header_prefix, media_prefix, storage, kind_prefix, calendar")  # fmt: skip
    add("--address", metavar="URL", help="a receiving URL whose domain is registered there; nothing need answer")
    add("--ca", type=Path, metavar="FILE", help="certificate authorities to trust, in PEM")
    add("--timeout", type=_seconds, default=30.0, metavar="SECONDS", help="for one answer (%(default)s)")
    add("--control-token", metavar="TOKEN", help="that of its control interface (SVC_CONTROL_TOKEN)")
    add("--no-control", action="store_true", help="leave the control interface alone where there is one")
    add("--destructive", action="store_true", help="also run tests that empty the account's trash")


def _file(text: str) -> Path:
    """Where something is written at the end: what cannot be is said before the work begins."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written: give a file in a folder that is there")
    return path


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give a number from 0 to 65535")
    return int(text)


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of jobs: give 1 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no time to wait: give seconds, more than 0 and at most a day")
    return seconds


def _host_name(text: str) -> str:
    if text != ANY and not is_host_name(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a host name: give one such as files.example.org, without a port"
        )
    return text


def _origin(text: str) -> str:
    if text != ANY and not is_origin(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an origin: give one such as https://app.example, without a path"
        )
    return text


def _token(text: str) -> str:
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("a token is one word of printable ASCII")
    return text
