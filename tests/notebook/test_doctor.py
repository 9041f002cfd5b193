import pytest

import svc_notebooks as svc
from svc_notebooks.convert.engines import available, typst
from svc_notebooks.convert.engines.available import Engine
from svc_notebooks.notebook import doctor as module


def findings():
    return svc.doctor().set_index("check")


def test_a_session_is_none_or_answers_or_is_refused():
    assert findings().loc["session"].tolist() == ["none yet", "call sandbox() or connect()", "note"]
    with svc.sandbox() as lab:
        assert findings().loc["service", "status"] == "ok"
        assert len(svc.exchanges()) == 1
        stranger = svc.Session("https://sandbox.svc.example", "wrong", handler=lab.service.handle)
        row = svc.doctor(session=stranger).set_index("check").loc["service"]
    assert (row["found"], row["status"]) == ("NotSignedIn", "problem")
    assert "wrong" not in row["fix"]


def test_a_missing_package_an_engine_and_a_font_name_their_fix(monkeypatch):
    def version(name: str) -> str:
        if name == "pyarrow":
            raise module.PackageNotFoundError(name)
        return "1.0"

    gone = Engine("LibreOffice", lambda: False, "apt-get install libreoffice")
    everything = dict.fromkeys((script.name for script in typst.SCRIPTS), "Some Font")
    monkeypatch.setattr(module, "version", version)
    monkeypatch.setattr(available, "ENGINES", (available.TYPST, gone))
    monkeypatch.setattr(typst, "script_report", lambda: list({**everything, "Thai": None, "Han": None}.items()))
    rows = findings()

    assert rows.loc["pyarrow", "status"] == "note"
    assert "pip install" in rows.loc["pyarrow", "fix"]
    assert rows.loc["typst"].tolist() == ["found", "", "ok"]
    assert rows.loc["LibreOffice"].tolist() == ["missing", "apt-get install libreoffice", "note"]
    assert rows.loc["scripts in PDFs", "found"] == "no font for Thai, Han"
    assert rows.loc["scripts in PDFs", "fix"] == "apt-get install fonts-noto-core fonts-noto-cjk"


@pytest.mark.parametrize("writable, status", [(True, "ok"), (False, "problem")])
def test_a_journal_that_cannot_be_written_is_a_problem(tmp_path, monkeypatch, writable, status):
    monkeypatch.setattr(module.os, "access", lambda path, mode: writable)
    with svc.sandbox(tmp_path / "world"):
        assert findings().loc["pending uploads", "status"] == status
