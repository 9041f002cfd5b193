import json
import re
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import svc_notebooks as svc
from svc_notebooks.cli.notebook_files import notebooks_folder, notebooks_in
from tests.closing import closing

NOTEBOOKS = notebooks_in(notebooks_folder())

# Tags with which nbval would look away. Outputs are compared, all of them.
LOOK_AWAY = ("nbval-ignore-output", "nbval-skip", "nbval-raises-exception", "NBVAL_IGNORE_OUTPUT", "NBVAL_SKIP")
OF_A_MACHINE = re.compile(r"/home/|/root/|/Users/|/tmp/|/work/|[A-Z]:\\\\|site-packages|ipykernel_\d|0x[0-9a-f]{8,}")
A_TOKEN = re.compile(r"Bearer (?!\[redacted\]|\$SVC_TOKEN|realm=)\S+|\btoken\W{1,4}[A-Za-z0-9_\-.]{20,}")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


@pytest.mark.spec("T-05", "T-05d")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_saved_notebook_was_run_whole_and_names_no_machine_and_no_token(path):
    text, cells = path.read_text(encoding="utf-8"), code_cells(path)
    failed = [cell for cell in cells if any(output["output_type"] == "error" for output in cell["outputs"])]

    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all("raises-exception" in cell["metadata"].get("tags", []) for cell in failed)
    assert [tag for tag in LOOK_AWAY if tag in text] == OF_A_MACHINE.findall(text) == A_TOKEN.findall(text) == []
    assert read(path)["metadata"] == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.name[:2].isdigit()], ids=lambda path: path.name)
def test_cells_that_do_not_need_the_sandbox_run_with_a_connected_session(path, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(path.parent)
    with closing(), svc.sandbox() as lab, lab.serve() as server:
        monkeypatch.setattr(svc, "sandbox", lambda *_: svc.connect(server.base_url, lab.service.sign_in()))
        shell = InteractiveShell()
        for cell in code_cells(path):
            source = "".join(cell["source"])
            if not source.startswith("# needs the sandbox\n"):
                assert shell.run_cell(source).success or "raises-exception" in cell["metadata"].get("tags", [])
        for value in shell.user_ns.values():
            if isinstance(value, svc.Receiver):
                value.close()
