"""Sets up JupyterLab for the notebooks without news, with encrypted kernels and trusted outputs.

The folder `jupyter` beside this file is one for JUPYTER_CONFIG_PATH. Its settings are:

- no news, and no question about news;
- encrypted connections to kernels. Without encryption ipykernel warns at every start, because other users of a shared
  machine could read them.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

FOLDER = Path(__file__).with_name("jupyter")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return these variables with the folder of our settings in front of JUPYTER_CONFIG_PATH.

    >>> environment({"JUPYTER_CONFIG_PATH": "theirs"})["JUPYTER_CONFIG_PATH"].endswith(f"jupyter{os.pathsep}theirs")
    True
    """
    paths = [str(FOLDER), *filter(None, [variables.get("JUPYTER_CONFIG_PATH")])]
    return {**variables, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def trust(notebooks: Iterable[Path]) -> None:
    """Sign notebooks of the package, so that JupyterLab shows their saved outputs before they run."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in notebooks:
        with suppress(OSError):  # the home folder cannot be written to; outputs are shown after a run
            notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()
