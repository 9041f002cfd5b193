"""The process that runs LibreOffice for a worker process. `libreoffice.py` starts this file as a script.

The process loads LibreOffice once, through its C interface LibreOfficeKit, and forks a child for each conversion. A
child can read only its own folder, programs and fonts, and has no network, so no document can affect or read another.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import resource
import signal
import struct
import sys
from functools import partial
from pathlib import Path
from typing import Any

_LIBRARIES = ("libsofficeapp.so", "libmergedlo.so")
_IDLE_SECONDS = 300
_WRITTEN, _FAILED, _NOT_ISOLATED = 0, 1, 2  # exit codes of a child
_READABLE = (
    "/usr/share", "/usr/lib", "/usr/lib64", "/usr/local/share/fonts", "/lib", "/lib64", "/etc/fonts",
    "/etc/libreoffice", "/var/lib/libreoffice", "/var/spool/libreoffice", "/var/cache/fontconfig", "/dev/urandom",
    "~/.fonts", "~/.local/share/fonts", "~/.cache/fontconfig",
)  # fmt: skip

_POINTER, _STRING = ctypes.c_void_p, ctypes.c_char_p
_LOAD = ctypes.CFUNCTYPE(_POINTER, _POINTER, _STRING)
_SAVE_AS = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _STRING, _STRING, _STRING)


class _Methods(ctypes.Structure):
    """The beginning of the C structures LibreOfficeKitClass and LibreOfficeKitDocumentClass: the third is a method."""

    _fields_ = [("size", ctypes.c_size_t), ("destroy", _POINTER), ("method", _POINTER)]


def _method(instance: int, prototype: Any) -> Any:
    """Return documentLoad of an office, or saveAs of a document. `instance` points to a pointer to the methods."""
    methods = ctypes.cast(_POINTER.from_address(instance), ctypes.POINTER(_Methods)).contents
    return prototype(methods.method)


def _convert(library: Any, program: Path, request: dict[str, Any]) -> int:
    """Convert `source` to `target` with a new profile in their folder. Returns the exit code."""
    source, target = Path(request["source"]), Path(request["target"])
    os.environ["TMPDIR"] = str(source.parent)
    resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    is_isolated = _isolate([program.parent, *map(Path, map(os.path.expanduser, _READABLE))], source.parent)
    if request["isolated"] and not is_isolated:
        return _NOT_ISOLATED
    library.libreofficekit_hook_2.restype = _POINTER
    office = library.libreofficekit_hook_2(os.fsencode(program), (source.parent / "profile").as_uri().encode())
    document = office and _method(office, _LOAD)(office, source.as_uri().encode())
    is_written = document and _method(document, _SAVE_AS)(document, target.as_uri().encode(), None, None)
    return _WRITTEN if is_written else _FAILED


_NO_NEW_PRIVILEGES = 38
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_READ, _READ_FILE = 0b1101, 0b0100  # _READ: also execute files and list folders
_CONNECT = 0b11  # bind and connect TCP sockets
_RIGHTS_BY_VERSION = {1: 13, 2: 14}


def _isolate(readable: list[Path], writable: Path) -> bool:
    """Deny this process the network and other folders. Returns whether the kernel can (Landlock in Linux 5.13)."""
    libc = ctypes.CDLL(None)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.unshare(_NEW_USER | _NEW_NETWORK):
        libc.unshare(_NEW_NETWORK)
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << _RIGHTS_BY_VERSION.get(version, 15)) - 1
    ruleset = libc.syscall(_CREATE_RULESET, struct.pack("QQ", rights, _CONNECT), 16 if version >= 4 else 8, 0)
    for path, allowed in [*((path, _READ) for path in readable), (writable, rights)]:
        if path.exists():
            rule = struct.pack("=Qi", allowed if path.is_dir() else _READ_FILE, os.open(path, os.O_PATH))
            libc.syscall(_ADD_RULE, ruleset, 1, rule, 0)
    isolated: bool = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    return isolated


def _load(program: Path, profile: str) -> Any:
    """Load LibreOffice with the settings of a profile, which LibreOffice does not change. Returns the library."""
    layers = re.search(r"^CONFIGURATION_LAYERS=(.*)", (program / "fundamentalrc").read_text(), re.MULTILINE)
    if layers:
        os.environ["CONFIGURATION_LAYERS"] = layers[1].replace("user:!", "user:*")  # * makes a layer read-only
    os.environ["UserInstallation"] = profile  # noqa: SIM112
    library = ctypes.CDLL(str(next(path for name in _LIBRARIES if (path := program / name).is_file())))
    if library.lok_preinit(os.fsencode(program), None) != 0 or len(list(Path("/proc/self/task").iterdir())) > 1:
        sys.exit("LibreOffice cannot be loaded, or has started threads, which a fork would lose.")
    return library


def main() -> None:
    """Answer each request (a line of JSON) with the exit code of its child, which is negative after a signal."""
    program = Path(sys.argv[1])
    responses = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard_limit, hard_limit))  # LibreOffice maps much more than it uses
    signal.alarm(_IDLE_SECONDS)
    library = _load(program, sys.argv[2])
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            exit_code = _FAILED
            try:
                exit_code = _convert(library, program, request)
            finally:
                os._exit(exit_code)
        signal.signal(signal.SIGALRM, partial(_kill, child))
        signal.alarm(math.ceil(request["seconds"]))
        responses.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        responses.flush()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_IDLE_SECONDS)


def _kill(child: int, *_: object) -> None:
    os.kill(child, signal.SIGKILL)  # LibreOffice handles the other signals


if __name__ == "__main__":
    main()
