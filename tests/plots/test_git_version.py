"""cmake/git_version.cmake: the commit that archives carry, and where none is known."""

import subprocess

import pytest
from conftest import ROOT

UNKNOWN = ("unknown", "std::nullopt")


def git(folder, *arguments) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "it's a checkout"
    (folder / "unpacked").mkdir(parents=True)
    for name in ("source.cpp", "unpacked/source.cpp"):
        (folder / name).write_text("int x;")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def version(folder) -> tuple[str, str]:
    """(commit, whether there are changes) as the header of that folder's build says."""
    header = folder.parent / "git version.hpp"
    header.unlink(missing_ok=True)
    script = ROOT / "cmake" / "git_version.cmake"
    command = ["cmake", f"-Dsource={folder}", f"-Doutput={header}", "-P", str(script)]
    subprocess.run(command, check=True)
    lines = header.read_text().splitlines()
    commit, dirty = (line.split(" = ")[1] for line in lines if line.startswith("inline"))
    return commit.strip('";'), dirty.strip(";")


def test_a_checkout_has_its_commit(checkout):
    commit = git(checkout, "rev-parse", "HEAD")
    assert version(checkout) == (commit, "false")
    (checkout / "notes.txt").write_text("untracked")
    assert version(checkout) == (commit, "false")
    (checkout / "source.cpp").write_text("int y;")
    assert version(checkout) == (commit, "true")


def test_what_is_no_checkout_has_no_commit_and_is_not_called_unchanged(checkout, tmp_path):
    assert version(tmp_path) == UNKNOWN
    assert version(checkout / "unpacked") == UNKNOWN  # the commit would be another project's


def test_a_checkout_without_a_commit_has_none(tmp_path):
    git(tmp_path, "init", "-q")
    assert version(tmp_path) == UNKNOWN
