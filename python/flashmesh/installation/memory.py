"""Memory that runs need and that is available. Runs that need more are refused before they start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashmesh._native import Config

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60
"""Bytes from which a limit counts as none: version 1 of cgroups reports a number near 2^63 for no limit."""


@dataclass(frozen=True, slots=True)
class Need:
    """Memory that runs need together, in bytes."""

    reserved: int
    """Address space that the runs reserve."""
    used: int
    """Upper bound of the memory that the runs use, as far as known before they start."""
    preconditioned: int
    """Part of `used` that preconditioning needs."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on the memory of this process."""

    name: str
    """Name of the limit in messages, such as `ulimit -v`."""
    left: int
    """Bytes left below the limit."""
    of_address_space: bool = False
    """Whether the limit applies to reserved address space instead of memory in use."""


def need(configs: Sequence[Config], at_once: int = 1, check: bool = False) -> Need:
    """Returns the memory that the `at_once` largest runs need at the same time."""
    each = [Need(*config.memory(check)) for config in configs]

    def most(values: list[int]) -> int:
        return sum(sorted(values, reverse=True)[:at_once])

    return Need(
        most([one.reserved for one in each]),
        most([one.used for one in each]),
        most([one.preconditioned for one in each]),
    )


def require(configs: Sequence[Config], at_once: int = 1, check: bool = False) -> None:
    """Refuses runs that exceed the available memory.

    Raises:
        ConfigError: If runs need too much memory. The message names the amounts, and keys that lower them.
    """
    needed = need(configs, at_once, check)
    for limit in limits():
        wanted = needed.reserved if limit.of_address_space else needed.used
        if wanted > limit.left:
            raise ConfigError(refusal(needed, wanted, limit, min(at_once, len(configs))))


def refusal(needed: Need, wanted: int, limit: Limit, at_once: int) -> str:
    """Returns the error text for runs that need `wanted` bytes, more than a limit leaves."""
    what = "the run needs" if at_once == 1 else f"{at_once} runs at once need"
    kind = "address space" if limit.of_address_space else "memory"
    remedies = ["geometry.* (a smaller drive, or larger pages)"]
    if needed.preconditioned:
        remedies.append(f"precondition.fill ({size(needed.preconditioned)} of it are for preconditioning)")
    if at_once > 1:
        remedies.insert(0, "--jobs")
    return (
        f"{what} about {size(wanted)} of {kind}, and {size(max(limit.left, 0))} are left ({limit.name}): "
        f"lower {' or '.join(remedies)}"
    )


def size(count: int) -> str:
    """Returns a number of bytes in MiB or GiB, as text."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def limits() -> Iterator[Limit]:
    """Yields the limits that apply to this process, as far as the system reports them."""
    yield from cgroup_limits()
    yield from resource_limits()
    available = fields(PROC / "meminfo").get("MemAvailable")
    if available is not None:
        yield Limit("MemAvailable of /proc/meminfo", available)


def resource_limits() -> Iterator[Limit]:
    """Yields the limits of `ulimit`."""
    try:
        import resource
    except ImportError:
        return
    taken = fields(PROC / "self/status")
    for name, number, counter in (("-v", resource.RLIMIT_AS, "VmSize"), ("-d", resource.RLIMIT_DATA, "VmData")):
        soft = resource.getrlimit(number)[0]
        if soft != resource.RLIM_INFINITY:
            yield Limit(f"ulimit {name}", soft - taken.get(counter, 0), of_address_space=True)


def cgroup_limits() -> Iterator[Limit]:
    """Yields the limits of the control groups of the process, of both cgroup versions."""
    try:
        lines = (PROC / "self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            yield from folder_limits(CGROUPS, path, "memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            yield from folder_limits(CGROUPS / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")


def folder_limits(root: Path, path: str, limit: str, usage: str) -> Iterator[Limit]:
    """Yields the limits of a control group and of its parents. In a container, only the root may be visible."""
    folder = root / path.lstrip("/")
    for group in (folder, *folder.parents):
        most, used = number_in(group / limit), number_in(group / usage)
        if most is not None and most < UNLIMITED:
            # The kernel releases cached pages of files on demand, so these count as left.
            cached = fields(group / "memory.stat").get("inactive_file", 0)
            yield Limit(str(group / limit), most - (used or 0) + cached)
        if group == root:
            return


def number_in(path: Path) -> int | None:
    """Returns the number in a file; None if the file is missing, or contains `max` or another text."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def fields(path: Path) -> dict[str, int]:
    """Returns the numbers in a file of `NAME VALUE` lines, by name.

    Values in kB are returned in bytes. Empty if the file cannot be read.
    """
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    found: dict[str, int] = {}
    for line in lines:
        words = line.replace(":", " ").split()
        if len(words) > 1 and words[1].isdigit():
            found[words[0]] = int(words[1]) * (1024 if words[-1] == "kB" else 1)
    return found
