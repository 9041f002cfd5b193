"""The Binder badge of the README leads to the repository that pyproject.toml names."""

import re

import pytest

from tools.binder_badge import LINE, README, binder_url, readme_line, repository
from tools.visit_binder import BADGE


def test_the_readme_has_the_badge_of_this_repository():
    (line,) = LINE.findall(README.read_text(encoding="utf-8"))
    tag = re.search(r"/([^/?]+)\?urlpath=", line)

    assert line == readme_line(repository(), tag[1] if tag else "HEAD")


@pytest.mark.parametrize(
    "address, source",
    [
        ("https://github.com/ada/course.git", "gh/ada/course"),
        ("https://gitlab.com/school/group/course", "gl/school%2Fgroup%2Fcourse"),
        ("https://git.example.org/ada/course", "git/https%3A%2F%2Fgit.example.org%2Fada%2Fcourse"),
    ],
)
def test_the_badge_opens_the_notebook_that_the_check_opens(address, source):
    assert binder_url(address, "v1.0") == f"https://mybinder.org/v2/{source}/v1.0?urlpath={BADGE}"


@pytest.mark.parametrize("address", ["git@github.com:ada/course.git", "https://github.com"])
def test_another_address_is_an_error(address):
    with pytest.raises(ValueError, match="expected https://HOST/OWNER/NAME"):
        binder_url(address, "HEAD")
