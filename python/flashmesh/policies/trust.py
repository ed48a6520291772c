"""Trust in files: a policy named in a file is code, and runs only with the consent of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh import provenance
from flashmesh._native import ConfigError
from flashmesh.policies.names import FILE_SUFFIX, GROUP, is_given, parsed, split

if TYPE_CHECKING:
    from collections.abc import Iterable

_files_are_trusted = False


class UntrustedError(ConfigError):
    """Error for a policy named in a file: the user has not allowed policies of files, or no package offers this one."""


def trust_files() -> None:
    """Allows files to name policies in this process, as for `--trust-policies`."""
    global _files_are_trusted
    _files_are_trusted = True


def refuse_untrusted(where: object, key: str, name: str, typed: Iterable[Any] = (), trust: bool = False) -> None:
    """Refuses a policy that a file names, if the user has not allowed the code of the policy to run.

    Args:
        where: The source of the name: a file, or an argument of a program.
        key: The key of the policy.
        name: The name of the policy.
        typed: Values given by the user directly, which are trusted.
        trust: Whether files may name policies.

    Raises:
        UntrustedError: If the file is not trusted, or the name is neither of a file nor of an entry point.
    """
    if is_given(name) or any(bare(each) == name for each in typed if isinstance(each, str)):
        return
    if not trust and not _files_are_trusted:
        raise UntrustedError(f"{where}: {key} names the policy {name}, whose code would run: {remedy(key, name)}")
    place, call = split(name)
    class_name, _ = parsed(name, call)
    if not place.endswith(FILE_SUFFIX) and not is_installed(f"{place}:{class_name}"):
        raise UntrustedError(
            f"{where}: {key} names the policy {name}, which no installed package offers: name a class in a "
            f"file, such as my.py:MyPolicy, or an entry point of the group {GROUP} of a package"
        )


def remedy(key: str, name: str) -> str:
    """Returns the option, or the argument of a function, with which the user allows a policy, as text."""
    kind = key.rpartition(".")[2]
    if provenance.command is None:
        return f"give trust_policies=True if you trust what names it, or name it in the call ({kind}={name!r})"
    return f"give --trust-policies if you trust the file, or name it on the command line (--policy {kind}={name})"


def bare(text: str) -> str:
    """Returns an override without the quotes of TOML."""
    from flashmesh.comparing.axes import typed

    return str(typed(text))


def is_installed(target: str) -> bool:
    """Returns whether an installed package lists the class `MODULE:CLASS` as a policy. Does not run its code."""
    from importlib.metadata import entry_points

    return any(entry.value.replace(" ", "") == target for entry in entry_points(group=GROUP))
