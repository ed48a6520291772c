"""Order in which the requests of a job go to its files."""

from __future__ import annotations

from math import erf, log, sqrt
from typing import TYPE_CHECKING

from flashmesh.importers.fio import values

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.importers.fio.stream import Stream

ORDERS = {"roundrobin": "round-robin", "random": "random", "sequential": "sequential"}
PARTS = 1_024
"""Parts of a file over which fio draws a skewed file."""
EXACT = 1_000
"""Number of terms of a harmonic sum that are added; an integral stands for the others."""
STEPS = 32
SKEWS = {"zipf": "1.1", "pareto": "0.2", "gauss": "0", "normal": "0"}
"""Skewed orders, with fio's defaults of their parameter."""


def set_order(stream: Stream, files: int) -> None:
    """Sets the keys of `file_service_type` for a job of several files.

    Raises:
        ConfigError: If the value is unknown.
    """
    job = stream.job
    option = job.options.get("file_service_type")
    text = option.value if option is not None else "roundrobin"
    word, _, tail = text.partition(":")
    if option is not None and word not in ORDERS and word not in SKEWS:
        known = ", ".join([*ORDERS, *(name for name in SKEWS if name != "normal")])
        raise job.problem(option, f"file_service_type: `{word}` is not known", f"take one of {known}")
    stream.set("workload.file-order", ORDERS.get(word, "random"), "file_service_type", "nrfiles")
    if word in SKEWS:
        number, _, center = tail.partition(":")
        weights: list[float] = []
        weights = job.get("file_service_type", lambda _: weights_of(word, number or SKEWS[word], files), weights)
        stream.set("workload.file-weights", ":".join(f"{weight:.9g}" for weight in weights), "file_service_type")
        if center:
            job.found.note("file_service_type: the center has no effect, the first files are the popular ones")
        return
    run = job.get("file_service_type", lambda _: values.whole(tail, 1, 10**9) if tail else 1, 1)
    if run > 1 and word != "sequential":
        stream.set("workload.file-run", run, "file_service_type")


def weights_of(word: str, text: str, files: int) -> list[float]:
    """Returns the weight of each file for a skewed order.

    Raises:
        Misfit: If the parameter is out of its bounds.
    """
    number = values.number(text)
    bounds = {"zipf": 0 < number <= 5 and number != 1, "pareto": 0 < number < 1}
    if not bounds.get(word, number < 100):
        raise values.Misfit(f"{text} is no parameter of {word}")
    up_to: Callable[[float], float] = {
        "zipf": lambda share: harmonic(share * files * PARTS, number),
        "pareto": lambda share: share ** (log(1 - number) / log(number)),
    }.get(word, lambda share: normal(share, number / 100))
    ends = [up_to(at / files) for at in range(files + 1)]
    return [max(later - ends[at], 0.0) for at, later in enumerate(ends[1:])]


def harmonic(count: float, theta: float) -> float:
    """Returns the sum of k^-theta for k from 1 to `count`."""
    exact = min(int(count), EXACT)
    rest = ((count + 0.5) ** (1 - theta) - (exact + 0.5) ** (1 - theta)) / (1 - theta) if count > exact else 0.0
    return float(sum(k**-theta for k in range(1, exact + 1)) + rest)


def normal(share: float, deviation: float) -> float:
    """Returns the share of draws below `share`: the mean of twelve uniform draws, plus a uniform draw of a width."""
    sigma = 1 / 12
    middles = [(step + 0.5) / STEPS - 0.5 for step in range(STEPS)]
    return sum((1 + erf((share - 0.5 - deviation * at) / (sigma * sqrt(2)))) / 2 for at in middles) / STEPS
