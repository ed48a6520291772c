"""Translation of the jobs of a file to streams of a configuration."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from flashmesh.importers.fio.idle import note_idle
from flashmesh.importers.fio.layout import Layout, Unplaced, Wanted, is_device
from flashmesh.importers.fio.notation import jobs, values
from flashmesh.importers.fio.notation.options import ALIASES, DIFFERENT, MEANINGLESS, REFUSED, TAKEN
from flashmesh.importers.fio.phases import phases_of
from flashmesh.importers.fio.streams.pace import require_drive, sides_of
from flashmesh.importers.fio.streams.sizes import DEFAULT_SIZE, smallest_block
from flashmesh.importers.fio.streams.stream import Stream
from flashmesh.importers.problems import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashmesh._native import ConfigError
    from flashmesh.importers.fio.notation.jobs import Job, Option
    from flashmesh.importers.problems import Source
    from flashmesh.importers.toml_text import Value

T = TypeVar("T")
STREAMS_MAX = 256
FILES_MAX = 4_096
"""Maximum number of files of one clone of a job."""
NAME_MAX = 56
"""Maximum length of the name of a stream, without the suffix of a clone."""
KB_BASE = 1024
"""Default of fio's `kb_base`."""
IEC = re.compile(r"[0-9][kmgtp]ib", re.IGNORECASE)
"""A size with a prefix of the IEC, such as 4KiB."""
SIDES = ("reads", "writes")
"""Suffixes of the two streams of a mix in which only one kind of request has a rate."""
PAGE_CACHE = ("direct", "buffered")
"""Options that select the page cache."""


@dataclass(slots=True)
class FioJobs:
    """Streams and settings of a job file."""

    settings: dict[str, Value] = field(default_factory=dict)
    """Configuration keys with their values; settings of the caller take precedence over these."""
    notes: list[str] = field(default_factory=list)
    """Notes on options without effect, and on behaviour that differs from fio's."""
    without_effect: dict[str, list[str]] = field(default_factory=dict, compare=False)
    """Options without effect on a simulated drive, by the reason."""
    source: Source | None = field(default=None, compare=False)
    """The job file."""
    places: dict[str, tuple[int, str]] = field(default_factory=dict, compare=False)
    """Place of each setting in the job file: the number of its line, and the text that errors mark in this line."""
    path: Path | None = field(default=None, compare=False)
    asks_capacity: bool = field(default=False, compare=False)
    """Whether some settings depend on the capacity of the drive, so that `on` must be called with it."""
    jobs: list[tuple[str, dict[str, str]]] = field(default_factory=list, compare=False)
    """For each stream, the name of its job, and the options of the job including those of global sections."""
    shared: dict[str, str] = field(default_factory=dict, compare=False)
    """Options of the global sections, by name; if several of these sections set an option, the value for the last job
    of the file."""

    def place(self, key: str) -> list[str]:
        """Returns the lines of an error that show the origin of a setting; empty for a setting of unknown origin."""
        if self.source is None or key not in self.places:
            return []
        return self.source.place(*self.places[key])

    def note(self, text: str) -> None:
        """Adds a note, each text once."""
        if text not in self.notes:
            self.notes.append(text)

    def on(self, capacity: int) -> FioJobs:
        """Returns the jobs for a drive of `capacity` bytes."""
        if not self.asks_capacity or self.path is None:
            return self
        # Callers may change the returned settings. Without `asks_capacity`, no later call of `on` recomputes them.
        return replace(read_jobs(self.path, capacity), asks_capacity=False)


def read_jobs(path: str | Path, capacity: int | None = None) -> FioJobs:
    """Reads the streams of a job file.

    Args:
        path: The job file.
        capacity: Bytes of the drive. Without it, shares of the drive are computed for 1 TiB, and `FioJobs.on`
            recomputes them for another capacity.

    Raises:
        ConfigError: If the file cannot be read, or requires something that is not modelled; the message shows the
        place.
    """
    path = Path(path)
    found = FioJobs(path=path)
    source, listed = jobs.read(path, found.notes)
    found.source = source
    # Options of global sections are those in lines before the heading of the job.
    found.shared = {
        option.name: option.value for job in listed for option in job.options.values() if option.line < job.line
    }
    layout = Layout(capacity)
    translations = [Translation(source, path.parent, job, found, layout) for job in listed]
    streams = [(one, clone, side) for one in translations for clone in range(one.clones) for side in sides_of(one)]
    if len(streams) > STREAMS_MAX:
        raise source.problem(
            listed[-1].line,
            f"{len(streams)} jobs, counting each of numjobs: a drive serves at most {STREAMS_MAX} streams",
        )
    logs = [one for one, *_ in streams if "read_iolog" in one.options]
    try:
        layout.place([Wanted(one.paths(clone), one.wanted(clone)) for one, clone, _ in streams if one not in logs])
    except Unplaced as unplaced:
        raise source.problem(listed[0].line, str(unplaced), unplaced.remedy) from None
    devices = sorted({path for one, clone, _ in streams for path in one.paths(clone) if is_device(path)})
    if len(devices) > 1:
        found.note(f"{', '.join(devices)}: each is a range of the one drive, whose jobs share its chips and its link")
    phases = phases_of(translations)
    names: dict[str, int] = {}
    for one, clone, side in streams:
        name = one.name + (f"-{clone + 1}" if one.clones > 1 else "") + (f"-{SIDES[side]}" if side is not None else "")
        if name in names:
            name = next(f"{name}-{number}" for number in range(2, STREAMS_MAX + 2) if f"{name}-{number}" not in names)
        names[name] = one.job.line
        found.jobs.append((one.job.name, {option.name: option.value for option in one.job.options.values()}))
        one.translate(f"stream.{name}." if len(streams) > 1 else "", clone, side, phases[one.job.line])
    note_idle(translations)
    leave_out_ramp(found, [one for one, *_ in streams], set(phases.values()))
    for reason, options in found.without_effect.items():
        if options:
            found.note(f"{', '.join(options)}: no effect, {reason}")
    found.asks_capacity = layout.asks_capacity or any(one.asks_capacity for one in translations)
    return found


def leave_out_ramp(found: FioJobs, jobs: Sequence[Translation], phases: set[int]) -> None:
    """Lets the measured window begin after `ramp_time`, if all jobs begin together and have the same one."""
    ramps = {one.ramp_us() for one in jobs}
    is_delayed = any("startdelay" in one.options for one in jobs)
    if len(phases) > 1 or len(ramps) > 1 or ramps == {0} or is_delayed:
        return
    place = (jobs[0].options["ramp_time"].line, "ramp_time")
    found.settings |= {"measure.warm-up": "time", "measure.warm-up-time": f"{ramps.pop()}us"}
    found.places |= dict.fromkeys(("measure.warm-up", "measure.warm-up-time"), place)


def require_plain_zones(job: Translation) -> None:
    """Refuses the modes of a zoned drive, before sizes in units of zones are read.

    Raises:
        ConfigError: If the job has such a mode.
    """
    mode = job.job.options.get("zonemode")
    if mode is not None and mode.value not in ("none", "strided"):
        raise job.problem(mode, f"zonemode: `{mode.value}` needs a zoned drive, which is not modelled", "remove it")


def asks_page_cache(option: Option) -> bool:
    """Returns whether an option (`direct` or `buffered`) requests the use of the page cache."""
    return option.name in PAGE_CACHE and (option.value == "0") == (option.name == "direct")


class Translation:
    """Translator of one job."""

    def __init__(self, source: Source, folder: Path, job: Job, found: FioJobs, layout: Layout) -> None:
        """Checks every option.

        Raises:
            ConfigError: If an option is unknown, or would change the result and is not modelled.
        """
        self.source = source
        self.folder = folder
        self.job = job
        self.found = found
        self.layout = layout
        self.asks_capacity = False
        require_drive(self)
        require_plain_zones(self)
        self.options: dict[str, Option] = {
            option.name: option for option in job.options.values() if self.counts(option)
        }
        self.cache(job)
        self.kb_base = KB_BASE
        base = self.get("kb_base", lambda text: values.whole(text, 1000, 1024), KB_BASE)
        self.kb_base = base if base in (1000, 1024) else KB_BASE
        self.clones = self.get("numjobs", lambda text: values.whole(text, 1, STREAMS_MAX), 1)
        name = self.options["name"].value if "name" in self.options else job.name
        self.name = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:NAME_MAX]

    def cache(self, job: Job) -> None:
        """Adds a note that the simulation has no page cache, if the job would use a page cache."""
        said = [option for name in PAGE_CACHE if (option := job.options.get(name)) is not None]
        for option in said:
            try:
                values.flag(option.value)
            except values.Misfit as misfit:
                raise self.problem(option, f"{option.written}: {misfit}, and fio refuses it", misfit.remedy) from None
        if any(asks_page_cache(option) for option in said):
            self.found.note("direct=0, buffered=1: no effect, there is no page cache: every request goes to the drive")
        elif not said:
            self.found.note("fio goes through the page cache without direct=1; here every request goes to the drive")

    def counts(self, option: Option) -> bool:
        """Returns whether an option is to be translated to configuration keys; adds a note if it has no effect.

        Raises:
            ConfigError: If the option is unknown, or changes the result and is not modelled.
        """
        name = option.name
        if name in TAKEN:
            if option.missing:
                raise self.problem(
                    option,
                    f"{option.written}: the environment has no `{option.missing}`",
                    f"set it, as in {option.missing}=VALUE flashmesh run ...",
                )
            return True
        if name in MEANINGLESS:
            named = self.found.without_effect.setdefault(MEANINGLESS[name], [])
            if name not in PAGE_CACHE and option.written not in named:
                named.append(option.written)
            return False
        if name in DIFFERENT:
            if option.value != "0":
                self.found.note(f"{option.written}: not followed, {DIFFERENT[name]}")
            return False
        refusal = REFUSED.get(name)
        if refusal is not None:
            if option.value in refusal.neutral:
                return False
            taken = " or ".join(f"{name}={value}" for value in sorted(refusal.neutral))
            neutral = f"; {taken} is accepted" if taken else ""
            raise self.problem(option, f"`{name}` is not modelled: {refusal.reason}{neutral}", "remove it")
        near = suggestion(name, [*TAKEN, *MEANINGLESS, *DIFFERENT, *REFUSED, *ALIASES])
        help_text = f"did you mean `{near}`?" if near else "remove it if it changes nothing for the drive"
        raise self.problem(option, f"unknown option `{name}`", help_text)

    def problem(self, option: Option, message: str, remedy: str = "") -> ConfigError:
        """Returns an error that shows the line of an option in the job file."""
        return self.source.problem(option.line, message, remedy, option.written)

    def get(self, name: str, read: Callable[[str], T], otherwise: T) -> T:
        """Returns the value of an option, parsed by `read`; `otherwise` if the job does not have the option.

        Raises:
            ConfigError: If the value is invalid.
        """
        option = self.options.get(name)
        if option is None:
            return otherwise
        try:
            found = read(option.value)
        except values.Misfit as misfit:
            remedy = misfit.remedy or f"`fio --cmdhelp={option.name}` shows what it takes"
            if misfit.instead:
                remedy = f"write {option.written}={option.value.replace(misfit.text, misfit.instead, 1)}"
            raise self.problem(option, f"{option.written}: {misfit}", remedy) from None
        if self.kb_base == KB_BASE and IEC.search(option.value) is not None:
            self.found.note(
                f"{option.written}={option.value}: as in fio, KiB, MiB and GiB are powers of 1000; k, m and g are "
                "powers of 1024"
            )
        return found

    def bytes_of(self, text: str) -> int:
        """Reads a size in fio's notation, and returns it in bytes."""
        return values.size(text, self.kb_base)

    def capacity(self) -> int:
        """Returns the host capacity of the drive in bytes; 1 TiB if it is not known yet.

        Records that the settings depend on the capacity.
        """
        self.asks_capacity = True
        return self.layout.capacity if self.layout.capacity is not None else 1 << 40

    def share_of(self, text: str, whole: Callable[[], int]) -> int:
        """Reads a size, or a percentage of `whole` bytes, and returns it in bytes."""
        share = values.percentage(text)
        return self.bytes_of(text) if share is None else int(whole() * share) // DEFAULT_SIZE * DEFAULT_SIZE

    def paths(self, clone: int) -> tuple[str, ...]:
        """Returns the paths of the files of a clone, one of the `numjobs` copies of the job."""
        folders = re.split(r"(?<!\\):", self.options["directory"].value) if "directory" in self.options else [""]
        folder = folders[clone % len(folders)]
        if "filename" in self.options:
            found = re.split(r"(?<!\\):", self.options["filename"].value)
        else:
            count = self.get("nrfiles", lambda text: values.whole(text, 1, FILES_MAX), 1)
            form = self.options["filename_format"].value if "filename_format" in self.options else ""
            form = form or "$jobname.$jobnum.$filenum"
            words = {"$jobname": self.job.name, "$jobnum": str(clone), "$clientuid": ""}
            for word, value in words.items():
                form = form.replace(word, value)
            found = [form.replace("$filenum", str(number)) for number in range(count)]
        return tuple(name if is_device(name) or not folder else f"{folder}/{name}" for name in dict.fromkeys(found))

    def is_device(self) -> bool:
        """Returns whether all files of the job are devices."""
        return all(is_device(path) for path in self.paths(0))

    def offset(self, clone: int) -> int:
        """Returns the offset in bytes at which a clone begins within each of its files.

        If `offset` or `offset_increment` is a percentage of the file, fio rounds the offset up to a multiple of
        `offset_align`; without this option, to a multiple of the smallest block size.
        """
        names = ("offset", "offset_increment")
        percent = {name: self.get(name, values.percentage, None) for name in names}
        first, each = (
            self.get(name, self.bytes_of, 0) if share is None else self.whole_file() * round(100 * share) // 100
            for name, share in percent.items()
        )
        align = self.get("offset_align", self.bytes_of, 0)
        if any(share is not None for share in percent.values()):
            step = align or smallest_block(self)
            return -(-(first + clone * each) // step) * step
        if align:
            self.found.note("offset_align: no effect, it only rounds percentages")
        return first + clone * each

    def whole_file(self) -> int:
        """Returns the bytes that an offset can be a percentage of: of a file sized in bytes, else of the drive."""
        if self.is_device() or self.get("size", values.percentage, None) is not None:
            return self.capacity()
        size = self.get("size", self.bytes_of, 0) // len(self.paths(0))
        return size or self.get("filesize", self.file_length, 0) or self.capacity()

    def span(self, clone: int) -> int | None:
        """Returns the number of bytes that a clone of the job (`numjobs`) uses of each file.

        None if the clone uses the whole file from its offset on.
        """
        offset, count = self.offset(clone), len(self.paths(clone))
        filesize = self.get("filesize", self.file_length, 0)
        if filesize:
            return max(filesize - offset, 0)
        share = self.get("size", values.percentage, None)
        if share is not None:
            whole = self.capacity()
            return min(int(whole * share), max(whole - offset, 0)) // DEFAULT_SIZE * DEFAULT_SIZE // count
        size = self.get("size", self.bytes_of, 0)
        if size:
            return size // count // 512 * 512
        if not self.is_device():
            self.found.note(f"[{self.name}] has no size: its files share the space that other files leave on the drive")
        elif offset or not self.ends_by_itself():
            return max(self.capacity() - offset, 0)
        return None

    def file_length(self, text: str) -> int:
        """Reads the length of a file in bytes.

        For a range, fio draws a length for each file; here each file has the mean.
        """
        least, dash, most = text.partition("-")
        if not dash:
            return self.bytes_of(text)
        self.found.note(f"[{self.name}] filesize: fio draws a length of `{text}` for each file; here each has the mean")
        return (self.bytes_of(least.strip()) + self.bytes_of(most.strip())) // 2 // DEFAULT_SIZE * DEFAULT_SIZE

    def ends_by_itself(self) -> bool:
        """Returns whether the job ends by its run time, requests or `io_size`, even if its files have no size."""
        timed = "runtime" in self.options and "time_based" in self.options
        return timed or "number_ios" in self.options or "io_size" in self.options or "runtime" in self.options

    def wanted(self, clone: int) -> int | None:
        """Returns the bytes that a clone needs of each file, from the start of the file; None if unknown."""
        span = self.span(clone)
        return None if span is None else self.offset(clone) + span

    def loop_size(self, total: int | None) -> int | None:
        """Returns the bytes after which a loop over files of `total` bytes ends.

        None if only other options end the job.
        """
        if total is not None and ("size" in self.options or "filesize" in self.options):
            is_share = self.get("size", values.percentage, None) is not None
            if is_share and "filesize" not in self.options:
                return total
            return min(self.get("size", lambda text: self.share_of(text, lambda: total), total) or total, total)
        return None if self.ends_by_itself() else total

    def range_of(self, clone: int) -> tuple[int, int | None]:
        """Returns (first byte of the first file, bytes of each file) of a clone.

        The bytes are None for a file that covers the whole drive, whose capacity is not known yet.

        Raises:
            ConfigError: If the files are not consecutive on the drive, or differ in length.
        """
        try:
            return self.layout.range_of(self.paths(clone))
        except Unplaced as unplaced:
            raise self.source.problem(self.job.line, str(unplaced), unplaced.remedy) from None

    def translate(self, prefix: str, clone: int, side: int | None, phase: int) -> None:
        """Sets the configuration keys of a stream.

        Each key begins with `prefix`; the stream has requests of the kind `side`, or of all kinds if `side` is None.
        """
        self.seed()
        Stream(self, prefix, clone, side).translate(phase)

    def ramp_us(self) -> int:
        """Returns the `ramp_time` of the job in microseconds; 0 without one."""
        return self.get("ramp_time", lambda text: values.time_us(text, "s"), 0)

    def seed(self) -> None:
        """Sets the seed of all streams.

        Raises:
            ConfigError: If another job has a different seed.
        """
        if "randseed" not in self.options:
            return
        seed = self.get("randseed", values.whole, 0)
        self.found.places.setdefault("seed", (self.options["randseed"].line, "randseed"))
        if self.found.settings.setdefault("seed", seed) != seed:
            raise self.problem(
                self.options["randseed"],
                "another job has a different `randseed`, but a run has only one",
                "move it into [global]",
            )
