"""Jobs of fio as streams of a configuration."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from flashmesh.importers.fio import jobs, values
from flashmesh.importers.fio.options import ALIASES, MEANINGLESS, REFUSED, TAKEN
from flashmesh.importers.fio.stream import Stream
from flashmesh.importers.problems import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh._native import ConfigError
    from flashmesh.importers.fio.jobs import Job, Option
    from flashmesh.importers.problems import Source
    from flashmesh.importers.toml_text import Value

T = TypeVar("T")
STREAMS_MAX = 256


@dataclass(slots=True)
class FioJobs:
    """What a job file asks of a drive."""

    settings: dict[str, Value] = field(default_factory=dict)
    """Keys with their values; they come before what is set by hand."""
    notes: list[str] = field(default_factory=list)
    """Options that change nothing here, and what is done otherwise than fio does."""
    source: Source | None = field(default=None, compare=False)
    """The job file."""
    places: dict[str, tuple[int, str]] = field(default_factory=dict, compare=False)
    """The line in it that each setting comes from, and what to point at there."""

    def place(self, key: str) -> list[str]:
        """The lines of an error that show where a setting comes from; none when that is not known."""
        if self.source is None or key not in self.places:
            return []
        return self.source.place(*self.places[key])

    def note(self, text: str) -> None:
        """Notes something once."""
        if text not in self.notes:
            self.notes.append(text)


def read_jobs(path: str | Path) -> FioJobs:
    """The streams that a job file describes.

    Raises:
        ConfigError: When it cannot be read, or asks for what is not modelled; the text shows the place.
    """
    path = Path(path)
    source, listed = jobs.read(path)
    found = FioJobs(source=source)
    translations = [Translation(source, path.parent, job, found) for job in listed]
    streams = [(one, clone) for one in translations for clone in range(one.clones)]
    if len(streams) > STREAMS_MAX:
        raise source.problem(
            listed[-1].line,
            f"{len(streams)} jobs, counting each of numjobs: a drive serves at most {STREAMS_MAX} streams",
        )
    names: dict[str, int] = {}
    for one, clone in streams:
        name = one.name + (f"-{clone + 1}" if one.clones > 1 else "")
        if name in names:
            raise source.problem(one.job.line, f"a job `{name}` is there already, in line {names[name]}", "rename one")
        names[name] = one.job.line
        one.translate(f"stream.{name}." if len(streams) > 1 else "", clone)
    return found


class Translation:
    """Translates one job."""

    def __init__(self, source: Source, folder: Path, job: Job, found: FioJobs) -> None:
        """Looks at every option.

        Raises:
            ConfigError: When one is unknown, or is not modelled and would change the result.
        """
        self.source = source
        self.folder = folder
        self.job = job
        self.found = found
        self.options: dict[str, Option] = {}
        for option in job.options.values():
            name = ALIASES.get(option.name, option.name)
            if name in self.options:
                raise self.problem(
                    option, f"`{option.name}` says again what `{self.options[name].name}` says", "remove one"
                )
            if self.counts(option, name):
                self.options[name] = option
        if not {"direct", "buffered"} & job.options.keys():
            found.note("fio goes through the page cache without direct=1; here every request goes to the drive")
        base = self.get("kb_base", lambda text: values.whole(text, 1000, 1024), 1024)
        self.kb_base = base if base in (1000, 1024) else 1024
        self.clones = self.get("numjobs", lambda text: values.whole(text, 1, STREAMS_MAX), 1)
        name = self.options["name"].value if "name" in self.options else job.name
        self.name = re.sub(r"[^A-Za-z0-9_-]", "-", name)

    def counts(self, option: Option, name: str) -> bool:
        """Whether an option changes what is simulated.

        Raises:
            ConfigError: When it would, and is not modelled.
        """
        if name in TAKEN:
            return True
        if name in MEANINGLESS:
            if name == "filename" and ":" in option.value:
                raise self.problem(option, "several files in one job are not modelled", "write a job for each")
            if name == "direct" and option.value == "0":
                raise self.problem(option, f"`direct=0` is not modelled: {MEANINGLESS[name]}", "write direct=1")
            self.found.note(f"{name}: no effect, {MEANINGLESS[name]}")
            return False
        refusal = REFUSED.get(name)
        if refusal is not None:
            if option.value in refusal.neutral:
                return False
            taken = " or ".join(f"{name}={value}" for value in sorted(refusal.neutral))
            neutral = f"; {taken} is taken" if taken else ""
            raise self.problem(option, f"`{name}` is not modelled: {refusal.reason}{neutral}", "remove it")
        near = suggestion(name, [*TAKEN, *MEANINGLESS, *REFUSED, *ALIASES])
        help_text = f"did you mean `{near}`?" if near else "remove it if it changes nothing for the drive"
        raise self.problem(option, f"unknown option `{name}`", help_text)

    def problem(self, option: Option, message: str, remedy: str = "") -> ConfigError:
        """An error at an option."""
        return self.source.problem(option.line, message, remedy, option.name)

    def get(self, name: str, read: Callable[[str], T], otherwise: T) -> T:
        """The value of an option.

        Raises:
            ConfigError: When it is not what the option holds.
        """
        option = self.options.get(name)
        if option is None:
            return otherwise
        try:
            return read(option.value)
        except values.Misfit as misfit:
            raise self.problem(option, f"{option.name}: {misfit}") from None

    def bytes_of(self, text: str) -> int:
        """A size."""
        return values.size(text, self.kb_base)

    def translate(self, prefix: str, clone: int) -> None:
        """Sets the keys of a stream, which begin with `prefix`."""
        stream = Stream(self, prefix)
        self.seed()
        if "read_iolog" in self.options:
            stream.log()
        else:
            stream.synthetic(clone)

    def seed(self) -> None:
        """The seed of all streams.

        Raises:
            ConfigError: When another job has another one.
        """
        if "randseed" not in self.options:
            return
        seed = self.get("randseed", values.whole, 0)
        self.found.places.setdefault("seed", (self.options["randseed"].line, "randseed"))
        if self.found.settings.setdefault("seed", seed) != seed:
            raise self.problem(
                self.options["randseed"], "another job has another `randseed`: a run has one", "move it into [global]"
            )
