"""Options for policies in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
NAMED = "flashmesh.policies"
"""Key in Click's context by which `--policy` passes its settings to `--set`."""


def policy_setting(text: str) -> tuple[str, str]:
    """Returns the configuration key and the name of a policy, from `KIND=NAME` or `NAME`.

    Without a kind, the methods of the named class determine the key.
    """
    from flashmesh._native import FlashmeshError
    from flashmesh.policies.kinds import KINDS, kinds_of
    from flashmesh.policies.names import found

    kind, equals, name = text.partition("=")
    if equals and kind.isidentifier():
        if kind not in KINDS:
            raise click.BadParameter(f"{text!r}: there is no kind {kind}; the kinds are {', '.join(KINDS)}")
        return KINDS[kind].key, name
    try:
        kinds = kinds_of(found(text)[0])
    except FlashmeshError as error:
        if error.__cause__ is not None:
            raise  # an error in the policy's code, shown with its traceback
        raise click.BadParameter(str(error)) from None
    if len(kinds) > 1:
        told = " or ".join(f"--policy {kind}={text}" for kind in kinds)
        raise click.BadParameter(
            f"{text!r}: the class implements several kinds of policy: use {told}, or several of these options"
        )
    return KINDS[kinds[0]].key, text


def keep(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    """Stores the policies of `--policy` in the context for `--set`."""
    if not ctx.resilient_parsing:
        ctx.meta[NAMED] = tuple(policy_setting(text) for text in texts)


def trust(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Allows configuration files to name policies, whose code then runs, if `--trust-policies` is given."""
    if wanted and not ctx.resilient_parsing:
        from flashmesh.policies.trust import trust_files

        trust_files()


def trust_option(command: F) -> F:
    """Adds `--trust-policies`."""
    option: Callable[[F], F] = click.option(
        "--trust-policies",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=trust,
        help="Also run policies that files name, such as configurations, sweeps and searches.",
    )
    return option(command)


def policy_options(command: F) -> F:
    """Adds `--policy` and `--trust-policies`, which must be read before the settings."""
    option: Callable[[F], F] = click.option(
        "--policy",
        multiple=True,
        is_eager=True,
        expose_value=False,
        callback=keep,
        metavar="[KIND=]FILE.py:CLASS",
        help="Use a Python class as policy; its methods determine the kind. Its code runs with your rights.",
    )
    return option(trust_option(command))
