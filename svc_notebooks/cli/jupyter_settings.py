"""Configures JupyterLab with the folder `jupyter` beside this file, which is added to JUPYTER_CONFIG_PATH.

JupyterLab then shows no news, and encrypts connections to kernels. Without encryption, ipykernel warns at every start.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

FOLDER = Path(__file__).with_name("jupyter")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of environment variables in which JUPYTER_CONFIG_PATH begins with the package's settings folder.

    >>> environment({"JUPYTER_CONFIG_PATH": "theirs"})["JUPYTER_CONFIG_PATH"].endswith(f"jupyter{os.pathsep}theirs")
    True
    """
    paths = [str(FOLDER), *filter(None, [variables.get("JUPYTER_CONFIG_PATH")])]
    return {**variables, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def skip_address_parsers() -> None:
    """Prevent nbformat from building 39 parsers of international addresses, which notebooks do not need, in 1.2 s."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type] # jsonschema continues if it is missing


def trust(notebooks: Iterable[Path]) -> None:
    """Sign notebooks of the package, so that JupyterLab displays their saved outputs before the notebooks are run."""
    skip_address_parsers()
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in notebooks:
        with suppress(OSError):  # the home folder is not writable, so outputs are displayed only after a run
            notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()
