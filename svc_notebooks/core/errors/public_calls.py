"""Wraps the public functions and methods, so that an error names the wrong argument and fits on one screen.

An unknown argument is refused with the nearest one that the function has, and an error that names no argument becomes
one that does. In a notebook, ValueError, TypeError and the other built-in errors show the user's own lines, as an
SvcError does. Their type and their traceback do not change.

Functions that users pass as arguments are checked, and their errors are shown. Such an error does not change the work.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

from ..suggestions import ALIASES, BY_NAME, MAX_LISTED, NOT_ARGUMENTS, NOT_ARGUMENTS_OF, nearest_name

_PACKAGE = __name__.partition(".")[0]
_PYTHON = tuple(os.path.normcase(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))


def shorten_traceback(error: BaseException) -> None:
    """Let a notebook show only the user's own lines of an error. Without IPython, the error does not change."""
    if _shell() is not None and not hasattr(error, "_render_traceback_"):
        error._render_traceback_ = partial(render_error, error)  # type: ignore[attr-defined]


def render_error(error: BaseException) -> list[str]:
    """Return the traceback lines of an error with only the user's own lines, or in the mode Verbose with all lines.

    Returns one line with class name and message if IPython is not running.
    """
    shell = _shell()
    if shell is None:
        return [f"{type(error).__name__}: {error}"]
    printer, calls = shell.InteractiveTB, error.__traceback__
    lines: list[str]
    if printer.mode == "Verbose":
        lines = printer.structured_traceback(type(error), error, calls)
    else:
        with _without_causes(error):
            lines = printer.structured_traceback(type(error), error, own_frames(calls), tb_offset=0)
    return lines


@contextmanager
def _without_causes(error: BaseException) -> Iterator[None]:
    """Remove the exceptions that led to an error inside the block. A user's class of errors may refuse to be copied."""
    causes = error.__cause__, error.__context__, error.__suppress_context__
    error.__cause__ = error.__context__ = None
    try:
        yield
    finally:
        error.__cause__, error.__context__, error.__suppress_context__ = causes


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def own_frames(calls: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the frames of this package, of other installed packages and of Python."""
    if calls is None:
        return None
    inner = own_frames(calls.tb_next)
    return TracebackType(inner, calls.tb_frame, calls.tb_lasti, calls.tb_lineno) if _is_own(calls.tb_frame) else inner


def _is_own(frame: FrameType) -> bool:
    file = os.path.normcase(frame.f_code.co_filename)
    is_library = file.startswith((*_PYTHON, "<frozen")) or any(folder in file for folder in _INSTALLED)
    is_compiled = file.endswith(".pyx")  # a relative path in pandas
    return str(frame.f_globals.get("__name__")).partition(".")[0] != _PACKAGE and not (is_library or is_compiled)


# The annotations whose values are checked, and the names of the classes of which a value may be an instance.
_TYPES: dict[str, tuple[str, tuple[str, ...]]] = {
    # annotation    in words           classes
    "str": ("a str", ("str",)),
    "Literal": ("a str", ("str",)),
    "bool": ("True or False", ("bool", "bool_")),  # numpy's too
    "int": ("a whole number", ("int", "integer")),
    "Mapping": ("a dict", ("Mapping", "dict")),
    "PathLike": ("a path", ("PurePath", "PathLike")),
    "Policy": ("a Policy", ("Policy",)),
    "Names": ("Names", ("Names",)),
    "None": ("None", ("NoneType",)),
}


def _wrong_argument(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str | None:
    """Return an error message for the first argument that its annotation does not allow, or None without one."""
    signature = inspect.signature(function)
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        parts = re.split(r"\|(?![^\[]*\])", str(signature.parameters[name].annotation))
        words = [part.strip().partition("[")[0].rpartition(".")[2] for part in parts]
        classes = {kind.__name__ for kind in type(value).__mro__}
        if all(word in _TYPES for word in words) and not any(classes.intersection(_TYPES[word][1]) for word in words):
            expected = " or ".join(dict.fromkeys(_TYPES[word][0] for word in words))
            return f"{name} must be {expected}, not {type(value).__name__}"
    return None


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

# The errors whose message is enough. Any other error, such as KeyError, is a defect, and shows where it was raised.
SHORT = (ValueError, TypeError, OSError, RuntimeError, ImportError, KeyboardInterrupt)


def public(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function with clear errors and the aliases of arguments. Its name and signature do not change."""
    aliases = ALIASES.get(function.__name__, {})

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        for alias in aliases.keys() & kwargs.keys():
            if aliases[alias] not in kwargs:
                kwargs[aliases[alias]] = kwargs.pop(alias)
        try:
            return function(*args, **kwargs)
        except (*SHORT, AttributeError) as error:
            message = _better_message(error, function, args, kwargs)
            if message is not None:
                better = (ValueError if isinstance(error, UnicodeEncodeError) else TypeError)(message)
                shorten_traceback(better)
                raise better from error
            if isinstance(error, SHORT):
                shorten_traceback(error)
            raise

    return call


def public_methods(owner: Class) -> Class:
    """Give the constructor and the public methods of a class clear errors. This is a class decorator."""
    for name, value in list(vars(owner).items()):
        if inspect.isfunction(value) and (name == "__init__" or not name.startswith("_")):
            setattr(owner, name, public(value))
    return owner


def public_constructor(owner: Class) -> Class:
    """Give the constructor of a class clear errors. Its methods, which only this package calls, stay as they are."""
    setattr(owner, "__init__", public(vars(owner)["__init__"]))  # noqa: B010 -- mypy refuses an assignment
    return owner


def _better_message(
    error: BaseException, function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, object]
) -> str | None:
    """Return a message that names the wrong argument, or None if the error names it or no argument is wrong."""
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        near = error.object[max(0, error.start - 10) : error.end + 10]
        return f"the text {near!r} has a lone surrogate, which cannot be sent; replace this character"
    if type(error) not in (TypeError, ValueError, AttributeError):
        return None
    if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # no line of the function has run
        return _call_problem(function, args, kwargs)
    if type(error) is not AttributeError and any(
        re.search(rf"\b{name}\b", str(error)) for name in inspect.signature(function).parameters
    ):
        return None
    return _wrong_argument(function, args, kwargs)


def _call_problem(function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, object]) -> str | None:
    """Return the message for arguments that are not in the signature, or None for another problem."""
    parameters = inspect.signature(function).parameters.values()
    by_position = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    is_method = by_position[:1] == ["self"]
    count, allowed = len(args) - is_method, by_position[is_method:]
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)][is_method:]
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]  # users know the object, not its class
    kinds = {p.kind for p in parameters}
    unknown = [keyword for keyword in kwargs if keyword not in by_name]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        if "policy" in by_name and nearest_name(unknown[0], by_name, similarity=0.66) is None:
            policy = get_args(get_type_hints(function)["policy"])[0]
            if setting := nearest_name(unknown[0], [*inspect.signature(policy).parameters], similarity=0.75):
                return f"{name}() has no argument {unknown[0]!r}; did you mean policy=svc.Policy({setting}=...)?"
        return unknown_argument(name, unknown[0], by_name)
    if twice := [keyword for keyword in allowed[:count] if keyword in kwargs]:
        return f"{name}() has the argument {twice[0]} twice, once without its name; give it once"
    required = [p for p in [*parameters][is_method:] if p.default is p.empty and p.kind not in _VARIABLE]
    if missing := [p.name for p in required if p.name not in {*allowed[:count], *kwargs}]:
        if meant := [keyword for keyword in unknown if nearest_name(keyword, missing, similarity=0.66)]:
            return unknown_argument(name, meant[0], missing)
        example = ", ".join(f"{p.name}=..." if p.kind is p.KEYWORD_ONLY else p.name for p in required)
        return f"{name}() needs {' and '.join(missing)}; write {name}({example})"
    if count > len(allowed) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        places = f"only {' and '.join(allowed)}" if allowed else "no argument"
        rest = [keyword for keyword in by_name if keyword not in allowed]
        instead = f"; {NOT_ARGUMENTS_OF[name][1]}" if name in NOT_ARGUMENTS_OF else ""
        hint = f"; name the others, like {BY_NAME.get(name, f'{rest[0]}=...')}" if rest else instead
        return f"{name}() takes {places} without a name, not {count} argument{'' if count == 1 else 's'}{hint}"
    return None


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def unknown_argument(function: str, name: str, known: list[str]) -> str:
    """Return the error message for an argument that a function does not have.

    >>> unknown_argument("upload", "mimeType", ["name", "mime_type"])
    "upload() has no argument 'mimeType'; did you mean 'mime_type'?"
    """
    near = nearest_name(name, known, similarity=0.66)
    if near is not None:
        return f"{function}() has no argument {name!r}; did you mean {near if '=' in near else repr(near)}?"
    names, instead = NOT_ARGUMENTS_OF.get(function, ("", ""))
    if re.fullmatch(names, name):
        return f"{function}() has no argument {name!r}; {instead}"
    if name in NOT_ARGUMENTS:
        return f"{function}() has no argument {name!r}; {NOT_ARGUMENTS[name]}"
    if len(known) > MAX_LISTED:
        return f"{function}() has no argument {name!r}; help({function}) lists its arguments"
    return f"{function}() has no argument {name!r}; it takes {', '.join(known) or 'none'}"


def takes(function: Callable[..., object], count: int) -> bool:
    """Return True if a function can be called with `count` arguments by position, or if it does not show its arguments.

    >>> takes(lambda: None, 0), takes(lambda: None, 1), takes(print, 2)
    (True, False, True)
    """
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a function that is written in C may have no signature
        return True
    return True


def check_function(argument: str, function: Callable[..., object], parameters: tuple[str, ...]) -> None:
    """Raise TypeError if a function cannot be called with these parameters. `argument` is for the error message.

    >>> check_function("progress", lambda done: None, ("done", "total"))
    Traceback (most recent call last):
    TypeError: progress must be a function of (done, total), but <lambda> is a function of (done)
    """
    if not takes(function, len(parameters)):
        name = getattr(function, "__name__", type(function).__name__)
        expected = f"of ({', '.join(parameters)})" if parameters else "without arguments"
        actual = ", ".join(inspect.signature(function).parameters)
        raise TypeError(f"{argument} must be a function {expected}, but {name} is a function of ({actual})")


def show_error(where: str, error: Exception) -> None:
    """Print an error of a user's function with the user's own lines to standard error, in a notebook below the cell."""
    lines = traceback.format_exception(type(error), error, own_frames(error.__traceback__))
    if sys.stderr is not None:
        print(f"{where}\n{''.join(lines)}", end="", file=sys.stderr, flush=True)
