"""Attachment of the policies in a configuration to a simulation."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError, PolicyError
from flashmesh.policies.geometry import Geometry
from flashmesh.policies.kinds import BEGIN, KINDS, Kind, Port, kinds_of
from flashmesh.policies.names import make

if TYPE_CHECKING:
    from flashmesh._native import Config, Simulation

SETS = 16
"""Number of subsets of the four ports of a router."""


def attach(simulation: Simulation, config: Config) -> None:
    """Creates each policy of a run and attaches it; a policy named for several decisions is one object.

    Raises:
        ConfigError: If a policy does not exist, or is of another kind.
        PolicyError: If a policy fails before the run, or returns an invalid result; its exception is the cause.
    """
    made: dict[str, object] = {}
    for key, name in config.policies():
        kind = KINDS[key.partition(".")[2]]
        is_new = name not in made
        policy = made.setdefault(name, make(name) if is_new else None)
        refuse_misfit(kind, name, policy)
        if is_new:
            begin(policy, name, simulation, config)
        refuse_unasked(kind, name, policy, config)
        simulation.set_policy(kind.name, name, answers(policy, name) if kind.name == "routing" else policy)


def begin(policy: object, name: str, simulation: Simulation, config: Config) -> None:
    """Calls the `begin` method of a policy, if it has one, with the geometry of the drive.

    Raises:
        PolicyError: If the method fails.
    """
    method = getattr(policy, BEGIN, None)
    if method is None:
        return
    geometry = Geometry(*[*simulation.shape(), int(json.loads(config.to_json())["seed"])])
    try:
        method(geometry)
    except Exception as error:
        raise PolicyError(f"{name}.{BEGIN} raised {type(error).__name__}: {error}") from error


def refuse_misfit(kind: Kind, name: str, policy: object) -> None:
    """Refuses an object without the method of its kind of policy, such as `select` of a victim selector.

    Raises:
        ConfigError: If a method is missing, or has other arguments.
    """
    if isinstance(policy, type):
        raise ConfigError(f"{name}: gives the class {policy.__qualname__}, not an instance of it")
    wanted = {kind.method: len(kind.arguments)} | {
        each: count for each, count in kind.others.items() if hasattr(policy, each)
    }
    if hasattr(policy, BEGIN):
        wanted[BEGIN] = 1
    for method, count in wanted.items():
        found = getattr(policy, method, None)
        if found is None:
            raise ConfigError(f"{kind.key}: {name} has no method {kind.call}{instead(policy)}")
        if not callable(found):
            raise ConfigError(f"{kind.key}: {name}.{method} is {found!r}, not a method")
        try:
            inspect.signature(found).bind(*range(count))
        except TypeError as error:
            declared = f"{kind.call}: " if method == kind.method else ""
            plural = "argument" if count == 1 else "arguments"
            raise ConfigError(
                f"{kind.key}: {declared}{name}.{method} is called with {count} {plural}: {error}"
            ) from None
        except ValueError:
            pass  # the signature of a method not written in Python may be unknown


def refuse_unasked(kind: Kind, name: str, policy: object, config: Config) -> None:
    """Refuses a write placer that this configuration never calls, or an allocator whose method `stays` it never calls.

    Raises:
        ConfigError: If the configuration never calls the policy, or one of its methods.
    """
    if kind.name == "placement" and json.loads(config.to_json())["ftl"]["policy"] == "mbm":
        raise ConfigError(
            f"{kind.key} does not act on ftl.policy = mbm, which chooses planes when writes leave its queues: "
            "leave it out, or choose another ftl.policy"
        )
    if kind.name != "allocator" or not hasattr(policy, "stays"):
        return
    ftl = json.loads(config.to_json())["ftl"]
    named = dict(config.policies())
    if "policy.placement" in named:
        why = f"policy.placement is {named['policy.placement']}, which places each write once"
    elif ftl["policy"] in ("tbm", "superblock", "mbm"):
        why = f"ftl.policy is {ftl['policy']}, which chooses planes itself"
    elif ftl["write-binding"] == "early":
        why = "ftl.write-binding is early, so that a write has its page when it is placed"
    else:
        return
    raise ConfigError(f"{kind.key}: {name}.stays would never be called: {why}; remove the method, or leave the key out")


def instead(policy: object) -> str:
    """Returns the end of an error message with the kinds of policy that the object implements; empty without any."""
    others = kinds_of(policy)
    return f"; it is of the kind {' and '.join(others)}" if others else ""


def answers(policy: object, name: str) -> list[int]:
    """Returns the ports that a routing algorithm chooses for each pair of port sets (nearer, open), as bit masks.

    Raises:
        PolicyError: If the algorithm fails, or returns ports that are not open.
    """
    found: list[int] = []
    for pair in range(SETS * SETS):
        nearer, free = Port(pair // SETS), Port(pair % SETS)
        try:
            answer = policy.candidates(nearer, free)  # type: ignore[attr-defined]
        except Exception as error:
            raise PolicyError(f"{name}.candidates raised {type(error).__name__}: {error}") from error
        if isinstance(answer, bool) or not isinstance(answer, int):
            raise PolicyError(f"{name}.candidates returned {answer!r}: expected a set of ports, such as Port.EAST")
        if answer & ~free:
            raise PolicyError(f"{name}.candidates returned {answer!r}: only {free!r} are open")
        found.append(int(answer))
    return found
