"""Translation of a flow to a stream: its requests, their addresses and arrivals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashmesh.files import absolute
from flashmesh.importers.mqsim.ledger import Mode, Replay
from flashmesh.importers.mqsim.requests import SyntheticFlow, first_arrival, lines_of, replayed
from flashmesh.importers.mqsim.tags import SECTOR
from flashmesh.importers.toml_text import nanoseconds, size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashmesh.importers.mqsim.ledger import Section
    from flashmesh.importers.mqsim.requests import Request, Space
    from flashmesh.importers.mqsim.scenario import ScenarioTranslation
    from flashmesh.importers.toml_text import Value

CACHING = {"TURNED_OFF": "none", "WRITE_CACHE": "writes", "READ_CACHE": "reads", "WRITE_READ_CACHE": "all"}
UNITS = {"PICOSECOND": "ps", "NANOSECOND": "ns", "MICROSECOND": "us"}
FIRST_NS = 1
"""Time in nanoseconds at which MQSim issues the first requests of flows with a fixed queue depth."""
SIZES_MAX = 1024
"""Maximum number of request sizes that approximate a normal distribution."""
OWN_REQUESTS = "the requests of MQSim itself, from its random numbers"
DRAWN = "a synthetic workload with other random numbers replaces them"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an import."""

    mode: Mode
    folders: tuple[Path, ...]
    """Folders in which relative paths of traces are searched, in this order."""
    requests_max: int
    """Maximum number of requests of a flow that a trace file replays; a longer flow becomes a synthetic workload."""


class Flow:
    """Translator of one flow."""

    def __init__(self, scenario: ScenarioTranslation, flow: Section, prefix: str, space: Space, file: str) -> None:
        """Prepares to translate a flow.

        Args:
            scenario: The scenario of the flow.
            flow: The tags of the flow.
            prefix: The prefix of its keys.
            space: The sectors of the flow.
            file: The file for the requests that the configuration replays.
        """
        self.scenario = scenario
        self.options = scenario.options
        self.ledger = scenario.ledger
        self.flow = flow
        self.prefix = prefix
        self.space = space
        self.file = file
        self.replays = False
        """Whether the compatible configuration replays a trace file with the requests that MQSim issues."""

    def set(self, key: str, value: Value | None = None, *tags: str, **modes: Value | None) -> None:
        """Sets a configuration key of the stream of the flow; `modes` has values that differ between the modes."""
        reason = modes.pop("reason", "")
        self.flow.set(f"{self.prefix}{key}", value, *tags, reason=str(reason), **modes)

    def translate(self) -> None:
        """Sets the keys of the stream.

        Raises:
            ConfigError: If a tag has an invalid value.
        """
        flow = self.flow
        self.set("queue.priority", flow.word("Priority_Class").lower(), "Priority_Class")
        if not self.scenario.drive.priorities:
            flow.fates["Priority_Class"].reason = "without effect: the scheduler ignores it"
        caching = CACHING[flow.word("Device_Level_Data_Caching_Mode")]
        self.set("queue.caching", caching, "Device_Level_Data_Caching_Mode")
        if "File_Path" in flow.tags:
            self.trace()
        else:
            self.synthetic()

    def describe(self, key: str, value: Value | None = None, *tags: str, **modes: Value | None) -> None:
        """Sets a key that describes requests.

        In the compatible configuration of a flow that is replayed, the trace file replaces such keys.
        """
        if not self.replays:
            self.set(key, value, *tags, **modes)
            return
        meant = value if value is not None else modes.get("physical")
        self.set(key, None, *tags, physical=meant, reason=OWN_REQUESTS)
        for tag in tags:
            self.flow.fates[tag].keys.append(f"{self.prefix}workload.trace")

    def replay(self, requests: Iterator[Request], source: Path | None) -> None:
        """Makes the compatible configuration replay `requests`, from the trace `source` or, if None, drawn.

        A replay starts at its first request. Among several flows, a flow whose first request comes after 1 ns (the
        start of flows with a fixed queue depth in MQSim) therefore needs a start time.
        """
        start_ns, requests = first_arrival(requests)
        if self.prefix and start_ns > FIRST_NS:
            later = "MQSim counts the arrivals of all flows from the same time"
            self.set("replay.start-time", compatible=nanoseconds(start_ns - FIRST_NS), reason=later)
        self.ledger.replays[self.file] = Replay(requests, source)

    def synthetic(self) -> None:
        """Sets the keys of a flow with generated requests."""
        flow = self.flow
        self.replays = self.is_replayed(flow.whole("Total_Requests_To_Generate"), flow.whole("Stop_Time"))
        if self.replays:
            self.set("workload.kind", compatible="trace", physical="synthetic", reason=OWN_REQUESTS)
            self.set("workload.trace", None, "Seed", compatible=self.file, reason=OWN_REQUESTS)
            self.set("workload.format", compatible="ascii", reason=OWN_REQUESTS)
            self.set("workload.time-unit", compatible="ns", reason=OWN_REQUESTS)
            self.set("workload.polarity", compatible="read-is-1", reason=OWN_REQUESTS)
            self.set("workload.beyond", compatible="wrap", reason=OWN_REQUESTS)
            flow.fates["Seed"].reason = "--physical draws from the seed of the drive"
        else:
            self.set("workload.kind", "synthetic")
            flow.unused("Seed", "the random numbers of every stream derive from the seed of the drive")
        self.kinds_and_sizes()
        self.addresses()
        gap = self.arrivals()
        self.end()
        if self.replays:
            self.replay(self.drawn(gap).draw(), None)

    def is_replayed(self, requests: int, stop_ns: int) -> bool:
        """Returns whether a trace file with MQSim's requests is written and replayed.

        Warns if a compatible import cannot replay the requests: if there are too many, or with a stop time.
        """
        if self.options.mode is Mode.COMPATIBLE and stop_ns > 0:
            self.ledger.warn(
                f"Stop_Time {stop_ns}: the number of requests until then is known only after a run; {DRAWN}"
            )
        elif self.options.mode is Mode.COMPATIBLE and requests > self.options.requests_max:
            most = self.options.requests_max
            self.ledger.warn(f"{requests} requests are more than the {most} of --requests-max; {DRAWN}")
        return stop_ns == 0 and requests <= self.options.requests_max

    def drawn(self, gap_ns: int | None) -> SyntheticFlow:
        """Returns the parameters of MQSim's request generator.

        `gap_ns` is the mean time between arrivals in nanoseconds; None for a fixed queue depth.
        """
        flow = self.flow
        is_normal = flow.word("Request_Size_Distribution") == "NORMAL"
        space, working_set_percent = self.space, flow.whole("Working_Set_Percentage")
        if not self.scenario.drive.is_sata:
            # On NVMe, MQSim ends the input stream of a synthetic flow with the working set.
            space = replace(space, stream_last=space.working_set_last(working_set_percent))
        return SyntheticFlow(
            seed=flow.whole("Seed"),
            requests=flow.whole("Total_Requests_To_Generate"),
            space=space,
            working_set_percent=working_set_percent,
            read_percent=flow.whole("Read_Percentage"),
            distribution=flow.word("Address_Distribution").removeprefix("RANDOM_"),
            hot_percent=flow.whole("Percentage_of_Hot_Region"),
            alignment=self.alignment(),
            mean_sectors=flow.whole("Average_Request_Size"),
            deviation=flow.whole("Variance_Request_Size") if is_normal else None,
            mean_gap_ns=gap_ns,
        )

    def alignment(self) -> int:
        """Returns the alignment of requests in sectors."""
        flow = self.flow
        return flow.whole("Address_Alignment_Unit") if flow.flag("Generated_Aligned_Addresses") else 1

    def kinds_and_sizes(self) -> None:
        """Sets the kinds and sizes of requests."""
        flow = self.flow
        self.describe("workload.read-share", flow.whole("Read_Percentage") / 100, "Read_Percentage")
        mean = flow.whole("Average_Request_Size")
        held = self.space.last - self.space.first + 1
        if mean > held > 0:
            what = f"a request of {mean} sectors is larger than the space of the flow, {held} sectors"
            raise flow.problem("Average_Request_Size", what, "take smaller requests or a larger drive")
        if flow.word("Request_Size_Distribution") == "FIXED":
            flow.unused("Variance_Request_Size", "all requests are of one size")
            self.describe(
                "workload.request-size", size(mean * SECTOR), "Average_Request_Size", "Request_Size_Distribution"
            )
            return
        tags = ("Average_Request_Size", "Request_Size_Distribution", "Variance_Request_Size")
        sizes = normal_sizes(mean, flow.whole("Variance_Request_Size"))
        self.describe("workload.request-size", [[size(count * SECTOR), weight] for count, weight in sizes], *tags)

    def addresses(self) -> None:
        """Sets the addresses of requests."""
        flow = self.flow
        unit = size(self.alignment() * SECTOR)
        self.describe("workload.alignment", unit, "Generated_Aligned_Addresses", "Address_Alignment_Unit")
        percent = flow.whole("Working_Set_Percentage")
        if not 1 <= percent <= 100:
            self.ledger.warn(f"Working_Set_Percentage {percent} acts as 100 in MQSim, and here")
            percent = 100
        self.footprint(percent)
        pattern = flow.word("Address_Distribution")
        hot = flow.whole("Percentage_of_Hot_Region") if pattern == "RANDOM_HOTCOLD" else 0
        if pattern == "RANDOM_HOTCOLD":
            if hot in (0, 100) and (self.options.mode is Mode.PHYSICAL or not self.replays):
                what = f"<Percentage_of_Hot_Region> {hot}: a synthetic workload needs a hot and a cold region"
                raise flow.problem("Percentage_of_Hot_Region", what, "take 1 to 99, or RANDOM_UNIFORM")
            self.describe("workload.pattern", "hot-cold", "Address_Distribution")
            self.describe("workload.hot-footprint", hot / 100, "Percentage_of_Hot_Region")
            self.describe("workload.hot-traffic", (100 - hot) / 100, "Percentage_of_Hot_Region")
            return
        flow.unused("Percentage_of_Hot_Region", "no address is hot")
        self.describe("workload.pattern", "sequential" if pattern == "STREAMING" else "random", "Address_Distribution")

    def footprint(self, percent: int) -> None:
        """Sets the keys for the accessed part of the flow's space: `percent` of the space, at most its whole pages."""
        space = self.space
        if space.first > space.stream_first:
            start = size((space.first - space.stream_first) * SECTOR)
            self.describe("workload.footprint-start", start, "Working_Set_Percentage")
        if percent == 100 and space.first == space.stream_first and space.last == space.stream_last:
            self.flow.unused("Working_Set_Percentage", "100: all of the space")
            return
        sectors = (space.last - space.first) * percent // 100 + 1
        whole = (space.last - space.first + 1) // space.page_sectors * space.page_sectors
        self.describe("workload.footprint", size(min(sectors, whole) * SECTOR), "Working_Set_Percentage")

    def arrivals(self) -> int | None:
        """Sets the keys for the arrivals of requests, and returns the mean time between arrivals in nanoseconds.

        None for a fixed queue depth. The time is rounded as in MQSim, which uses integer division.
        """
        flow = self.flow
        if flow.word("Synthetic_Generator_Type") == "QUEUE_DEPTH":
            self.set("replay.mode", "stress", "Synthetic_Generator_Type")
            outstanding = flow.whole("Average_No_of_Reqs_in_Queue")
            self.set("replay.outstanding", outstanding, "Average_No_of_Reqs_in_Queue")
            flow.unused("Bandwidth", "a new request comes when one completes")
            return None
        flow.unused("Average_No_of_Reqs_in_Queue", "requests arrive at times of their own")
        self.set("replay.mode", "open", "Synthetic_Generator_Type")
        self.start_of_latency()
        self.describe("workload.arrivals", "exponential", "Synthetic_Generator_Type")
        bandwidth, mean = flow.whole("Bandwidth"), flow.whole("Average_Request_Size")
        per_second = bandwidth // SECTOR // mean
        if per_second == 0:
            raise flow.problem(
                "Bandwidth", f"<Bandwidth> {bandwidth} B/s is less than one request of {mean} sectors in a second"
            )
        exact_ps = round(mean * SECTOR * 10**12 / bandwidth)
        gap_ns = 10**9 // per_second
        compatible, physical = nanoseconds(gap_ns), picoseconds(exact_ps)
        if compatible == physical:
            self.describe("workload.interarrival", physical, "Bandwidth", "Average_Request_Size")
        else:
            self.describe(
                "workload.interarrival",
                None,
                "Bandwidth",
                "Average_Request_Size",
                compatible=compatible,
                physical=physical,
                reason="MQSim uses integer division",
            )
        return gap_ns

    def start_of_latency(self) -> None:
        """Sets the key for the start of latencies: MQSim measures from the entry of a request into the queue."""
        waits = "MQSim counts the response time from the entry of a request into the queue"
        self.set("replay.latency-start", compatible="issue", reason=waits)

    def end(self) -> None:
        """Sets the keys that end the flow: a stop time, or a number of requests."""
        flow = self.flow
        stop, requests = flow.whole("Stop_Time"), flow.whole("Total_Requests_To_Generate")
        if stop > 0:
            flow.unused("Total_Requests_To_Generate", "Stop_Time ends the flow")
            self.set("replay.stop-time", nanoseconds(stop), "Stop_Time")
            self.set("workload.requests", 10**12)
            return
        if requests == 0:
            raise flow.problem(
                "Total_Requests_To_Generate",
                "<Total_Requests_To_Generate> and <Stop_Time> are both 0: the flow has no request",
                "set one of them",
            )
        flow.unused("Stop_Time", "0: the number of requests ends the flow")
        self.describe("workload.requests", requests, "Total_Requests_To_Generate")

    def trace(self) -> None:
        """Sets the keys of a flow with requests from a file."""
        flow = self.flow
        path = self.found(flow.word("File_Path"))
        percent, rounds = flow.whole("Percentage_To_Be_Executed"), flow.whole("Relay_Count")
        lines = lines_of(path, self.options.mode is Mode.PHYSICAL)
        asked = lines * percent // 100 if rounds == 1 else lines * rounds
        if lines == 0:
            what = f"`{path}` does not begin with a line of a trace of MQSim"
            raise flow.problem("File_Path", what, "its lines have five fields, with single blanks between them")
        if asked == 0:
            what = f"{percent} % of the {lines} lines of `{path}` are no request"
            raise flow.problem("Percentage_To_Be_Executed", what, "raise it")
        self.replays = self.is_replayed(asked, 0)
        self.set("workload.kind", "trace")
        unit = UNITS[flow.word("Time_Unit")]
        if unit != "ns":
            self.ledger.warn(f"Time_Unit {flow.word('Time_Unit')}: MQSim reads all time stamps as nanoseconds")
        stamps = "MQSim reads all time stamps as nanoseconds"
        self.set("workload.time-unit", None, "Time_Unit", compatible="ns", physical=unit, reason=stamps)
        self.set("workload.format", "ascii")
        self.set("workload.polarity", "read-is-1")
        self.set("workload.beyond", "wrap")
        self.set("replay.mode", "open")
        self.start_of_latency()
        if self.replays:
            folded = "MQSim folds addresses onto a space that is one sector short"
            self.set("workload.trace", None, "File_Path", compatible=self.file, physical=str(path), reason=folded)
            self.replay(replayed(path, self.space, percent, rounds), path)
        else:
            self.set("workload.trace", str(path), "File_Path")
        self.rounds(percent, rounds, lines)

    def rounds(self, percent: int, rounds: int, lines: int) -> None:
        """Sets the keys for the replayed share of a trace (`percent`), and checks that its `rounds` can be expressed.

        `lines` is the number of requests of the trace.

        Raises:
            ConfigError: If a configuration cannot express the share or the rounds.
        """
        flow = self.flow
        in_the_file = f"{self.prefix}workload.trace"
        if rounds != 1:
            if self.options.mode is Mode.PHYSICAL:
                what = f"<Relay_Count> {rounds}: with --physical a trace is replayed once"
                raise flow.problem("Relay_Count", what, "set it to 1, or import without --physical")
            if not self.replays:
                what = f"<Relay_Count> {rounds} of {lines} lines: {rounds * lines} requests are too many to write out"
                raise flow.problem("Relay_Count", what, f"set it to 1, or --requests-max to {rounds * lines}")
            flow.fates["Relay_Count"].keys.append(in_the_file)
            flow.unused("Percentage_To_Be_Executed", "several rounds always replay the whole trace")
            return
        flow.unused("Relay_Count", "1: the trace is replayed once")
        if percent == 100:
            flow.unused("Percentage_To_Be_Executed", "100: all of the trace")
        else:
            self.describe("workload.requests", lines * percent // 100, "Percentage_To_Be_Executed")

    def found(self, named: str) -> Path:
        """Returns a trace by the path that the file names.

        Raises:
            ConfigError: If the trace does not exist, since the configuration could not run.
        """
        candidates = [folder / named for folder in self.options.folders]
        for candidate in candidates:
            try:
                if candidate.is_file():
                    return absolute(candidate)
            except OSError as error:
                what = f"the path of the trace cannot be used: {error.strerror}"
                raise self.flow.problem("File_Path", what) from None
        for candidate in candidates:
            if candidate.is_dir():
                raise self.flow.problem("File_Path", f"`{candidate}` is a folder, not a trace", "name the file in it")
        looked = " and ".join(str(candidate) for candidate in candidates)
        what = f"the trace `{named}` was not found: looked for {looked}"
        raise self.flow.problem("File_Path", what, "correct the path, or put the trace there")


def picoseconds(count: int) -> str:
    """Returns a time in picoseconds in the notation of a configuration."""
    return nanoseconds(count // 1000) if count % 1000 == 0 else f"{count}ps"


def normal_sizes(mean: int, deviation: int) -> list[tuple[int, float]]:
    """Returns the sizes in sectors of a normal distribution rounded up, each with its probability.

    MQSim uses the "variance" as the standard deviation. Sizes below one sector count as one.
    """
    if deviation == 0:
        return [(mean, 1.0)]

    def below(value: float) -> float:
        return (1 + math.erf((value - mean) / (deviation * math.sqrt(2)))) / 2

    first, last = max(1, mean - 4 * deviation), mean + 4 * deviation
    step = max(1, -(-(last - first + 1) // SIZES_MAX))
    sizes = []
    low = -math.inf
    for count in range(first, last + 1, step):
        high = math.inf if count + step > last else float(count + (step - 1) // 2)
        weight = round(below(high) - (0.0 if low == -math.inf else below(low)), 12)
        if weight > 0:
            sizes.append((count, weight))
        low = high
    return sizes
