import inspect

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import svc_notebooks as svc
from svc_notebooks.notebook.events.events import ARGUMENTS


@pytest.fixture(scope="module")
def shell():
    instance = InteractiveShell.instance()
    instance.push({"svc": svc, "create_event": svc.create_event})
    yield instance
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("use_jedi", [True, False], ids=["jedi", "signature"])
@pytest.mark.parametrize(
    "typed, names",
    [
        ("svc.create_event(transp", ["transparency="]),
        ("create_event('Tea', start='2026-11-02', loc", ["location="]),
        ("svc.create_event('Tea', guests_can_in", ["guests_can_invite_others="]),
        ("svc.update_event(made, recur", ["recurrence="]),
        ("svc.update_event(made, supports", ["supports_attachments="]),
    ],
)
def test_ipython_completes_every_argument(shell, use_jedi, typed, names):
    shell.Completer.use_jedi = use_jedi

    with provisionalcompleter():
        offered = [completion.text for completion in shell.Completer.completions(typed, len(typed))]

    assert [text for text in offered if text.endswith("=")] == names


def test_an_update_takes_every_argument_of_create_event_with_the_same_type():
    created, changed = (inspect.signature(function).parameters for function in (svc.create_event, svc.update_event))

    different = {name for name in ARGUMENTS if created[name].annotation != changed[name].annotation}
    assert different == {"start"}  # which an update need not have


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"locaton": "Room 1"}, "create_event() has no argument 'locaton'; did you mean 'location'?"),
        ({"transparent": True}, "create_event() has no argument 'transparent'; did you mean 'transparency'?"),
        ({"zzz": 1}, "create_event() has no argument 'zzz'; help(create_event) lists its arguments"),
    ],
)
def test_an_unknown_argument_is_refused_with_the_nearest_name(lab, arguments, message):
    with pytest.raises(TypeError) as raised:
        svc.create_event("Tea", start="2026-11-02", **arguments)

    assert str(raised.value) == message
    assert len(lab.journal()) == 0
