"""Order in which the requests of a job go to its files."""

from __future__ import annotations

from math import erf, log, sqrt
from typing import TYPE_CHECKING

from flashmesh.importers.fio.notation import values
from flashmesh.importers.fio.notation.options import SKEWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.importers.fio.streams.requests import Requests
    from flashmesh.importers.fio.streams.stream import Stream

ORDERS = {"roundrobin": "round-robin", "random": "random", "sequential": "sequential"}
PARTS = 1_024
"""Number of parts of each file. For a skewed order, fio draws one of the parts of all files, and uses the file of this
part."""
EXACT = 1_000
"""Number of terms of a harmonic sum that are added; an integral approximates all further terms."""
STEPS = 32
DEVIATION_MAX = 0.5
"""Maximum width, as a share of all files, of the uniform draw that fio adds to a normal draw of a file."""


def set_order(stream: Stream, files: int, requests: Requests) -> None:
    """Sets the keys of `file_service_type` for a job of several files.

    Raises:
        ConfigError: If the value is unknown, or separates a trim from its write.
    """
    job = stream.job
    option = job.options.get("file_service_type")
    text = option.value if option is not None else "roundrobin"
    word, _, tail = text.partition(":")
    if option is not None and word not in ORDERS and word not in SKEWS:
        known = ", ".join([*ORDERS, *(name for name in SKEWS if name != "normal")])
        raise job.problem(option, f"file_service_type: `{word}` is not known", f"take one of {known}")
    if requests.deallocates_first and word != "sequential":
        require_pairs(stream, word, tail)
    stream.set("workload.file-order", ORDERS.get(word, "random"), "file_service_type", "nrfiles")
    if word in SKEWS:
        weights: list[float] = []
        weights = job.get("file_service_type", lambda _: weights_of(word, tail, files), weights)
        stream.set("workload.file-weights", ":".join(f"{weight:.9g}" for weight in weights), "file_service_type")
        if word in ("zipf", "pareto") and ":" not in tail:
            job.found.note(f"file_service_type: fio draws the file with which {word} begins; here it is the first one")
        return
    run = job.get("file_service_type", lambda _: values.whole(tail, 1, 10**9) if tail else 1, 1)
    if requests.deallocates_first:
        # fio counts a trim and its write as two requests; a turn of a file has both.
        run //= 2
    if run > 1 and word != "sequential":
        stream.set("workload.file-run", run, "file_service_type")


def require_pairs(stream: Stream, word: str, tail: str) -> None:
    """Refuses an order of files that can switch to another file between a trim and the write of the same block.

    Raises:
        ConfigError: If the order is not round-robin with an even number of requests for each file.
    """
    job = stream.job
    if word == "roundrobin" and tail.isdecimal() and int(tail) and int(tail) % 2 == 0:
        return
    given = next(name for name in ("file_service_type", "nrfiles", "filename") if name in job.options)
    raise job.problem(
        job.options[given],
        "rw=trimwrite of several files: fio trims blocks of other files before it writes one, which is not modelled",
        "take file_service_type=sequential or roundrobin:2",
    )


def weights_of(word: str, text: str, files: int) -> list[float]:
    """Returns the share of requests that go to each file with a skewed order.

    `text` has the parameter of the distribution and, after a colon, its center.

    Raises:
        Misfit: If the parameter or the center is out of its bounds.
    """
    number_text, colon, center_text = text.partition(":")
    number = values.number(number_text or SKEWS[word])
    bounds = {"zipf": 0 < number <= 5 and number != 1, "pareto": 0 < number < 1}
    if not bounds.get(word, number < 100):
        raise values.Misfit(f"{number_text} is no parameter of {word}")
    up_to: Callable[[float], float] = {
        "zipf": zipf(files * PARTS, number) if word == "zipf" else float,
        "pareto": lambda share: share ** (log(1 - number) / log(number)),
    }.get(word, lambda share: normal(share, min(number / 100, DEVIATION_MAX)))
    turn = turn_of(word, values.number(center_text), files * PARTS) if colon else 0.0
    whole = up_to(1) - up_to(0)

    def below(share: float) -> float:
        """Returns the weight of the files up to position `share` (0 to 1), after the rotation by the center."""
        turns, rest = divmod(share - turn, 1)
        return turns * whole + up_to(rest)

    ends = [below(at / files) for at in range(files + 1)]
    return [max(later - ends[at], 0.0) for at, later in enumerate(ends[1:])]


def turn_of(word: str, center: float, parts: int) -> float:
    """Returns the share of all files by which the center of a distribution rotates the weights.

    Raises:
        Misfit: If the center is above 1.
    """
    if center > 1:
        raise values.Misfit(f"{center:g} is no center between 0 and 1")
    # fio adds the center as whole parts; for a normal distribution, as an unsigned 32-bit number.
    turn = int(parts * center) if word in ("zipf", "pareto") else int(parts * (center - 0.5)) % 2**32
    return turn % parts / parts


def zipf(count: int, theta: float) -> Callable[[float], float]:
    """Returns a function from a share of `count` ranks to the probability of the ranks within this share.

    The Zipf distribution is computed with the approximation that fio uses.
    """
    total, two = harmonic(count, theta), 1 + 0.5**theta
    eta = (1 - (2 / count) ** (1 - theta)) / (1 - two / total)

    def up_to(share: float) -> float:
        rank = share * count
        if rank <= 2:
            return float((min(rank, 1) + max(rank - 1, 0) * 0.5**theta) / total)
        return float(max((share ** (1 - theta) - 1 + eta) / eta, two / total))

    return up_to


def harmonic(count: float, theta: float) -> float:
    """Returns the sum of k^-theta for k from 1 to `count`; the terms beyond `EXACT` are approximated."""
    exact = min(int(count), EXACT)
    rest = ((count + 0.5) ** (1 - theta) - (exact + 0.5) ** (1 - theta)) / (1 - theta) if count > exact else 0.0
    return float(sum(k**-theta for k in range(1, exact + 1)) + rest)


def normal(share: float, deviation: float) -> float:
    """Returns the probability that fio's approximation of a normal draw is below `share`, a share of the files.

    A draw is the mean of twelve uniform draws, plus a uniform draw of width `deviation`.
    """
    sigma = 1 / 12
    middles = [(step + 0.5) / STEPS - 0.5 for step in range(STEPS)]
    return sum((1 + erf((share - 0.5 - deviation * at) / (sigma * sqrt(2)))) / 2 for at in middles) / STEPS
