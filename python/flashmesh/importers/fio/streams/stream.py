"""Translation of one fio job, or one of its clones, to a stream of a configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashmesh.files import absolute
from flashmesh.importers.fio.notation import values
from flashmesh.importers.fio.notation.options import names
from flashmesh.importers.fio.streams import iolog
from flashmesh.importers.fio.streams.ending import set_end, set_stop
from flashmesh.importers.fio.streams.fileorder import set_order
from flashmesh.importers.fio.streams.pace import capped, depth, pace, think
from flashmesh.importers.fio.streams.requests import requests_of
from flashmesh.importers.fio.streams.zones import set_zones
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.importers.fio.streams.requests import Requests
    from flashmesh.importers.fio.translate import Translation
    from flashmesh.importers.toml_text import Value

LOG_SAYS = names(
    """
    rw bs bssplit bsrange bs_is_seq_rand rwmixread rwmixwrite rw_sequencer ba size filesize offset offset_align
    offset_increment io_size loops number_ios random_distribution percentage_random norandommap randrepeat
    nrfiles file_service_type rate_iops rate rate_process rate_ignore_thinktime time_based fsync fdatasync sync
    end_fsync fsync_on_close zonemode zonesize zonerange zoneskip
    """
)
"""Options on requests, times or counts, which have no effect on a job that replays a log."""
REPLAY = names("replay_no_stall replay_time_scale replay_scale replay_align")
SECTOR = 512


class Stream:
    """Translator that sets the keys of one stream."""

    def __init__(self, job: Translation, prefix: str, clone: int, side: int | None) -> None:
        """Prepares a stream of `job`, with requests of only the kind `side`, or of all kinds for None."""
        self.job = job
        self.prefix = prefix
        self.clone = clone
        self.side = side
        self.span: int | None = None
        """Number of bytes that the job uses of each of its files; None if it uses the whole file from its offset on."""
        self.hot_share = 1.0
        """Share of a file, from its start, to which requests go."""
        self.skip = 0
        """Bytes that a sequential job skips at a time; 0 for a random job, and for a job that runs backwards."""
        self.skip_after = 0
        """Bytes that a sequential job covers before each skip; 0 for a skip after each request."""
        self.pass_end: int | None = None
        """Bytes issued in a pass that ends early at the end of the file; None if no pass ends early."""

    def set(self, key: str, value: Value, *options: str) -> None:
        """Sets a configuration key of the stream.

        Errors about the key show the line of the first of `options` that the job has, or else of the job.
        """
        job = self.job
        given = [job.options[name] for name in options if name in job.options]
        place = (given[0].line, job.source.line(given[0].line).strip()) if given else (job.job.line, "")
        job.found.settings[f"{self.prefix}{key}"] = value
        job.found.places[f"{self.prefix}{key}"] = place

    def translate(self, phase: int) -> None:
        """Sets all configuration keys of the stream.

        `phase` is the index of the group of jobs with which the stream starts.
        """
        job = self.job
        if phase:
            self.set("replay.phase", phase, "stonewall", "wait_for")
        delay_us = job.get("startdelay", self.delay, 0)
        if delay_us:
            self.set("replay.start-delay", f"{delay_us}us", "startdelay")
        if "read_iolog" in job.options:
            self.log()
        else:
            self.synthetic()

    def delay(self, text: str) -> int:
        """Returns the start delay in microseconds that a text denotes.

        For a range, fio draws a delay; here the delay is the middle of the range.
        """
        least, dash, most = (part.strip() for part in text.partition("-"))
        first = values.time_us(least, "s")
        if not dash:
            return first
        self.job.found.note(f"startdelay: fio draws a delay of `{text}`; here the job starts after the mean")
        return (first + values.time_us(most, "s")) // 2

    def log_path(self) -> Path:
        """Returns the log that the job replays; clones take the logs of a list in turn.

        Raises:
            ConfigError: If there is no such file.
        """
        job = self.job
        option = job.options["read_iolog"]
        listed = [name.replace(r"\:", ":") for name in re.split(r"(?<!\\):", option.value) if name]
        name = listed[self.clone % len(listed)] if listed else option.value
        try:
            path = absolute(job.folder / name)
            is_there = path.is_file()
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or str(error)
            raise job.problem(option, f"the path cannot be used: {what}", "name a file") from None
        if not is_there:
            raise job.problem(option, f"`{path}` is not there", "the path is relative to the job file")
        return path

    def log(self) -> None:
        """Sets the configuration keys of a job that replays a log."""
        job = self.job
        path = self.log_path()
        given = sorted(LOG_SAYS & job.options.keys())
        if given:
            job.found.note(f"[{job.name}] {', '.join(given)}: no effect, the log of read_iolog determines the requests")
        self.set("workload.kind", "trace", "read_iolog")
        self.set("workload.trace", str(self.moved(path)), "read_iolog")
        self.set("workload.format", "auto", "read_iolog")
        self.set("workload.flushes", True, "read_iolog")
        set_stop(self)
        is_second, has_waits = iolog.second_version(path)
        stalls = not job.get("replay_no_stall", values.flag, False)
        if stalls and is_second and not has_waits:
            job.found.note(
                f"[{job.name}] `{path.name}` has no times: it is replayed with iodepth requests in flight, "
                "as replay_no_stall=1 asks for"
            )
            stalls = False
        if not stalls:
            if "replay_time_scale" in job.options:
                job.found.note("replay_time_scale: no effect without times")
            pace(self, None)
            return
        if think(job)[0]:
            raise job.problem(
                job.options["thinktime"],
                "`thinktime` beside the times of a log is not modelled",
                "remove it, or ignore the times with replay_no_stall=1",
            )
        if has_waits:
            self.set("workload.iolog-wait", "since-start-ms", "read_iolog")
            job.found.note(
                f"[{job.name}] waits of `{path.name}` are read as fio 3.33 does, milliseconds from the start; "
                "fio's manual says microseconds behind the previous wait: "
                f"--set {self.prefix}workload.iolog-wait=after-previous-us"
            )
        self.set("replay.mode", "open", "read_iolog")
        capped(self, "read_iolog")
        job.found.note(
            f"[{job.name}] a log is replayed at its own times with at most {depth(job)} in flight (iodepth, ioengine); "
            "replay_no_stall=1 keeps as many in flight"
        )
        percent = job.get("replay_time_scale", lambda text: values.whole(text, 1, 10_000), 100)
        if has_waits and percent != 100:
            job.found.note("replay_time_scale: no effect on waits, as in fio 3.33")
            percent = 100
        self.set("replay.time-scale", 100 / percent, "replay_time_scale")

    def moved(self, path: Path) -> Path:
        """Returns the log to replay: a copy with offsets changed by `replay_scale` and `replay_align`, if given.

        Raises:
            ConfigError: If a value is invalid, or the file is no log of fio.
        """
        job = self.job

        def power(text: str) -> int:
            align = job.bytes_of(text)
            if align & (align - 1):
                raise values.Misfit(f"`{text}` is no power of 2")
            return align

        scale = job.get("replay_scale", values.whole, 1)
        align = job.get("replay_align", power, 0)
        if scale <= 1 and align <= 1:
            return path
        option = next(job.options[name] for name in ("replay_scale", "replay_align") if name in job.options)
        try:
            return iolog.with_offsets(path, scale, align)
        except iolog.NoLog as reason:
            raise job.problem(option, f"{option.written}: {reason}", "remove it, or write a log of fio") from None

    def synthetic(self) -> None:
        """Sets the configuration keys of a job that generates its requests."""
        job = self.job
        self.set("workload.kind", "job", "rw")
        self.span = job.span(self.clone)
        requests = requests_of(self)
        total = set_zones(self, requests, self.files(requests))
        self.flushes(requests)
        pace(self, requests)
        set_end(self, requests, total)
        replay = sorted(REPLAY & job.options.keys())
        if replay:
            job.found.note(f"{', '.join(replay)}: no effect without read_iolog")

    def files(self, requests: Requests) -> int | None:
        """Sets the range of the drive that the job accesses.

        Returns the bytes that the job uses of all its files together; None if unknown.
        """
        job = self.job
        paths = job.paths(self.clone)
        start, length = job.range_of(self.clone)
        offset = job.offset(self.clone)
        options = ("offset", "offset_increment") if offset else ("directory", "filename", "nrfiles", "numjobs")
        if len(paths) > 1:
            if offset or (self.span is not None and self.span != length):
                given = [
                    job.options[name] for name in ("offset", "size", "filesize", "filename") if name in job.options
                ]
                raise job.source.problem(
                    given[0].line if given else job.job.line,
                    "a job that uses only a part of several files is not modelled",
                    "write a job for each",
                )
            self.set("workload.files", len(paths), "nrfiles", "filename")
            set_order(self, len(paths), requests)
        self.set("workload.footprint-start", size_text(start + offset), *options)
        span = self.span if self.span is not None else length and length - offset
        if span is None:
            return None
        if span < requests.largest():
            which = next((job.options[name] for name in ("size", "filesize", "io_size") if name in job.options), None)
            if which is not None:
                raise job.problem(which, f"`{which.written}` is less than one request")
        covered = span * len(paths)
        if self.hot_share < 1 and len(paths) == 1:
            covered = max(int(span * self.hot_share) // SECTOR * SECTOR, requests.largest())
        self.set("workload.footprint", size_text(covered), "size", "filesize")
        return span * len(paths)

    def flushes(self, requests: Requests) -> None:
        """Sets the number of writes between two flushes, and whether a flush ends the job."""
        job = self.job
        counts = [
            (name, job.get(name, lambda text: values.whole(text, 0, 10**9), 0)) for name in ("fsync", "fdatasync")
        ]
        option = job.options.get("sync")
        if option is not None and option.value not in ("0", "none"):
            if option.value not in ("1", "sync", "dsync"):
                raise job.problem(option, f"sync: `{option.value}` is not known", "take none, sync or dsync")
            counts.append(("sync", 1))
            job.found.note("sync: a flush follows each write")
        given = [(count, name) for name, count in counts if count]
        if requests.deallocates_first and any(name != "sync" for _, name in given):
            job.found.note(f"[{job.name}] fsync, fdatasync: no effect beside trims, as in fio 3.33")
            given = [(count, name) for count, name in given if name == "sync"]
        if given and 1 in requests.kinds:
            count, name = min(given)
            self.set("workload.flush-every", count, name)
            if name != "sync" and ("loops" in job.options or "io_size" in job.options):
                job.found.note(
                    f"[{job.name}] {name}: fio issues a flush that is due between two loops twice; here once"
                )
            if any(other % count for other, _ in given):
                job.found.note(f"[{job.name}] only the more frequent of fsync and fdatasync is modelled")
        last = [name for name in ("end_fsync", "fsync_on_close") if job.get(name, values.flag, False)]
        if last and 1 in requests.kinds:
            self.set("workload.flush-last", True, last[0])
            if "runtime" in job.options:
                job.found.note(f"[{job.name}] {last[0]}: when runtime ends the job, it issues no flush; fio does")
