"""Head of a page: drive, state, workload, queue depth and measured window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.report.sections.headline import SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.plots.runs import Run

VALUES_MAX = 6
"""Maximum number of values of a key that the head of a page lists; the others are counted."""
SHAPE, FABRIC = ("channels", "chips-per-channel", "dies-per-chip"), "fabric.kind"
WORDS = re.compile(r"[\w.]+|[^\w.]+")
"""Pattern that splits a text into words and the separators between them."""
COUNT = re.compile(r"\d{1,3}(?:,\d{3})*")
"""A count at the beginning of a text."""
UNIFORM = "one"
"""Value of `flash.page-types` for pages of equal array times; the other values are numbers of bits per cell."""
STATES = {
    "none": "empty: nothing was written before the run",
    "sequential": "written in order before the run",
    "random": "written, then overwritten at random before the run",
    "aged": "valid before the run, spread evenly over blocks of invalid pages",
}
"""Text on the state of a drive before the run, by `precondition.kind`."""


def facts(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Returns the facts at the head of a page as (term, text) pairs; values that differ between runs are listed."""
    if not runs:
        return []
    told = {
        "Drive": drive(runs),
        "State": alike(runs, state),
        "Workload": alike(runs, workload),
        "Depth": alike(runs, depth),
        "Window": window(runs),
    }
    return [(term, text) for term, text in told.items() if text]


def alike(runs: Sequence[Run], text: Callable[[Run], str]) -> str:
    """Returns the distinct texts of all runs, joined; merges texts that differ in a single word or number."""
    texts = list(dict.fromkeys(filter(None, map(text, runs))))
    return merged(texts) or ranged(texts) or listed(texts, "; ")


def ranged(texts: Sequence[str]) -> str:
    """Returns texts that differ only in their initial count as one text with a range of counts; else an empty text."""
    counts = [COUNT.match(text) for text in texts]
    found = [count for count in counts if count is not None]
    rests = {count.string[count.end() :] for count in found}
    if len(texts) < 2 or len(found) < len(texts) or len(rests) != 1:
        return ""
    numbers = sorted(int(count[0].replace(",", "")) for count in found)
    return f"{numbers[0]:,} to {numbers[-1]:,}{rests.pop()}"


def merged(texts: Sequence[str]) -> str:
    """Returns texts that differ in one word as a single text with all alternatives for the word; else an empty text."""
    words = [WORDS.findall(text) for text in texts]
    if len({len(each) for each in words}) != 1:
        return ""
    differ = [place for place, each in enumerate(zip(*words, strict=True)) if len(set(each)) > 1]
    if len(differ) != 1:
        return ""
    (place,) = differ
    before, after = "".join(words[0][:place]), "".join(words[0][place + 1 :])
    return f"{before}{choices([each[place] for each in words])}{after}"


def choices(texts: Sequence[str]) -> str:
    """Returns texts as alternatives (`a, b or c`), numbers in ascending order.

    More than `VALUES_MAX` texts are cut, and the rest is counted.
    """
    if all(map(str.isdecimal, texts)):
        texts = sorted(texts, key=int)
    if len(texts) > VALUES_MAX or len(texts) < 2:
        return listed(texts, ", ")
    return f"{', '.join(texts[:-1])} or {texts[-1]}"


def listed(texts: Sequence[str], between: str) -> str:
    """Returns the distinct texts joined; texts beyond the first `VALUES_MAX` are only counted."""
    each = list(dict.fromkeys(filter(None, texts)))
    left = len(each) - VALUES_MAX
    return between.join(each) if left <= 0 else f"{between.join(each[:VALUES_MAX])}{between}{left:,} others"


def over(runs: Sequence[Run], key: str) -> str:
    """Returns the distinct values of a key over all runs, joined; empty if no run has the key."""
    each = list(dict.fromkeys(value_text(value) for run in runs if (value := setting(run, key)) is not None))
    return choices(each)


def setting(run: Run, key: str) -> Any:
    """Returns the value of a key; None if the configuration of the run lacks the key."""
    try:
        return run.setting(key)
    except KeyError:
        return None


def drive(runs: Sequence[Run]) -> str:
    """Describes the drives: channels, chips, dies, cells, interconnects, and source of the configuration."""
    channels, chips, dies = (over(runs, f"geometry.{key}") for key in SHAPE)
    cells = [value_text(setting(run, "flash.page-types")) for run in runs]
    kinds = choices([kind.upper() for kind in dict.fromkeys(cells) if kind != UNIFORM])
    flash = f", {kinds} flash" if kinds else ""
    shape = f"{channels} channels x {chips} chips x {dies} {'die' if dies == '1' else 'dies'}"
    told = f"{shape}{flash}, interconnect {over(runs, FABRIC)}"
    source = listed([source_of(run.document) for run in runs], ", ")
    return f"{told} (from {source})" if source else told


def source_of(document: Mapping[str, Any]) -> str:
    """Returns the file or preset in the command line that made a result; empty without such a command line."""
    command = (document.get("provenance") or {}).get("command") or []
    # Other commands, and other programs such as a Python script, have other arguments.
    is_named = command[1:2] in (["run"], ["compare"])
    named = [str(word) for word in command[2:3] if is_named and not str(word).startswith("-")]
    return named[0].removeprefix("preset:") if named else ""


def state(run: Run) -> str:
    """Describes the state of the drive before the first request."""
    kind, fill = setting(run, "precondition.kind"), setting(run, "precondition.fill")
    told = STATES.get(kind, str(kind or ""))
    if kind == "none" or fill is None:
        return told
    return f"{float(fill):.0%} of its logical space {told}".replace("%", " %")


def tables_of(run: Run) -> dict[str, Mapping[str, Any]]:
    """Returns the configuration tables of each stream, by its name; a single stream has an empty name."""
    streams: dict[str, Mapping[str, Any]] = dict(run.configuration.get("stream") or {})
    return streams or {"": run.configuration}


def workload(run: Run) -> str:
    """Describes the number and the kind of requests of a run."""
    told = run.document["workload"]
    window = run.document["measured"]
    count = f"{(window or run.document)['requests']:,.0f} requests"
    match told:
        case {"kind": "trace" | "fitted", "file": file}:
            return f"{count} of {str(file).rpartition('/')[2]}"
        case {"kind": "profile", "name": name}:
            return f"{count} of {name}"
    tables = tables_of(run)
    if len(tables) > 1:
        return f"{count} of the streams {', '.join(tables)}"
    (table,) = tables.values()
    made = table.get("workload", {})
    if made.get("kind") != "synthetic":
        return count
    size = made.get("request-size")
    parts = [count, made.get("pattern"), SIZE.sub(r"\1 \2", size) if isinstance(size, str) else size]
    share = made.get("read-share")
    parts += [f"{share:.0%} reads".replace("%", " %")] if isinstance(share, int | float) else []
    return ", ".join(map(str, filter(None, parts)))


def depth(run: Run) -> str:
    """Describes the requests in flight of each stream, or the replay mode that determines their number."""
    found = [depth_of(name, table["replay"]) for name, table in tables_of(run).items() if "replay" in table]
    return listed(found, ", ")


def depth_of(name: str, replay: Mapping[str, Any]) -> str:
    """Describes the requests in flight of the stream `name`."""
    before = f"{name}: " if name else ""
    match replay["mode"]:
        case "open":
            return f"{before}open, requests arrive at their time stamps"
        case "closed":
            threads = replay["threads"]
            return f"{before}closed, {threads} thread{'s' if threads != 1 else ''} with one request each"
        case _:
            return f"{before}{replay['outstanding']} in flight, the next one issued as one completes"


def window(runs: Sequence[Run]) -> str:
    """Describes the simulated time that the figures cover: the measured window, or the whole run."""
    windows = [run.document["measured"] for run in runs]
    if not any(windows):
        return f"the whole run, {ends([run.document['makespan_ps'] for run in runs])} of simulated time"
    spans = [found["end_ps"] - found["start_ps"] for found in windows if found is not None]
    hows = ", ".join(
        dict.fromkeys(run.document["warm_up"]["how"] for run in runs if run.document["warm_up"] is not None)
    )
    told = f"after the warm-up (measure.warm-up = {hows}), {ends(spans)} of simulated time"
    rest = "figures of single dies and links, path conflicts, the slowest 1 % and energy cover the whole run"
    return f"{told}; {rest}"


def ends(spans: Sequence[int]) -> str:
    """Returns the shortest and the longest of some times in picoseconds, as text; one time if they are equal."""
    return " to ".join(dict.fromkeys([q.time(min(spans)), q.time(max(spans))]))
