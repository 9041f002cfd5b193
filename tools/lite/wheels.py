"""The wheels that a page can load, from PyPI and from Pyodide's own distribution, and the lock of them for Pyodide."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterable, Mapping
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PYTHON = "3.14"
PLATFORM = "pyemscripten_2026_0_wasm32"
"""PyPI's name of this Pyodide's platform (PEP 783)."""

KERNEL = (
    "micropip", "packaging", "ipython", "ipython-pygments-lexers", "jedi", "parso", "matplotlib-inline",
    "prompt-toolkit", "wcwidth", "pygments", "stack-data", "executing", "asttokens", "pure-eval", "traitlets",
    "decorator", "comm", "typing-extensions",
)  # fmt: skip
"""The packages of the kernel."""

KERNEL_EXTENSION = ("piplite", "pyodide_kernel", "ipykernel")
"""The wheels that jupyterlite-pyodide-kernel brings. Its ipykernel is a part of ipykernel, for a page."""

STARTED_WITH = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython")
"""The packages that Pyodide loads when a kernel starts."""

OURS = (
    "requests", "urllib3", "certifi", "idna", "charset-normalizer", "sqlalchemy", "tqdm", "tzdata", "ipywidgets",
    "jupyterlab-widgets", "anywidget", "psygnal", "python-dateutil", "six", "pytz", "openpyxl", "et-xmlfile",
    "xlsxwriter", "pyjwt", "python-calamine", "python-pptx", "pypdfium2", "typst", "pycparser",
    "tinycss2", "webencodings", "xlrd",
)  # fmt: skip
"""The packages that svc_notebooks uses in a browser, without h11, trustme (sockets), pandoc and tesseract."""

COMPILED = ("numpy", "pandas", "lxml", "pillow", "cffi", "cryptography")
"""The packages that Pyodide provides, because PyPI has no wheels for this platform."""

AT_ONCE = (
    "sqlalchemy", "requests", "tqdm", "tzdata", "ipywidgets", "anywidget", "openpyxl", "xlsxwriter",
    "pyjwt", "python-calamine", "python-dateutil", "charset-normalizer", "pandas", "lxml", "pillow", "python-pptx",
    "cryptography", "tinycss2", "xlrd",
)  # fmt: skip
"""The packages loaded by `import svc_notebooks`. A cell that imports another package loads that package."""

_BROWSER = {
    "sys_platform": "emscripten", "platform_system": "Emscripten", "platform_machine": "wasm32", "os_name": "posix",
    "python_version": PYTHON, "python_full_version": f"{PYTHON}.0", "implementation_name": "cpython",
    "platform_python_implementation": "CPython", "extra": "",
}  # fmt: skip

Entry = dict[str, Any]


def normal(name: str) -> str:
    """Return the normalized name of a distribution, as package indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entry(wheel: Path) -> Entry:
    """Return a wheel's entry for a Pyodide lock file. `depends` are its dependencies in a browser."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        head = HeaderParser().parsestr(archive.read(metadata).decode())
    requirements = [Requirement(text) for text in head.get_all("Requires-Dist", [])]
    return {
        "name": normal(str(head["Name"])),
        "version": str(head["Version"]),
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted({module for name in names if (module := _import_of(name))}),
        "depends": [
            normal(requirement.name)
            for requirement in requirements
            if requirement.marker is None or requirement.marker.evaluate(_BROWSER)
        ],
        "unvendored_tests": False,
    }


def _import_of(name: str) -> str | None:
    top = name.split("/")[0]
    if ".dist-info" in name or ".data" in top:
        return None
    return top.split(".")[0] if "/" in name or name.endswith((".py", ".so")) else None


def locked(lock: Mapping[str, Any], wheels: Iterable[Path], elsewhere: Mapping[str, Entry]) -> dict[str, Any]:
    """Return the Pyodide lock with only these local wheels and the packages in `elsewhere`."""
    packages = {package["name"]: package for package in map(entry, wheels)} | elsewhere
    packages["svc-notebooks"]["depends"] = list(AT_ONCE)
    for package in packages.values():
        package["depends"] = [name for name in package["depends"] if name in packages]
    return {**lock, "packages": dict(sorted(packages.items()))}
