import pickle

import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.core.suggestions import ONLY_IN_A_SANDBOX


@pytest.fixture
def session() -> Session:
    """A session of a service that nobody asks."""
    return Session("https://api.example.org", "token")


def test_every_attribute_of_a_sandbox_and_its_clock_has_a_way_elsewhere(session: Session):
    def public(value: object) -> set[str]:
        return {name for name in dir(value) if not name.startswith("_")}

    with svc.sandbox() as lab:
        own = public(lab) - public(session) - {"session"} | {"advance", "freeze", "set"}
        assert own == ONLY_IN_A_SANDBOX.keys()
        assert {"advance", "freeze", "set"} <= public(lab.clock)
        with pytest.raises(AttributeError, match=r"not of its session: use lab\.faults$"):
            lab.session.faults  # noqa: B018 -- the attribute raises


def test_the_error_says_what_to_do_instead(session: Session):
    for name, advice in ONLY_IN_A_SANDBOX.items():
        owner = session.clock if name in {"advance", "freeze", "set"} else session
        with pytest.raises(AttributeError, match=rf"^only a sandbox has '{name}', and this session belongs") as error:
            getattr(owner, name)
        assert advice in str(error.value)


def test_another_attribute_is_missing_as_ever(session: Session):
    assert not hasattr(session, "fautls")
    with pytest.raises(AttributeError, match="a session has no attribute 'urls'; did you mean url") as error:
        session.urls  # noqa: B018 -- the attribute raises
    assert (error.value.name, error.value.obj) == ("urls", session)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(session)
