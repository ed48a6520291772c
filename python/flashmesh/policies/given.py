"""Policies that a program passes to `run` as objects, classes or names."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.configuring.spelling import spelt_settings
from flashmesh.policies.kinds import KINDS
from flashmesh.policies.names import text_of, used_itself

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def with_policies(
    overrides: Mapping[str, Any] | None, policies: Mapping[str, object]
) -> tuple[Mapping[str, Any] | None, dict[str, object]]:
    """Returns (overrides that name the policies of a run, policies given as objects by their names).

    Raises:
        ConfigError: If a policy is given twice.
    """
    given = {KINDS[kind].key: policy for kind, policy in policies.items() if policy is not None}
    if not given:
        return overrides, {}
    for key in spelt_settings(overrides or {}):
        if key in given:
            raise ConfigError(f"{key} is given as {key.partition('.')[2]} and in overrides: drop one of them")
    texts = {key: text_of(policy) for key, policy in given.items()}
    objects: dict[str, object] = {}
    for key, policy in given.items():
        if not isinstance(policy, str | type) and objects.setdefault(texts[key], policy) is not policy:
            raise ConfigError(f"{key}: there is another {texts[key]} already: give both a repr that distinguishes them")
    return {**(overrides or {}), **texts}, objects


@contextmanager
def used_themselves(objects: Mapping[str, object]) -> Iterator[None]:
    """Makes a run use the given objects instead of copies."""
    with ExitStack() as stack:
        for text, policy in objects.items():
            stack.enter_context(used_itself(text, policy))
        yield
