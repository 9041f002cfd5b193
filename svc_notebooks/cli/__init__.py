"""The command line `svc-notebooks lab | run | grade | solutions | serve | check | backup | migrate |
sweep | conformance | doctor`.

run, grade, conformance                                  a module for each command
serve                                                    serve, check, backup, migrate and sweep; environment variables
options                                                  the options of all commands, and output files
notebook_files                                           lab; the notebooks of the package, and settings of JupyterLab
marks                                                    saved marks and tables of `grade`
"""

import argparse
import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from .. import __version__
from .options import add_options, commands, fail


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` selects, by default `sys.argv`, and return its exit status.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    own_arguments, jupyter_arguments = _split(sys.argv[1:] if argv is None else list(argv))
    options = _parser().parse_args(own_arguments)
    try:
        status = _run(options, jupyter_arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        if not _is_output_closed():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python reports it again when it ends
        return _OUTPUT_CLOSED
    return status


def _is_output_closed() -> bool:
    """Return whether the reader of the output, such as `head`, has ended, on systems that tell it."""
    with suppress(OSError, AttributeError):
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)  # only errors
        return bool(poll.poll(0))
    return False


def _run(options: argparse.Namespace, jupyter_arguments: Sequence[str]) -> int:
    match options.command:
        case "lab":
            from .notebook_files import lab

            own = {name: getattr(options, name) for name in ("fresh", "only_copy", "with_outputs")}
            return lab(options.directory, jupyter_arguments, **own)
        case "run":
            from .run import run

            return run(options.directory, options.jobs)
        case "solutions":
            from .notebook_files import solutions

            return solutions(options.directory)
        case "doctor":
            from .. import doctor

            for row in doctor().fillna("").to_dict("records"):
                fix = f"; {row['fix']}" if row["fix"] else ""
                sys.stdout.write(f"{row['status']:8} {row['check']}: {row['found']}{fix}\n")
            return 0
        case "grade" | "conformance" as name:
            status: int = getattr(import_module(f".{name}", __package__), name)(options)
            return status
        case name:
            from . import serve

            try:
                status = getattr(serve, name)(options)
            except BrokenPipeError:
                raise
            except (ImportError, OSError, ValueError, argparse.ArgumentTypeError) as error:
                return fail(name, error)
            return status


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
        elif word.startswith("--") and word.partition("=")[0] in commands()["lab"]["options"]:
            own += [word, *([next(words, "")] if word == "--fresh" else [])]
        elif not jupyter_arguments and (word in ("-h", "--help") or not word.startswith("-")):
            own.append(word)
        else:
            jupyter_arguments.append(word)
    return own, jupyter_arguments


# The exit status that a shell gives to a program that SIGPIPE ended: 128 and the number of the signal.
_OUTPUT_CLOSED = 141


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="svc-notebooks",
        allow_abbrev=False,
        description="Runs a file-storage service, its notebooks and its tests. Start with: svc-notebooks lab",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in commands().items():
        texts: Any = {key: command.get(key) for key in ("help", "description")}
        add_options(subparsers.add_parser(name, allow_abbrev=False, **texts), name)
    return parser
