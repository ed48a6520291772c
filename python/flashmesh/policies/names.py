"""Names of policies: texts that denote classes, or objects of the running program."""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.util
import inspect
import os
import sys
import threading
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, PolicyError
from flashmesh.policies.kinds import KINDS, kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

BUILT_IN = "built-in"
"""Name that leaves a decision to the simulator."""
FILE_SUFFIX = ".py"
FILE_END = f"{FILE_SUFFIX}:"
GROUP = "flashmesh.policies"
"""Group of entry points under which an installed package lists its policies."""
TEXT_MAX = 200
"""Maximum length of the `repr` of a policy object that is used in the name of the policy."""

_given: dict[str, Callable[[], object]] = {}
"""Functions that create the policies that the program passed as objects or classes, by name."""
_lock = threading.RLock()


def is_given(name: str) -> bool:
    """Returns whether a name stands for an object or a class passed by the program."""
    return name in _given


def text_of(policy: object) -> str:
    """Returns the name of a policy: a text unchanged, or MODULE:CLASS of a class or object; `BUILT_IN` for None.

    If an object defines a `repr` of at most `TEXT_MAX` printable characters, the `repr` replaces CLASS. Classes and
    copies of objects are stored under their names.
    """
    if policy is None:
        return BUILT_IN
    if isinstance(policy, str):
        return policy
    kind = policy if isinstance(policy, type) else type(policy)
    shown = kind.__qualname__
    tells_itself = "__repr__" in {name for each in kind.__mro__[:-1] for name in vars(each)}
    if kind is not policy and tells_itself:
        told = repr(policy)
        if len(told) <= TEXT_MAX and told.isprintable():
            shown = told
    text = f"{kind.__module__}:{shown}"
    if isinstance(policy, type):
        _given[text] = policy
    else:
        as_given = copy.deepcopy(policy)
        _given[text] = lambda: copy.deepcopy(as_given)
    return text


@contextmanager
def used_itself(text: str, policy: object) -> Iterator[None]:
    """Makes a run use the given object instead of a copy, so that the program can inspect the object afterwards."""
    before = _given.get(text)
    _given[text] = lambda: policy
    try:
        yield
    finally:
        if before is not None:
            _given[text] = before


def make(name: str) -> object:
    """Creates a policy by name.

    Raises:
        ConfigError: If no policy has the name.
        PolicyError: If the constructor of the policy fails; its exception is the cause.
    """
    given = _given.get(name)
    if given is not None:
        return given()
    kind, arguments = found(name)
    try:
        return kind(**arguments)
    except Exception as error:
        raise PolicyError(f"{name} cannot be made: {type(error).__name__}: {error}") from error


def found(name: str) -> tuple[type, dict[str, Any]]:
    """Returns (class that a name denotes, arguments of its constructor).

    Raises:
        ConfigError: If the class does not exist, or has no method of a policy.
        PolicyError: If the code of the file fails.
    """
    place, call = split(name)
    class_name, arguments = parsed(name, call)
    module = of_file(place, name) if place.endswith(FILE_SUFFIX) else of_module(place, name)
    kind = getattr(module, class_name, None)
    if kind is None:
        raise ConfigError(f"{place}: there is no class {class_name}{near(module)}")
    if not isinstance(kind, type):
        raise ConfigError(f"{name}: {class_name} is {kind!r}, not a class")
    if not kinds_of(kind):
        calls = ", ".join(each.call for each in KINDS.values())
        raise ConfigError(f"{name}: the class has none of the methods of a policy: {calls}")
    return kind, arguments


def split(name: str) -> tuple[str, str]:
    """Splits a name such as `FILE.py:CLASS` into (file or module, class with its arguments).

    Raises:
        ConfigError: If the name contains no class.
    """
    at = name.find(FILE_END)
    if at >= 0 and name[at + len(FILE_END) :]:
        return name[: at + len(FILE_END) - 1], name[at + len(FILE_END) :]
    place, _, call = name.partition(":")
    if not place or not call:
        raise ConfigError(f"{name!r}: names no policy: expected FILE.py:CLASS, such as my.py:MyPolicy, or MODULE:CLASS")
    return place, call


def parsed(name: str, call: str) -> tuple[str, dict[str, Any]]:
    """Splits `CLASS` or `CLASS(argument=value)` into (name of the class, arguments).

    Raises:
        ConfigError: If `call` has another form.
    """
    try:
        tree = ast.parse(call, mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            arguments = {each.arg: ast.literal_eval(each.value) for each in tree.keywords if each.arg is not None}
            if len(arguments) == len(tree.keywords):
                return tree.func.id, arguments
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise ConfigError(
        f"{name}: a class is CLASS or CLASS(argument=value, ...), where values are texts, numbers or lists"
    )


def near(module: ModuleType) -> str:
    """Returns the end of an error message with the classes of a module."""
    own = [
        each for each, value in vars(module).items() if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    return f"; its classes are {', '.join(own)}" if own else "; it has no class"


def of_module(place: str, name: str) -> ModuleType:
    """Returns the module that a name refers to.

    Raises:
        ConfigError: If the module does not exist.
        PolicyError: If the code of the module fails.
    """
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{place}.".startswith(f"{error.name}."):
            raise ConfigError(
                f"{name}: there is no module {place}; a file is named by its path, such as my.py"
            ) from error
        raise PolicyError(f"{place} cannot be imported: {error}") from error
    except Exception as error:
        raise PolicyError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error


def of_file(place: str, name: str) -> ModuleType:
    """Returns the module of a file, reloaded if the file has changed.

    Raises:
        ConfigError: If the file cannot be read.
        PolicyError: If the code of the file fails.
    """
    path = os.path.abspath(place)  # noqa: PTH100 - keeps symbolic links
    try:
        found = os.stat(path)  # noqa: PTH116
        with Path(path).open("rb"):
            pass
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name}: {place} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    with _lock:
        return executed(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def executed(path: str, changed_ns: int, size: int) -> ModuleType:
    """Executes a file that was last changed at `changed_ns`. Its imports search the folder of the file first."""
    name = f"flashmesh_policy_{Path(path).stem}_{abs(hash((path, changed_ns, size))):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(Path(path).parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PolicyError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    return module


def source_of(name: str) -> str | None:
    """Returns the file with the code of a policy; None if its code is in no file."""
    if FILE_END in name and name not in _given:
        return split(name)[0]
    module = sys.modules.get(split(name)[0]) if name in _given else of_module(split(name)[0], name)
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) and Path(file).is_file() else None
