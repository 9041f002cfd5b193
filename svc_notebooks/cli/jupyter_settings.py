"""The environment and the settings of JupyterLab for the notebooks: no news, encrypted kernels, trusted outputs.

`jupyter/` beside this file is a folder as JUPYTER_CONFIG_PATH names them. Its settings say:

- no news and no question about them;
- kernels are spoken to in cipher, since without it they warn at every start, and on a shared machine with a reason.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

FOLDER = Path(__file__).with_name("jupyter")


def environment(surroundings: Mapping[str, str]) -> dict[str, str]:
    """These variables, with our settings before those that are there.

    >>> environment({"JUPYTER_CONFIG_PATH": "theirs"})["JUPYTER_CONFIG_PATH"].endswith(f"jupyter{os.pathsep}theirs")
    True
    """
    paths = [str(FOLDER), *filter(None, [surroundings.get("JUPYTER_CONFIG_PATH")])]
    return {**surroundings, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def trust(notebooks: Iterable[Path]) -> None:
    """Sign notebooks of ours, so that JupyterLab shows what is saved in them before anything has run."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in notebooks:
        with suppress(OSError):  # a home that cannot be written to: they show it after a run
            notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()
