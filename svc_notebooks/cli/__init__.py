# ruff: noqa: E501  the commands are a table
"""The command line `svc-notebooks lab | run | grade | solutions | serve | check | backup | migrate |
sweep | conformance | doctor`.

run, grade, serve, conformance                           a module for each command
stores                                                   check, backup, migrate and sweep
options, environment                                     options of commands; the service that they or variables open
notebook_files                                           lab; the notebooks of the package, and settings of JupyterLab
output_file, marks                                       output files of commands; saved marks and tables of `grade`
"""

import argparse
import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from .. import __version__
from .options import (
    CONFORMANCE_OPTIONS,
    GRADE_OPTIONS,
    MIGRATE_OPTIONS,
    SERVE_OPTIONS,
    SWEEP_OPTIONS,
    Option,
    add_options,
    count_option,
)


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
                sys.stdout.write(
                    f"{row['status']:8} {row['check']}: {row['found']}{'; ' * bool(row['fix'])}{row['fix']}\n"
                )
            return 0
        case name:
            module = import_module(f".{_MODULES.get(name, name)}", __package__)
            status: int = getattr(module, name)(options)
            return status


_MODULES = dict.fromkeys(("check", "backup", "migrate", "sweep"), "stores")
"""The modules of commands that are not in a module of their own name."""


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


_OUTPUT_CLOSED = 141
"""The exit status that a shell gives to a program that SIGPIPE ended: 128 and the number of the signal."""
_LAB_OPTIONS = ("--fresh", "--only-copy", "--with-outputs")


# fmt: off
_COMMANDS: tuple[tuple[str, str, str | None, Sequence[Option]], ...] = (
    ("lab", "copy the notebooks to a folder and open JupyterLab there",
     "Copies the notebooks without their outputs to DIR and opens JupyterLab there. A notebook that you changed is not"
     " replaced. Further arguments are passed to JupyterLab, for example --no-browser --port 8890.", (
        ("directory", "the folder, which is created if it does not exist (default: %(default)s)", {"nargs": "?", "type": Path, "default": Path("svc-notebooks"), "metavar": "DIR"}),
        ("--fresh", "replace a notebook by the original, such as --fresh 01; your version is kept under a new name", {"metavar": "NAME"}),
        ("--only-copy", "copy the notebooks without opening JupyterLab", {"action": "store_true"}),
        ("--with-outputs", "copy the outputs of the notebooks too, for teachers", {"action": "store_true"}),
    )),
    ("run", "execute all notebooks without a browser",
     "Executes every notebook in DIR and prints a line for each. The notebooks are not saved. Exit status 0: all "
     "succeeded; 1: at least one failed; 130: interrupted.", (
        ("directory", "the folder of the notebooks (default: a temporary folder with the notebooks of this package)", {"nargs": "?", "type": Path, "metavar": "DIR"}),
        ("--jobs", "the number of notebooks to run at once (default: the number of processors)", {"type": count_option, "metavar": "N"}),
    )),
    ("grade", "run the submissions of students, and print which exercises each student has solved",
     "Runs every notebook with exercises in a separate process, with data that the student has not seen, and "
     "grades the requests that the service received. The service runs outside of that process. Exit status 0: all "
     "notebooks ran to the end; 1: the named notebooks did not; 2: there was nothing to grade; 130: it was "
     "interrupted.", GRADE_OPTIONS),
    ("solutions", "write the exercise notebooks with their solutions, for teachers",
     "Writes the exercise notebooks with their solutions to DIR. An existing file is not replaced.", (
        ("directory", "the folder, which is created if it does not exist", {"type": Path, "metavar": "DIR"}),
    )),
    ("serve", "run the service on a socket, for programs in any language",
     "Runs the service until SIGINT or SIGTERM. When the service is ready, the command prints one line of JSON "
     "with base_url, token, auth_scope_base, ca, control and page. page is the link to the live page, which shows "
     "files, messages and requests.", SERVE_OPTIONS),
    ("check", "read a data folder of the service and report damage",
     "Reads the database and all stored content in DIR, and verifies the lengths and checksums. Changes nothing in"
     " DIR. Stop the service that uses DIR first. Exit status 0: no damage; 1: damage, printed with the affected "
     "files; 2: DIR cannot be checked.", (
        ("directory", "the folder of serve --store or sandbox(path)", {"type": Path, "metavar": "DIR"}),
        ("--json", "print the report as JSON", {"action": "store_true"}),
    )),
    ("backup", "copy a data folder of the service, which may be in use",
     "Copies the database and all stored content in DIR, as they are at one moment, to the new folder TO, which "
     "serve --store TO can open. The service that uses DIR continues. Exit status 0: copied; 1: copied, and some "
     "content in DIR is damaged; 2: DIR cannot be copied.", (
        ("directory", "the folder of serve --store or sandbox(path)", {"type": Path, "metavar": "DIR"}),
        ("target", "the folder of the copy, which is empty or does not exist", {"type": Path, "metavar": "TO"}),
    )),
    ("migrate", "copy a store from a data folder to PostgreSQL, or back",
     "Copies all rows and contents of the store FROM to the empty place TO, and verifies the copy. One of FROM and"
     " TO is a data folder, and the other is postgresql://user@host/database with --content. FROM is not changed. "
     "Stop its services first. Tokens, upload sessions, channels, page tokens and sync tokens stay valid at the "
     "same address. The same command continues an interrupted migration. Exit status 0: copied; 2: not copied.", MIGRATE_OPTIONS),
    ("sweep", "list or delete stored parts that belong to no file",
     "Lists the parts of contents in STORE that belong to no file and no upload, such as those of a process that "
     "was killed. With --delete, deletes them. Stop the services of STORE first. Exit status 0: listed or deleted;"
     " 1: a part could not be deleted; 2: STORE cannot be used.", SWEEP_OPTIONS),
    ("conformance", "test a deployment of the interface, rule by rule",
     "Runs the contract tests against a deployment and prints a row for each rule. The tests remove everything "
     "that they create there, and change nothing else. Exit status 0: no rule fails; 1: at least one rule fails; "
     "2: nothing could be tested.", CONFORMANCE_OPTIONS),
    ("doctor", "check the installation, and show how to fix problems", None, ()),
)
# fmt: on
"""The commands: the name, the help, the description and the options."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="svc-notebooks",
        allow_abbrev=False,
        description="Runs a file-storage service, its notebooks and its tests. Start with: svc-notebooks lab",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text, description, options in _COMMANDS:
        add_options(commands.add_parser(name, help=text, description=description, allow_abbrev=False), options)
    return parser
