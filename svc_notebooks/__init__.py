"""A toolkit for notebooks that runs a file-storage and calendar service in the kernel or uses a real deployment.

    >>> import svc_notebooks as svc
    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b\\n1,2\\n", name="numbers.csv")["name"].tolist()
    ['numbers.csv']

`import svc_notebooks` imports no other module of the package. The module of a name is imported when the name is first
used (PEP 562).
"""

import importlib as _importlib  # with an underscore, so that `svc.<Tab>` lists only public names
import types as _types
from pathlib import Path as _Path

__version__ = "0.1.0"


def _modules_by_name() -> dict[str, str]:
    """Return the module of each public name, from the stub, which has them in the order in which users learn them."""
    stub = _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    modules: dict[str, str] = {}
    for statement in stub.split("\nfrom .")[1:]:
        module, _, names = statement.partition("\n\n")[0].partition(" import ")
        modules |= {name.split()[0]: module for name in names.strip("()\n").split(",") if name.strip()}
    return modules


_MODULE_OF = _modules_by_name()

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_suggestion(name)}")
    value: object = getattr(_importlib.import_module(f".{module}", __name__), name)
    if isinstance(value, _types.FunctionType):
        from .core.errors.public_calls import public

        value = public(value)
        value.__module__ = __name__  # a pickled function is imported under its public name
    globals()[name] = value  # so that this function is not called again for this name
    return value


def _suggestion(name: str) -> str:
    """Return the last part of an error message, which suggests a call that does the same or a similar public name.

    Return an empty str if there is no such call or name.
    """
    if name.startswith("__"):  # a question of inspect, doctest or pytest, of which they ask hundreds
        return ""
    from difflib import get_close_matches

    from .core.suggestions import CALLS, MISSING

    if name in MISSING:
        return f"; {MISSING[name]}"
    if name in CALLS:
        return f"; did you mean {CALLS[name]}?"
    words = {*name.split("_")}
    related = [public for public in __all__ if words.issubset(public.split("_")) or words.issuperset(public.split("_"))]
    slips, others = get_close_matches(name, __all__, 1, 0.85), get_close_matches(name, __all__, 1)
    matches = slips or get_close_matches(name, related, 1, 0) or others
    return f"; did you mean {matches[0]!r}?" if matches else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
