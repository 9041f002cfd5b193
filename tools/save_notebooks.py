"""Executes the notebooks and saves their outputs, so that a second run leaves no diff.

    python -m tools.save_notebooks              all notebooks
    python -m tools.save_notebooks 00 upload    the notebooks whose name contains one of the words
    python -m tools.save_notebooks --check      save nothing, and return exit status 1 if a file would change

Times, widget models with their ids, and the versions of the machine are removed. Without the ids, a page without a
kernel shows a form's static view instead of an error about a missing model.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import nbformat

from svc_notebooks.cli.notebook_files import notebooks_folder, notebooks_in
from svc_notebooks.cli.run import execute

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def main(argv: list[str] | None = None) -> int:
    options = _parse(argv)
    changed = [path for path in _chosen(options.words) if _renew(path, save=not options.check)]
    return 1 if changed and options.check else 0


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="save_notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="parts of the names of notebooks")
    parser.add_argument("--check", action="store_true", help="save nothing")
    return parser.parse_args(argv)


def _chosen(words: list[str]) -> list[Path]:
    every = notebooks_in(notebooks_folder())
    return [path for path in every if not words or any(word in path.name for word in words)]


def _renew(path: Path, *, save: bool) -> bool:
    text = nbformat.writes(cleaned(execute(path))) + "\n"
    changed = text != path.read_text(encoding="utf-8")
    if changed and save:
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{path.name}: {'changed' if changed else 'same'}\n")
    return changed


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook without data that differ from run to run or from machine to machine."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02d}"
        cell.metadata = nbformat.from_dict(_kept(cell.metadata))
        for output in cell.get("outputs", []):
            _clean(output)
    return notebook


def _clean(output: nbformat.NotebookNode) -> None:
    output.get("data", {}).pop(WIDGET_VIEW, None)
    if "metadata" in output:
        output.metadata = nbformat.from_dict({})
    if "traceback" in output:  # a traceback has paths and a process id
        output.traceback = [f"{output.ename}: {output.evalue}"]


def _kept(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key == "tags"}


if __name__ == "__main__":
    sys.exit(main())
