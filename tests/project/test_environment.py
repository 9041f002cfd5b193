"""`make lab` and `make env` on machines where something is in the way: one sentence, and no environment half made."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """tools/environment.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "tools" / "environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "LOG", tmp_path / "install.log")
    monkeypatch.setattr(module, "make", lambda: None)
    return module


@pytest.fixture
def checkout(tmp_path):
    """As much of a checkout as `make env` reads."""
    for name in ("Makefile", "pyproject.toml", "tools", "requirements", "binder"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.fixture
def make_env(checkout, tmp_path_factory):
    """`make lab` with these programs as the only Pythons; what it says."""
    programs = tmp_path_factory.mktemp("bin")
    for tool in ("make", "sh", "id", "touch", "bash"):
        (programs / tool).symlink_to(shutil.which(tool))

    def run(**pythons):
        for name, script in pythons.items():
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        options = {"cwd": checkout, "env": {"PATH": str(programs)}, "check": False}
        done = subprocess.run(["make", "lab"], capture_output=True, text=True, **options)
        assert done.returncode == 2
        assert not (checkout / ".venv").exists()
        return done.stderr

    return run


def test_no_python_at_all_is_told(make_env):
    assert "make env: no python3 of version 3.11 or later on the PATH; install one" in make_env()


def test_a_registry_that_cannot_be_reached_is_told_at_once(environment, monkeypatch, capsys, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "uv.txt").write_text("uv==0.0.0\n")
    commands = []

    def fails(command, **how):
        commands.append(command)
        if "stdout" in how:
            how["stdout"].write("WARNING: Retrying ... NewConnectionError('... Connection refused')\nERROR: No match\n")
        return subprocess.CompletedProcess(command, 1, stdout="")

    monkeypatch.setattr(environment.subprocess, "run", fails)

    assert environment.main(["binder/requirements.txt"]) == 1

    assert capsys.readouterr().err == (
        "make env: the package registry cannot be reached; connect to the network, or name a mirror in PIP_INDEX_URL\n"
    )
    assert len([words for words in commands if "install" in words]) == 1


def test_pip_does_what_uv_cannot(environment, monkeypatch):
    commands = []

    def uv_fails(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, int(command[:2] == environment.UV), stdout="")

    monkeypatch.setattr(environment.subprocess, "run", uv_fails)

    assert environment.main(["binder/requirements.txt"]) == 0

    lock = ["install", "--require-hashes", "-r", str(ROOT / "binder" / "requirements.txt")]
    assert [*environment.UV, *lock] in commands
    assert commands.index([*environment.UV, *lock]) < commands.index([*environment.PIP, *lock])
