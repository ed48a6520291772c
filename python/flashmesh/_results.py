"""Typed results of a run: the keys of its JSON as attributes.

Generated from the declared quantities in crates/flashmesh/src by `cargo run -p flashmesh --example generate`.
"""

from __future__ import annotations

from typing import Any, Literal

from flashmesh.record import record

__all__ = [
    "REQUEST_COLUMNS",
    "Bound",
    "Breakdown",
    "BreakdownByPart",
    "BreakdownConfidence",
    "BreakdownOfKind",
    "CacheLookups",
    "CauseOfConflicts",
    "CausesOfConflicts",
    "ChipStates",
    "CollisionPair",
    "Collisions",
    "Confidence",
    "ConfidenceInterval",
    "Constant",
    "DeviceCache",
    "Distribution",
    "DistributionByKind",
    "Drift",
    "DriveArea",
    "DrivePower",
    "Energy",
    "Fairness",
    "FlashOperations",
    "GarbageCollection",
    "Host",
    "Interval",
    "IntervalUtilisation",
    "Latency",
    "LatencyByKind",
    "LatencyConfidence",
    "LatencyConfidenceByKind",
    "LinkCounts",
    "Links",
    "LowerBound",
    "MappingCache",
    "Measured",
    "MeasuredBreakdown",
    "MeasuredStream",
    "NetworkRecording",
    "PathConflict",
    "PerRequest",
    "Persistence",
    "PowerCut",
    "Precision",
    "Provenance",
    "Queue",
    "RecordedHold",
    "RecordedRequest",
    "RecordedScoutStep",
    "RecordedTransfer",
    "Recovery",
    "RecoveryReads",
    "RecoverySteps",
    "RepetitionBin",
    "Replication",
    "ReplicationGain",
    "Report",
    "RequestColumn",
    "Rounds",
    "Scouts",
    "SlcCache",
    "Statuses",
    "Steadiness",
    "StreamConfidence",
    "StreamFairness",
    "StreamResult",
    "TimelineRecording",
    "TraceContents",
    "TraceTally",
    "Utilisation",
    "WarmUp",
    "WorkloadFile",
]


@record
class Latency:
    """Completion latencies of a set of requests, from arrival to completion.

    Percentiles are within 0.1 % of the exact ones.
    """

    count: int
    """Number of requests in the set. Unit: requests."""
    mean: float
    """Exact mean. Unit: ps."""
    deviation: float
    """Exact standard deviation. Unit: ps."""
    p50: int
    """50th percentile (median). Unit: ps."""
    p95: int
    """95th percentile. Unit: ps."""
    p97: int
    """97th percentile. Unit: ps."""
    p98: int
    """98th percentile. Unit: ps."""
    p99: int
    """99th percentile. Unit: ps."""
    p99_5: int
    """99.5th percentile. Unit: ps."""
    p99_9: int
    """99.9th percentile. Unit: ps."""
    p99_99: int
    """99.99th percentile. Unit: ps."""
    p99_999: int
    """99.999th percentile. Unit: ps."""
    max: int
    """Exact maximum. Unit: ps."""


@record
class LatencyByKind:
    """Completion latencies by kind of request, from arrival to completion."""

    all: Latency | None
    """Latencies of all requests. None when none completed."""
    read: Latency | None
    """Latencies of reads. Requests that complete with an error count only under `all`, like deallocations and write
    zeroes. None when none completed.
    """
    write: Latency | None
    """Latencies of writes. None when none completed."""
    flush: Latency | None
    """Latencies of flushes. None when none completed."""


@record
class Distribution:
    """Cumulative distribution of the latencies of a set of requests, with at most 32 points for each power of two."""

    latency_ps: tuple[int, ...]
    """Latencies, ascending. Each is within 0.1 % of a latency that occurred; the last is exact. Unit: ps."""
    requests: tuple[int, ...]
    """Number of requests with at most each latency. The last is the number of all requests. Unit: requests."""


@record
class DistributionByKind:
    """Distributions of completion latencies by kind of request."""

    all: Distribution | None
    """Distribution of the latencies of all requests. None when none completed."""
    read: Distribution | None
    """Distribution of the latencies of reads. None when none completed."""
    write: Distribution | None
    """Distribution of the latencies of writes. None when none completed."""


@record
class Breakdown:
    """Mean parts of the latency of a set of requests.

    They add up to the mean latency.
    """

    count: int
    """Number of requests over which the means are taken. Unit: requests."""
    host: float
    """Time in the queue of the host and on its link. Unit: ps."""
    firmware: float
    """Time of the controller's cores (`[firmware]`): waiting for a core, and its work. Unit: ps."""
    cache: float
    """Time in the device cache: DRAM access, queueing for the DRAM, and waiting for space. The whole time of a flush.
    Unit: ps.
    """
    map_wait: float
    """Time waiting for a map entry: for the read of its translation page, or for space in the mapping cache. Unit: ps.
    """
    die_wait: float
    """Time waiting for the die while it worked for other requests. On a drive without a device cache, the whole time of
    a flush. Unit: ps.
    """
    behind_gc: float
    """Time waiting for the die while it worked for GC or wear levelling. Unit: ps."""
    path_wait: float
    """Time waiting for a path to the chip while die and data were ready. Unit: ps."""
    array: float
    """Time of array work: reads, programs, suspensions. Unit: ps."""
    transfer: float
    """Time of command, address and data transfer over the path. Unit: ps."""


@record
class BreakdownOfKind:
    """Breakdown of the latencies of requests of one kind."""

    mean: Breakdown | None
    """Mean latency of all requests of the kind, by part. None when none completed."""
    tail: Breakdown | None
    """Mean latency of the slowest requests of the kind, by part: from their 99th percentile on, rounded down to 1/16 of
    a power of two. None when none completed.
    """


@record
class BreakdownByPart:
    """Breakdown of the latencies of requests."""

    mean: Breakdown | None
    """Mean latency of all requests, by part. None when none completed."""
    tail: Breakdown | None
    """Mean latency of the slowest requests, by part: from the 99th percentile on. The percentile is rounded down to
    1/16 of a power of two, so that the mean may cover more than 1 % of the requests. None when none completed.
    """
    read: BreakdownOfKind
    """Breakdown of the latencies of reads."""
    write: BreakdownOfKind
    """Breakdown of the latencies of writes."""


@record
class GarbageCollection:
    """Work of garbage collection and wear levelling."""

    collections: int
    """Victim blocks taken, by garbage collection, wear levelling and folds of the SLC cache; collections in progress at
    the start count as well. Unit: blocks.
    """
    wear_moves: int
    """Of `collections`, blocks taken by static wear levelling. Unit: blocks."""
    translation_collections: int
    """Of `collections`, victim blocks that contain translation pages. Unit: blocks."""
    pages_moved: int
    """Valid pages moved out of victim blocks, including those folded out of the SLC cache. Unit: pages."""
    pages_copied: int
    """Of `pages_moved`, pages sent from chip to chip without a controller (`gc.move`). Unit: pages."""
    pages_reallocated: int
    """Valid pages of read-intensive areas that the firmware laid out anew (`[mbm]`). Unit: pages."""
    erases: int
    """Blocks erased by garbage collection, wear levelling and folds. Unit: blocks."""
    turns: int
    """Completed turns of GC, in which it makes all moves that it owes before a stripe of the device cache is destaged
    (`cache.destage-stripe`). Unit: turns.
    """
    turns_ps: int
    """Total duration of the turns of GC that `turns` counts. Unit: ps."""


@record
class FlashOperations:
    """Operations of the flash array."""

    pages_written: int
    """Pages that requests wrote, to the device cache or to flash. Unit: pages."""
    user_reads: int
    """Pages read from flash for requests. Unit: pages."""
    unwritten_reads: int
    """Reads of pages that were never written or were deallocated. Unit: pages."""
    user_programs: int
    """Pages programmed for requests, directly or as destages of the device cache. Unit: pages."""
    partial_write_reads: int
    """Pages read to complete partial-page writes (read-modify-write). Unit: pages."""
    map_reads: int
    """Translation pages read, for map entries and before write-backs. Unit: pages."""
    map_programs: int
    """Translation pages programmed, as write-backs of changed entries or for a checkpoint. Unit: pages."""
    journal_programs: int
    """Pages of the journal of the map programmed. Unit: pages."""
    replica_programs: int
    """Copies of pages programmed by replication. Unit: pages."""
    parity_programs: int
    """Pages of parity programmed (`ftl.parity`). Unit: pages."""
    units_skipped: int
    """Mapping units left empty in programs, because too few writes had gathered (`ftl.gather-timeout`) or a victim
    block had no more valid pages. Unit: pages.
    """
    multi_plane_operations: int
    """Operations that more than one plane joined. Unit: operations."""
    suspensions: int
    """Programs and erases suspended for reads. Unit: operations."""
    overdue_reads: int
    """Operations that began with a read of a request which had waited for `schedule.age-bound`, while writes waited for
    the same die. Unit: operations.
    """
    overdue_programs: int
    """Operations that began with a write of a request which had waited for `schedule.age-bound`, while reads waited for
    the same die. Without the bound these writes would have waited until the reads end. Unit: operations.
    """


@record
class PerRequest:
    """Flash operations per completed request (Design for Scalability, PACT 2014, Table 3)."""

    reads: float
    """Array reads per request. A read of several planes counts once; a copyback counts as a read, too. Unit:
    operations.
    """
    programs: float
    """Array programs per request. A program of several planes counts once; a copyback counts as a program, too. Unit:
    operations.
    """
    transferred_bytes: float
    """Data and metadata that crossed the pins of chips per request, in both directions. Unit: B."""
    partial_update_share: float | None
    """Pages read to complete partial writes of pages, over pages that requests wrote. Unit: share. None when requests
    wrote no page.
    """


@record
class ChipStates:
    """Shares of time that chips spend in each state.

    They add up to 1 (Design for Scalability, PACT 2014, Figure 5).
    """

    exclusive_transfer: float
    """Commands or data move to or from the chip, over any path, and no array of the chip works. Unit: share."""
    overlapped: float
    """Commands or data move to or from the chip while an array of the chip works. Unit: share."""
    exclusive_execution: float
    """Arrays of the chip work, and neither commands nor data move to or from the chip. Unit: share."""
    idle: float
    """No array of the chip works, and neither commands nor data move. Dies that wait for a path, or have a suspended
    operation and do nothing, count as idle. Unit: share.
    """


@record
class MappingCache:
    """Lookups and transfers of the mapping cache."""

    entries: int
    """Number of entries that the cache can hold. Unit: entries."""
    hit_share: float | None
    """Map entries found in the cache, over entries requested during the run. Unit: share. None when none was wanted."""
    hits: int
    """Entries found in DRAM; each page of a request is one lookup. Unit: entries."""
    misses: int
    """Entries for which a translation page was read. Unit: entries."""
    joined_misses: int
    """Entries not found whose translation page was already being read or written back. Unit: entries."""
    waits_for_room: int
    """Misses that stalled until a write-back made room. Unit: entries."""
    evictions: int
    """Entries evicted to make room for others. Unit: entries."""
    write_backs: int
    """Translation pages selected for a write-back. Unit: pages."""
    write_backs_without_read: int
    """Of `write_backs`, pages that did not have to be read first, because all of their entries were in DRAM. Unit:
    pages.
    """


@record
class CauseOfConflicts:
    """Path conflicts of one cause."""

    transfers: int
    """Number of transfers that waited for this cause. Unit: transfers."""
    requests: int
    """Number of completed requests of which a transfer waited for this cause. Unit: requests."""
    wait_ps: int
    """Sum of the waits for this cause, over the transfers. Unit: ps."""


@record
class CausesOfConflicts:
    """Path conflicts by cause.

    A transfer that waited first for a controller and then for a link counts for both causes. A request counts for every
    cause that delayed one of its transfers.
    """

    channel: CauseOfConflicts
    """The channel, or the pins of the chip, carried another transfer."""
    controller: CauseOfConflicts
    """No controller that can serve the chip was free."""
    link: CauseOfConflicts
    """A link between routers carried another transfer."""


@record
class PathConflict:
    """Transfers and requests whose path was free at the first attempt (Venice, ISCA 2023, section 6.3)."""

    requests_free_share: float | None
    """Share of completed requests of which no transfer had to wait for a path. Unit: share. None when no request
    completed.
    """
    requests_free_of_others_share: float | None
    """Share of completed requests of which no transfer had to wait for a path that another request used: the measure of
    Venice, ISCA 2023, section 3.1. Waits behind pages of the same request do not count. Unit: share. None when no
    request completed.
    """
    transfers_free_share: float | None
    """Share of transfers whose path was free at the first attempt. Unit: share. None without transfers."""
    transfers: int
    """Number of transfers, for requests and for GC. Unit: transfers."""
    wait_ps: int
    """Sum of the times that transfers waited for a path. Unit: ps."""
    causes: CausesOfConflicts
    """Path conflicts by cause."""


@record
class RepetitionBin:
    """Pairs whose numbers of occurrences differ by less than a factor of two."""

    times_min: int
    """Smallest number of occurrences of a pair in this bin: a power of two. Unit: occurrences."""
    pairs: int
    """Number of page pairs in this bin. Unit: pairs."""
    occurrences: int
    """Total number of occurrences of the page pairs in this bin. Unit: occurrences."""


@record
class CollisionPair:
    """Two pages that were outstanding together on a die in an imbalanced collision.

    In such a collision another die has at least two fewer outstanding reads.
    """

    first: int
    """Page of the pair with the lower logical page number."""
    second: int
    """Page of the pair with the higher logical page number."""
    occurrences: int
    """Number of times that the two pages were outstanding together on a die while another die had at least two fewer
    reads outstanding. Unit: occurrences.
    """


@record
class ReplicationGain:
    """Estimated gain from replicating pages of collision pairs."""

    replications: int
    """Pages for which the benefit of a copy exceeded its cost. Unit: pages."""
    evictions: int
    """Of `replications`, pages whose copy was later evicted as the least recently read one, beyond the limit `l_M`.
    Unit: pages.
    """
    ended_by_writes: int
    """Of `replications`, pages that were later written or deallocated, which ends their copy. Unit: pages."""
    reads: int
    """Reads of pages that would have a copy. Unit: pages."""
    reads_moved: int
    """Of `reads`, reads for which the die of the copy had fewer reads outstanding. Unit: pages."""
    imbalanced_avoided: int
    """Reads in an imbalanced collision that would have been in a balanced collision, or in none, if the die of the copy
    had served them. Unit: pages.
    """
    imbalanced_avoided_share: float | None
    """Share of the imbalanced collisions that replication would avoid: `imbalanced_avoided` over their number. Unit:
    share. None without imbalanced collisions.
    """
    wait_saved_ps: int
    """Waiting time that `reads_moved` would have saved: `flash.read-time` for each read that the die of the copy had
    fewer outstanding. Unit: ps.
    """


@record
class Collisions:
    """Read collisions of the run ([read-collisions.md](read-collisions.md))."""

    dies: int
    """Dies of the drive. Unit: dies."""
    reads: int
    """Reads enqueued at dies, of the kinds that `replication.counted-reads` selects. A read that is rerouted because
    its page has moved counts once, at its first die. Unit: pages.
    """
    collisions: int
    """Reads that arrived at a die on which other reads were outstanding. Unit: pages."""
    balanced: int
    """Of `collisions`, those where the die had at most one more read outstanding than the least loaded die. Unit:
    pages.
    """
    imbalanced: int
    """Of `collisions`, those where the die had at least two more reads outstanding than the least loaded die. Unit:
    pages.
    """
    imbalanced_share: float | None
    """Share of the collisions that are imbalanced: `imbalanced` over `collisions`. Unit: share. None without
    collisions.
    """
    read_collision_ratio: float | None
    """Collisions per read: `collisions` over `reads`. Unit: ratio. None without reads."""
    read_collision_ratio_expected: float | None
    """Expected value of `read_collision_ratio` by chance, simulated beside the run: the same reads are outstanding,
    each at a random die. Unit: ratio. None without reads.
    """
    read_collision_ratio_closed_form: float | None
    """`read_collision_ratio_expected` in closed form: the mean of 1 - (1 - 1/n)^(k-1) over reads that arrive as one of
    k outstanding reads, on n dies. Unit: ratio. None without reads.
    """
    observations: int
    """Points of time, `measure.collision-interval` apart, at which reads were outstanding. Unit: observations."""
    average_occ: float | None
    """Average outstanding command count (OCC): mean number of reads outstanding at an observation. Unit: reads. None
    without observations.
    """
    collision_ratio: float | None
    """Share of the observations at which some die had more than one read outstanding: the measured collision ratio of
    Table 2. Unit: ratio. None without observations.
    """
    collision_ratio_expected: float | None
    """Expected value of `collision_ratio` by chance, simulated beside the run: the same reads are outstanding, each at
    a random die. Unit: ratio. None without observations.
    """
    collision_ratio_closed_form: float | None
    """`collision_ratio_expected` in closed form: the mean of 1 - n! / ((n-k)! n^k) over observations of k reads on n
    dies. Unit: ratio. None without observations.
    """
    collision_ratio_normalized: float | None
    """Collision ratio relative to its expected value: `collision_ratio` over `collision_ratio_expected` (Figure 3).
    Unit: ratio. None where no collision is expected.
    """
    idle_die_share: float | None
    """Share of the observations at which a die had no read outstanding. Unit: share. None without observations."""
    pairs: int
    """Pairs of pages that took part in imbalanced collisions, each pair once. Exact while `pairs_kept_share` is 1.
    Unit: pairs.
    """
    pair_occurrences: int
    """Number of times that the reads of a pair were outstanding together on a die with an imbalanced collision, summed
    over the pairs. Unit: occurrences.
    """
    pair_observations: int
    """Pairs whose reads were outstanding together on a die with an imbalanced collision, summed over the observations:
    a pair counts at each observation of its time together ("the OCC changes and collision patterns were monitored every
    10 us", section II.C). Unit: pairs.
    """
    mean_repetition: float | None
    """Mean number of occurrences of a pair. Unit: occurrences. None without pairs."""
    pairs_kept_share: float
    """Share of the pairs that are kept, each with all its occurrences; below 1 when there were more than
    `measure.collision-pairs`. Kept pairs are selected by a hash and are a fair sample of all. Unit: share.
    """
    top_5_percent_share: float | None
    """Share of the occurrences that the most repeated 5 % of the pairs account for. Unit: share. None without pairs."""
    repetitions: tuple[RepetitionBin, ...]
    """Distribution of the number of occurrences over the kept pairs (see `pairs_kept_share`; Figure 4)."""
    top_pairs: tuple[CollisionPair, ...]
    """Kept pairs (see `pairs_kept_share`) with the most occurrences, in descending order."""
    reads_per_die: tuple[int, ...]
    """Reads of each die, in the order of channel, way, die. Unit: pages."""
    reads_per_die_rsd: float | None
    """Standard deviation of `reads_per_die` over their mean (Table 3). Unit: ratio. None without reads."""
    reads_of_writes: int
    """Reads that completed a write of a part of a page (read-modify-write). With `replication.counted-reads = "host"`
    only the three figures that end in `_of_all` include them. Unit: pages.
    """
    collisions_of_all: int
    """Value of `collisions` if reads that complete a write count as outstanding, too. Unit: pages."""
    imbalanced_of_all: int
    """Value of `imbalanced` if reads that complete a write count as outstanding, too. Unit: pages."""
    pair_occurrences_of_all: int
    """Value of `pair_occurrences` if reads that complete a write count as outstanding, too. Unit: occurrences."""
    replication: ReplicationGain
    """Gain of `replication.enabled`, estimated beside a run without replicas."""


@record
class Replication:
    """Replication of pages on other dies ([read-collisions.md](read-collisions.md))."""

    wanted: int
    """Pages for which the benefit of a copy exceeded its cost. Unit: pages."""
    dropped: int
    """Of `wanted`, pages given up before a copy was programmed: the page was written, deallocated or moved meanwhile,
    or the target die had no room. Unit: pages.
    """
    made: int
    """Copies that were programmed and became replicas of their pages. Unit: pages."""
    wasted: int
    """Copies that were programmed in vain: the page was written, deallocated or moved meanwhile. Unit: pages."""
    ended_by_writes: int
    """Of `made`, replicas that ended because their page was written or deallocated. Unit: pages."""
    originals_kept: int
    """Of `made`, replicas dropped at the limit `l_M`, because their original had served more reads. Unit: pages."""
    copies_kept: int
    """Of `made`, replicas that replaced their original at the limit `l_M`, because they had served at least as many
    reads as the original. Unit: pages.
    """
    reads: int
    """Reads of pages with a replica. Unit: pages."""
    reads_of_copies: int
    """Of `reads`, reads that the replica served. Unit: pages."""
    imbalanced: int
    """Reads that arrived in an imbalanced collision (another die had at least two fewer reads outstanding) despite
    replication. Unit: pages.
    """
    imbalanced_avoided: int
    """Reads that a replica served and that would have arrived at the die of the original in an imbalanced collision
    (another die had at least two fewer reads outstanding). Unit: pages.
    """
    extra_read_bytes: int
    """Bytes read beyond the requested ones, because a copy needs the whole page. Unit: B."""
    program_ps: int
    """Total time that dies spent programming copies. Unit: ps."""
    copies_end: int
    """Pages with a replica at the end of the run. Unit: pages."""
    copies_peak: int
    """Largest number of pages with a replica during the run. Unit: pages."""
    copies_max: int
    """`l_M`: limit of pages with a replica. Unit: pages."""
    pair_bytes: float
    """DRAM of an entry of a collision pair list: two pages of its die, and a slack counter for each die. Unit: B."""
    list_bytes: int
    """DRAM of the collision pair lists. Unit: B."""
    map_bytes: int
    """DRAM of the replication map, with `copies_max` entries. Unit: B."""
    flag_bytes: int
    """DRAM of the flags in the map: one bit for each logical page. Unit: B."""


@record
class Scouts:
    """Counts of the steps and results of scouts."""

    sent: int
    """Number of scouts sent. Unit: scouts."""
    failed: int
    """Number of scouts, out of `sent`, that returned without a path. Unit: scouts."""
    failed_first: int
    """Number of paths (each for a command or for data) whose first scout failed (Venice, ISCA 2023, Fig 13). Unit:
    paths.
    """
    steps: int
    """Number of links that scouts crossed in search of a path, forward and back. Returns over a reserved path are not
    counted. Unit: steps.
    """
    misroutes: int
    """Number of steps, out of `steps`, forward over a link that does not lead nearer to the chip. Unit: steps."""
    backtracks: int
    """Number of steps, out of `steps`, back to the previous router or to the controller. Unit: steps."""
    circuit_lengths: tuple[int, ...]
    """Number of circuits by length: element n counts circuits of n links, including the links of the controller and of
    the chip. Unit: circuits.
    """


@record
class Queue:
    """Commands in the queue of one stream."""

    commands: int
    """Number of commands that passed through the queue, from issue to completion, during the run. Unit: commands."""
    occupancy_mean: float
    """Mean number of commands in the queue, over the makespan. Unit: commands."""


@record
class Statuses:
    """Number of completed requests by status."""

    success: int
    """Requests that succeeded. Unit: requests."""
    invalid_opcode: int
    """Requests with a command that the drive does not support (0x01): write zeroes over SATA. Unit: requests."""
    invalid_field: int
    """Requests without sectors, or with more data than `host.transfer-max` (0x02). Unit: requests."""
    invalid_namespace: int
    """Requests through a queue that is attached to no namespace (0x0b). A configuration attaches every queue, so this
    occurs only in runs of the library. Unit: requests.
    """
    lba_out_of_range: int
    """Requests that end beyond their namespace (0x80), from traces with `workload.beyond = "send"`. Unit: requests."""


@record
class Host:
    """Traffic between host and drive."""

    interface: Literal["direct", "nvme", "sata"]
    """Interface between host and drive (`host.interface`)."""
    queues: tuple[Queue, ...]
    """Queues, one for each stream."""
    submission_doorbells: int
    """Number of doorbells for issued commands; 0 for an interface without doorbells. Unit: doorbells."""
    completion_doorbells: int
    """Number of doorbells for completions taken. Unit: doorbells."""
    bytes_to_drive: int
    """Bytes sent over the link to the drive, including packet overhead. Unit: B."""
    bytes_to_host: int
    """Bytes sent over the link to the host, including packet overhead. Unit: B."""
    statuses: Statuses
    """Number of completed requests by status."""


@record
class CacheLookups:
    """Pages looked up in the device cache."""

    hits: int
    """Pages with all sectors of the read or write in the cache. Unit: pages."""
    partial_hits: int
    """Pages with some of the sectors in the cache; a read takes the rest from flash. Unit: pages."""
    misses: int
    """Pages with none of the sectors in the cache. Unit: pages."""


@record
class DeviceCache:
    """Work of the device cache."""

    capacity_pages: int
    """Capacity of the cache. Unit: pages."""
    reads: CacheLookups
    """Lookups of pages of reads, over all streams."""
    writes: CacheLookups
    """Lookups of pages of writes, for streams whose writes are cached."""
    fills: int
    """Pages that reads brought from flash and that were cached. Unit: pages."""
    destages: int
    """Pages that the cache wrote to flash, counted when the program is acknowledged. Unit: pages."""
    evictions: int
    """Pages evicted to make space for others. Unit: pages."""
    waits: int
    """Pages of writes that waited for space or because of `cache.throttle-interval`, or behind other waiting pages.
    Unit: pages.
    """
    throttled: int
    """Pages of writes that were first in the queue and waited because of `cache.throttle-interval`. Unit: pages."""
    wait_ps: int
    """Total time for which pages of writes waited until the cache accepted them. Unit: ps."""
    dirty_pages_max: int
    """Maximum number of dirty pages: pages with sectors that flash does not have. Unit: pages."""
    dirty_pages_end: int
    """Number of dirty pages at the end of the run. `cache.flush-at-end` destages them. Unit: pages."""
    dram_share: float
    """Busy share of the DRAM. Unit: share."""


@record
class SlcCache:
    """Work of the SLC cache ([slc-cache.md](slc-cache.md))."""

    blocks: int
    """Blocks of the SLC cache. Unit: blocks."""
    capacity_bytes: int
    """Capacity of the blocks of the SLC cache. Unit: B."""
    pages_written: int
    """Pages programmed in the cache for requests or the device cache. Unit: pages."""
    pages_direct: int
    """Pages programmed outside the cache for requests or the device cache, because the cache of the plane was full.
    Unit: pages.
    """
    direct_share: float | None
    """`pages_direct` over the sum of `pages_written` and `pages_direct`. Unit: share. None when nothing was written to
    flash.
    """
    folds: int
    """Blocks of the cache whose folding has begun. `gc.collections` counts them too. Unit: blocks."""
    pages_folded: int
    """Valid pages moved out of the cache. `gc.pages_moved` counts them too. Unit: pages."""
    erases: int
    """Erases of blocks of the cache. `gc.erases` counts them too. Unit: blocks."""
    erases_per_block: float
    """Mean erases of a block of the cache. Unit: 1."""
    native_erases_per_block: float
    """Mean erases of a block outside the cache. Unit: 1."""
    full_share: float | None
    """Share of the time in which the cache of a plane had no free page for a write, from the end of its last program to
    the end of the next erase; mean over the planes. Unit: share. None in a run that took no time.
    """


@record
class Persistence:
    """Work to persist the map."""

    journal_pages: int
    """Pages of the journal programmed. Unit: pages."""
    journal_entries: int
    """Entries in the journal pages. Unit: entries."""
    checkpoints: int
    """Checkpoints completed. Unit: checkpoints."""
    checkpoint_pages: int
    """Pages of the map and of the replication map programmed, for checkpoints or as write-backs of the mapping cache.
    Unit: pages.
    """
    write_amplification: float | None
    """`journal_pages` and `checkpoint_pages` over the pages that the host wrote: the contribution of persistence to
    write amplification. Unit: ratio. None when requests wrote no page.
    """


@record
class RecoverySteps:
    """Duration of each step of a recovery, in order."""

    blocks_ps: int
    """Time to read the spare area of the first page of each block. Unit: ps."""
    system_ps: int
    """Time to read the spare areas of all other pages of blocks with translation pages. Unit: ps."""
    map_ps: int
    """Time to read the pages of the map, the replication map and the journal. Unit: ps."""
    open_ps: int
    """Time to read the spare areas of pages programmed since the last page of the journal. Unit: ps."""


@record
class RecoveryReads:
    """Pages read in each step of a recovery."""

    blocks: int
    """First pages of blocks; one sector of each is read. Unit: pages."""
    system: int
    """Other pages of blocks with translation pages; one sector of each is read. Unit: pages."""
    map: int
    """Pages of the map; 0 with `mapping.cache-capacity`, since the map then stays on flash. Unit: pages."""
    journal: int
    """Pages of the journal and of the replication map. Unit: pages."""
    open: int
    """Pages of open blocks, including the first erased page of each; one sector of each is read. Unit: pages."""


@record
class Recovery:
    """Recovery of the map after a power cut ([power-loss.md](power-loss.md))."""

    duration_ps: int
    """Time from the return of power until the map is complete. No other figure of the result includes it. Unit: ps."""
    steps: RecoverySteps
    """Duration of each step of the recovery."""
    reads: RecoveryReads
    """Pages read in each step of the recovery."""
    entries_replayed: int
    """Entries of the journal that were replayed. Unit: entries."""
    pages_found: int
    """Host pages found by a scan of spare areas that no journal entry listed. Unit: pages."""
    copies_found: int
    """Replicated pages of which both copies were found. Unit: pages."""
    pages_lost: int
    """Programmed pages whose newest version was not found. Always 0 unless flashmesh has a bug. Unit: pages."""
    deallocations_lost: int
    """Deallocations undone: the page holds data again. A host flush before the cut prevents them. Unit: pages."""


@record
class PowerCut:
    """Costs of a power cut, with which the run ends."""

    at_ps: int
    """Simulated time of the power cut. Unit: ps."""
    capacitors: bool
    """Whether capacitors kept the drive alive (`power.capacitors`)."""
    requests_lost: int
    """Requests in flight at the power cut, which never completed. Unit: requests."""
    dirty_pages: int
    """Dirty pages in the device cache at the power cut. Unit: pages."""
    dirty_bytes: int
    """Bytes of the dirty pages that were not on flash. Unit: B."""
    pages_programmed: int
    """With capacitors, pages destaged after the power cut, including those in flight at the cut. Unit: pages."""
    map_pages_programmed: int
    """With capacitors, pages of the journal and of the map programmed after the power cut, including those in flight at
    the cut. Unit: pages.
    """
    duration_ps: int
    """Time from the power cut to the end of the last program after the cut. Unit: ps."""
    energy_j: float
    """Energy of the events that ended after the power cut. Unit: J."""
    pages_lost: int
    """Without capacitors, pages whose newest acknowledged data was lost, in whole or in part. Unit: pages."""
    bytes_lost: int
    """Number of acknowledged bytes lost in the pages that `pages_lost` counts. Unit: B."""
    programs_lost: int
    """Without capacitors, pages in programming for requests or the cache at the cut; recovery finds the older version
    of such a page. Unit: pages.
    """
    recovery: Recovery | None
    """Recovery after the power returns. None with `persistence.policy = "ideal"`."""


@record
class Utilisation:
    """Busy shares of the parts of the drive."""

    link_to_drive: float
    """Share of time for which the host link sends to the drive. If the link carries one direction at a time, share of
    time for which it sends in either direction. Unit: share.
    """
    link_to_host: float
    """Share of time for which the host link sends to the host. Unit: share."""
    adapter: float | None
    """Share of time for which the SATA adapter in the host is busy, in its busier direction. Unit: share. None but for
    `sata`.
    """
    firmware: float | None
    """Share of time for which a core of the controller is busy; mean over the cores. Unit: share. None where nothing
    takes them time (`[firmware]`).
    """
    links: tuple[float, ...]
    """Share of time for which bytes moved over each link, in the order of `links.names`. Unit: share."""
    controllers: tuple[float, ...]
    """Share of time for which each flash controller has a transfer, or sets up its path. Unit: share."""
    dies: tuple[float, ...]
    """Share of time for which each die is busy in any way, in the order of channel, way, die. With `multi-plane =
    "independent"`, a plane that reads counts by its share of the planes. Unit: share.
    """
    links_mean: float
    """Mean of `links` over all links. Unit: share."""
    controllers_mean: float
    """Mean of `controllers` over all flash controllers. Unit: share."""
    dies_mean: float
    """Mean of `dies` over all dies. Unit: share."""
    dies_gc_mean: float
    """Mean share of time that dies spend on GC and wear levelling. Unit: share."""


@record
class Links:
    """Traffic of the links of the interconnect, with one entry for each link."""

    names: tuple[str, ...]
    """Name of each link. Channels are numbered by row, followed by the columns'; private channels by chip; links of a
    mesh have the routers at their ends, as (row, column).
    """
    kinds: tuple[Literal["channel", "controller", "mesh", "chip"], ...]
    """Kind of each link, by the parts that it connects."""
    busy_ps: tuple[int, ...]
    """Time for which bytes moved over each link. Unit: ps."""
    bytes_to_chips: tuple[int, ...]
    """Data and metadata that each link carried towards the chips. Unit: B."""
    bytes_from_chips: tuple[int, ...]
    """Data and metadata that each link carried from the chips to controllers. Unit: B."""
    bytes_between_chips: tuple[int, ...]
    """Data and metadata that each link carried from chip to chip. Unit: B."""
    hops: int
    """Number of links crossed, over all transfers. Unit: links."""
    hops_mean: float | None
    """Mean number of links that a transfer crossed. Unit: links. None without transfers."""


@record
class Bound:
    """Bottleneck of the measured window, or of the whole run without such a window."""

    resource: Literal[
        "host-link",
        "adapter",
        "links",
        "controllers",
        "firmware",
        "dram",
        "throttle",
        "dies",
        "garbage-collection",
        "arrivals",
        "waiting",
        "latency",
    ]
    """The part of the drive, or the load, that limits throughput."""
    share: float
    """Busy share of `resource`; of the busiest part if arrivals, waiting or latency limit the run. For a link of a
    packet network over which bytes do not always move, the share of time for which packets hold it. For a link that
    operations hold (`hold-path`), the share of time for which operations hold it. Unit: share.
    """
    sentence: str
    """Sentence with the bottleneck and its busy share."""


@record
class LowerBound:
    """Minimum time that the work of the run takes, GC included, in any order of the work."""

    makespan_ps: int
    """Lower bound: the maximum of the times of all parts. Unit: ps."""
    limit: Literal[
        "dies",
        "chips",
        "rows",
        "mesh-links",
        "controllers",
        "link-to-drive",
        "link-to-host",
        "adapter",
        "firmware",
        "dram",
        "arrivals",
    ]
    """Part with the maximum time."""
    distance: float | None
    """Time of the run over `lower_bound.makespan_ps`, minus 1. Unit: share. None when there was nothing to do."""
    dies_ps: int
    """Time of the busiest die: its operations and transfers, one after the other. With `read-cache` its data leaves
    during other work. A chip whose dies take turns (`die-interleaving`) counts as one die. Unit: ps.
    """
    chips_ps: int | None
    """Time of the pins of the busiest chip. Unit: ps. None where they are no link of their own."""
    rows_ps: int | None
    """Time of the channel of the busiest row; with `hold-path`, the time for which operations hold it. For Venice, the
    time of the circuits to the row's chips, divided over all links that lead to the row. Unit: ps. None where a row
    shares none.
    """
    mesh_links_ps: int | None
    """Time of the busiest link between routers. Unit: ps. None where there are none, or transfers choose among them."""
    controllers_ps: int | None
    """Time of the controllers, with all transfers divided evenly. Unit: ps. None where nothing limits them."""
    link_to_drive_ps: int
    """Time of all transfers over the host link in the direction to the drive. Unit: ps."""
    link_to_host_ps: int
    """Time of all transfers over the host link in the direction to the host. Unit: ps."""
    adapter_ps: int | None
    """Time of the SATA adapter in the host, in its busier direction. Unit: ps. None but for `sata`."""
    firmware_ps: int | None
    """Time of the controller's cores, with all work divided evenly. Unit: ps. None where nothing takes them time
    (`[firmware]`).
    """
    dram_ps: int | None
    """Time of the DRAM of the device cache. Unit: ps. None where the cache is turned off."""
    arrivals_ps: int | None
    """Arrival of the last request. Unit: ps. None where all streams issue requests as others complete."""


@record
class Energy:
    """Energy of the run's events, by consumer."""

    total: float
    """Total energy of the run: the sum over all consumers. Unit: J."""
    read: float
    """Energy of reads in the array. Each takes the read time of its page type, whatever the number of planes. A
    copyback counts as a read and a program. Unit: J.
    """
    program: float
    """Energy of programs in the array. Unit: J."""
    erase: float
    """Energy of erases in the array. Unit: J."""
    channels: float
    """Energy of shared channels, while bytes move over them. Unit: J."""
    links: float
    """Energy of links with one driver at either end, while bytes move over them. Unit: J."""
    routers: float
    """Energy of routers, during the whole run. Unit: J."""
    controllers: float
    """Energy of flash controllers, during the whole run. Unit: J."""


@record
class Constant:
    """A constant from which a result is computed."""

    name: str
    """Name of the constant."""
    value: float
    """Value in `unit`."""
    unit: str
    """Unit of the value."""
    source: str
    """Paper that states the value, or the choice made because no paper states one; `configuration` for a configured
    value.
    """


@record
class DrivePower:
    """Power and energy of the drive, by two separate measures: event energy and nominal power."""

    energy_j: Energy
    """Energy of the run's events."""
    average_w: float | None
    """Energy of the run's events per simulated second. Unit: W. None in a run that took no time."""
    nominal_w: float
    """Power of the drive with all of its parts at work: each die executes the mean operation of the run, each
    controller has a transfer over the mean number of links of the run, and routers and controllers draw their constant
    power. Nominal power does not depend on the length of the run. Unit: W.
    """
    nominal_energy_j: float
    """Energy as the papers measure it: average power times execution time (Venice, ISCA 2023, section 6.4), here with
    the nominal power. Unit: J.
    """
    constants: tuple[Constant, ...]
    """Powers of single parts, from which the figures are computed."""


@record
class LinkCounts:
    """Links of the interconnect, by what they connect."""

    channel: int
    """Channels that several chips share. Unit: links."""
    controller: int
    """Links between a controller and one chip, or one router. Unit: links."""
    mesh: int
    """Links between routers. Unit: links."""
    chip: int
    """Links between a router and its chip. Unit: links."""


@record
class DriveArea:
    """Parts of the interconnect, and their area."""

    links: LinkCounts
    """Number of links, by what they connect."""
    wires: int
    """Number of wires that carry data, over all links. Unit: wires."""
    controllers: int
    """Number of flash channel controllers. Unit: controllers."""
    routers: int
    """Number of routers, in the chips or beside them. Unit: routers."""
    links_saved_share: float | None
    """Share of the area of the bus's channels that the links save; negative if they take more area. Links to
    controllers and to chips are not counted (Venice, ISCA 2023, section 6.6). Unit: share. None for private channels to
    every chip, whose area nobody states.
    """
    chips_mm2: float
    """Area of the chips, without the area that the interconnect adds to them. Unit: mm2."""
    added_inside_mm2: float
    """Area that the interconnect adds inside the chips: controllers on the dies, routers of NoSSD. Unit: mm2."""
    added_beside_mm2: float
    """Area that the interconnect adds on the board beside the chips, without links: routers of Venice. Unit: mm2."""
    constants: tuple[Constant, ...]
    """Areas of single parts, from which the figures are computed."""


@record
class ConfidenceInterval:
    """A 95 % confidence interval of a figure of the run."""

    low: float
    """Lower end, in the unit of the figure."""
    high: float
    """Upper end, in the unit of the figure."""


@record
class LatencyConfidence:
    """Confidence intervals of latencies, in picoseconds."""

    mean: ConfidenceInterval | None
    """Confidence interval of the mean latency. None when there are too few requests to tell."""
    p50: ConfidenceInterval | None
    """Confidence interval of the median latency. None when there are too few requests to tell."""
    p95: ConfidenceInterval | None
    """Confidence interval of the 95th percentile of latency. None when there are too few requests to tell."""
    p99: ConfidenceInterval | None
    """Confidence interval of the 99th percentile of latency. None when there are too few requests to tell."""
    p99_9: ConfidenceInterval | None
    """Confidence interval of the 99.9th percentile of latency. None when there are too few requests to tell."""


@record
class LatencyConfidenceByKind:
    """Confidence intervals of latencies, by kind of request."""

    all: LatencyConfidence
    """Confidence intervals of the latencies of all requests."""
    read: LatencyConfidence
    """Confidence intervals of the latencies of reads."""
    write: LatencyConfidence
    """Confidence intervals of the latencies of writes."""


@record
class BreakdownConfidence:
    """Confidence intervals of the parts of the mean latency, as shares of the mean latency."""

    host: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.host`, as a share of the mean latency."""
    firmware: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.firmware`, as a share of the mean latency."""
    cache: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.cache`, as a share of the mean latency."""
    map_wait: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.map_wait`, as a share of the mean latency."""
    die_wait: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.die_wait`, as a share of the mean latency."""
    behind_gc: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.behind_gc`, as a share of the mean latency."""
    path_wait: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.path_wait`, as a share of the mean latency."""
    array: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.array`, as a share of the mean latency."""
    transfer: ConfidenceInterval
    """Confidence interval of `breakdown_ps.mean.transfer`, as a share of the mean latency."""


@record
class Confidence:
    """95 % confidence intervals of the figures of the measured window, or of the whole run without such a window."""

    batches: int
    """Number of batches of the window, from which the intervals are computed. Unit: batches."""
    iops: ConfidenceInterval | None
    """Confidence interval of the requests completed per second. None when there are too few requests to tell."""
    bandwidth_bytes_per_s: ConfidenceInterval | None
    """Confidence interval of the bytes per second. None when there are too few requests to tell."""
    latency_ps: LatencyConfidenceByKind
    """Confidence intervals of the latencies, in picoseconds."""
    breakdown_share: BreakdownConfidence | None
    """Confidence intervals of the parts of the mean latency, as shares of the mean latency. None when there are too few
    requests to tell.
    """
    write_amplification: ConfidenceInterval | None
    """Confidence interval of write amplification. None when requests wrote no page, or there are too few to tell."""
    dies_gc_mean: ConfidenceInterval | None
    """Interval of the mean share of time that dies spend on GC and wear levelling. None when there are too few batches
    to tell.
    """


@record
class StreamConfidence:
    """95 % confidence intervals of the figures of a stream."""

    iops: ConfidenceInterval | None
    """Confidence interval of the requests completed per second. None when there are too few requests to tell."""
    bandwidth_bytes_per_s: ConfidenceInterval | None
    """Confidence interval of the bytes per second. None when there are too few requests to tell."""
    latency_ps: LatencyConfidenceByKind
    """Confidence intervals of the latencies, in picoseconds."""


@record
class TraceTally:
    """The number of lines with one outcome, and the first of these lines."""

    reason: str
    """The reason for rejecting the lines, or the action that was ignored."""
    lines: int
    """Number of lines. Unit: lines."""
    first_line: int
    """The number of the first of these lines, or of the first record of a binary trace, from 1. Unit: line number."""
    first_column: int
    """The column in the first line, or the byte within the first record, from 1; 0 for the whole line. Unit: column
    number.
    """
    message: str
    """The error message for the first line."""


@record
class TraceContents:
    """The contents of a trace; all figures are exact for the requests that will run.

    Every line read has one outcome: `lines = requests + rejected + ignored + skipped`, except that a trace cut by
    `workload.requests` was read a little further than its last request.
    """

    file: str
    """Path of the trace file."""
    format: Literal[
        "auto",
        "msr",
        "msr-short",
        "ascii",
        "fio-iolog",
        "spc",
        "systor",
        "blkparse",
        "vscsi1",
        "vscsi2",
        "diskmon",
        "alibaba",
        "tencent",
        "fiu",
        "libcachesim-csv",
        "oracle-general",
        "srt",
    ]
    """Format of the trace (`workload.format`)."""
    format_title: str
    """Title of the format."""
    compression: Literal["plain", "gzip", "zstd", "xz"]
    """Compression of the file."""
    lines: int
    """Lines read. In a binary trace, lines are records, here and below. Unit: lines."""
    requests: int
    """Requests that will run. Unit: requests."""
    reads: int
    """Requests that read. Unit: requests."""
    writes: int
    """Requests that write. Unit: requests."""
    deallocates: int
    """Requests that deallocate. Unit: requests."""
    flushes: int
    """Requests that flush (`workload.flushes`). Unit: requests."""
    read_share: float
    """Share of the requests that read. Unit: share."""
    write_share: float
    """Share of the requests that write. Unit: share."""
    deallocate_share: float
    """Share of the requests that deallocate. Unit: share."""
    span_ps: int
    """Time from the first arrival to the last. Unit: ps."""
    interarrival_mean_ps: float
    """Mean time between arrivals; 0 with a single request. Unit: ps."""
    read_bytes: int
    """Bytes read. Unit: B."""
    write_bytes: int
    """Bytes written. Unit: B."""
    deallocate_bytes: int
    """Bytes deallocated. Unit: B."""
    read_size_mean_bytes: float
    """Mean size of a read; 0 without reads. Unit: B."""
    write_size_mean_bytes: float
    """Mean size of a write; 0 without writes. Unit: B."""
    footprint_bytes: int
    """Distinct pages of 4 KiB read or written. Unit: B."""
    address_end_bytes: int
    """Largest end of a request: one more than the highest byte address. Unit: B."""
    devices: int
    """Devices that the trace names, counted up to 65,536; they share one address space. Unit: devices."""
    time_unit: str | None
    """Unit of the time stamps (`workload.time-unit`). None where the format fixes it."""
    tied: int
    """Requests that share their time stamp with another request. Unit: requests."""
    tied_max: int
    """Maximum number of requests with the same time stamp. Unit: requests."""
    may_be_bytes: bool
    """Whether offsets and sizes that were read as sectors are more likely bytes (`workload.address-unit`)."""
    wrapped: int
    """Requests whose address was wrapped to the drive (`workload.beyond`). Unit: requests."""
    reordered: TraceTally | None
    """Requests that were out of order and were sorted. None when none was."""
    rejected: tuple[TraceTally, ...]
    """Lines that cannot be used, by reason."""
    ignored: tuple[TraceTally, ...]
    """Lines with an action without work for the drive (such as flushes, unless `workload.flushes`) or with unknown
    work, by action.
    """
    skipped: int
    """Lines without requests: blank lines, comments, headers and bookkeeping. Unit: lines."""


@record
class StreamResult:
    """Results of one stream, over the whole run."""

    name: str
    """Name of the stream."""
    requests: int
    """Number of requests of the stream that completed during the run. Unit: requests."""
    read_bytes: int
    """Number of bytes that successful requests of the stream read. Unit: B."""
    written_bytes: int
    """Number of bytes that successful requests of the stream wrote. Unit: B."""
    start_ps: int
    """Simulated time from the start of the run to the start of the stream, which `replay.phase` and
    `replay.start-delay` delay. Unit: ps.
    """
    makespan_ps: int
    """Simulated time from the start of the run to the last completion of the stream. Unit: ps."""
    iops: float
    """Completed requests per simulated second, from the start of the stream to its last completion. Unit: 1/s."""
    bandwidth_bytes_per_s: float
    """Bytes that successful requests read and wrote, per simulated second from the start of the stream to its last
    completion. Unit: B/s.
    """
    latency_ps: LatencyByKind
    """Completion latencies of the requests of the stream."""
    breakdown_ps: BreakdownByPart
    """Breakdown of the latencies of the requests of the stream."""
    confidence: StreamConfidence | None
    """Confidence intervals of the figures of the stream in the measured window, or in the whole run without such a
    window. None with one stream, with more than 16, or when there are too few requests to tell.
    """
    workload: dict[str, Any] | None
    """Summary of the workload of the stream. None when it was not made from the configuration."""


@record
class WarmUp:
    """End of the warm-up."""

    how: Literal["none", "auto", "requests", "time", "steady"]
    """Condition on which the warm-up ends (`measure.warm-up`)."""
    converged: bool
    """Whether the warm-up ended, and requests completed after it. `false` with `auto`: the run is too short, and the
    measured window is its second half.
    """
    ended_ps: int | None
    """Simulated time at which the warm-up ended. Unit: ps. None when it did not end."""
    requests: int
    """Number of requests that completed during the warm-up. Unit: requests."""
    batch_requests: int | None
    """Number of requests of a batch, of which `warm_up.requests` is a multiple. Unit: requests. None but with `auto`.
    """


@record
class IntervalUtilisation:
    """Busy shares of the parts of the drive during an interval."""

    link_to_drive: float
    """Share of time for which the host link sends to the drive. Unit: share."""
    link_to_host: float
    """Share of time for which the host link sends to the host. Unit: share."""
    links_mean: float
    """Share of time for which a link of the interconnect is busy; mean over the links. Unit: share."""
    dies_mean: float
    """Share of time for which a die is busy; mean over the dies. Unit: share."""
    dies_gc_mean: float
    """Mean share of time that dies spend on GC and wear levelling. Unit: share."""


@record
class Interval:
    """Results of an interval of the run.

    A request belongs to the interval in which it completed, whenever it arrived.
    """

    start_ps: int
    """Simulated time at which the interval begins. Unit: ps."""
    end_ps: int
    """Simulated time at which the interval ends. Unit: ps."""
    requests: int
    """Number of requests that completed in the interval. Unit: requests."""
    iops: float
    """Completed requests per simulated second of the interval. Unit: 1/s."""
    bandwidth_bytes_per_s: float
    """Bytes that successful requests read and wrote, per simulated second of the interval. Unit: B/s."""
    latency_ps: LatencyByKind
    """Completion latencies of the requests of the interval."""
    write_amplification: float | None
    """Pages programmed in the interval over pages that requests wrote in the interval. Unit: ratio. None when requests
    wrote no page.
    """
    gc: GarbageCollection
    """Work of GC and wear levelling in the interval."""
    flash: FlashOperations
    """Operations of the flash array in the interval."""
    mapping_hit_share: float | None
    """Map entries found in the mapping cache, over entries requested in the interval. Unit: share. None when none was
    wanted, or the whole map is in DRAM.
    """
    occupancy_mean: float
    """Mean number of commands in the queues of all streams, over the interval. Unit: commands."""
    utilisation: IntervalUtilisation
    """Busy shares of the parts of the drive during the interval."""


@record
class Drift:
    """Change of a measure over five rounds, as shares of its mean."""

    range: float
    """Maximum minus minimum of the rounds, over their mean. Unit: share."""
    slope: float
    """Change of the straight line fitted to the rounds, from the first to the last, over their mean. Unit: share."""


@record
class Rounds:
    """Drift of the measured window over five rounds, each a fifth of its requests."""

    iops: Drift
    """Drift of requests completed per simulated second."""
    latency: Drift
    """Drift of the mean latency."""


@record
class MeasuredBreakdown:
    """Breakdown of the mean latencies of the requests of the measured window, from the batches of `confidence`."""

    mean: Breakdown | None
    """Mean latency of all requests, by part. None when the window is shorter than a batch."""
    read: Breakdown | None
    """Mean latency of reads, by part. None when none completed in a batch of the window."""
    write: Breakdown | None
    """Mean latency of writes, by part. None when none completed in a batch of the window."""


@record
class MeasuredStream:
    """Results of the measured window for one stream."""

    name: str
    """Name of the stream."""
    requests: int
    """Number of requests of the stream that completed in the window. Unit: requests."""
    iops: float
    """Completed requests per simulated second, from the start of the window to the last completion of the stream. Unit:
    1/s.
    """
    bandwidth_bytes_per_s: float
    """Bytes that successful requests read or wrote, per simulated second from the start of the window to the last
    completion of the stream. Unit: B/s.
    """
    latency_ps: LatencyByKind
    """Completion latencies of the requests of the stream in the window."""


@record
class Measured(Interval):
    """The measured window: the run after its warm-up."""

    steady: bool | None
    """Whether IOPS and mean latency of five rounds are steady by the criterion of the SNIA: a range of at most 20 % and
    a slope of at most 10 % of their mean. `steadiness` uses further criteria. None when there are too few requests to
    tell.
    """
    rounds: Rounds | None
    """Drift of IOPS and mean latency over five rounds, each a fifth of the requests of the window. None when there are
    too few requests to tell.
    """
    distribution: DistributionByKind
    """Latency distribution of the requests of the window."""
    breakdown_ps: MeasuredBreakdown
    """Breakdown of the latencies of the requests of the window."""
    streams: tuple[MeasuredStream, ...]
    """Results of the window for each stream."""


@record
class Precision:
    """Requested and reached precision of the figure that `measure.precision-of` selects."""

    of: Literal["iops", "bandwidth", "mean", "p50", "p95", "p99", "p99.9", "write-amplification"]
    """Figure whose precision is reported."""
    wanted: float
    """Requested half-width of the figure's confidence interval, as a share of the figure. Unit: share."""
    reached: float | None
    """Reached half-width of the figure's confidence interval, as a share of the figure. Unit: share. None when there
    are too few requests to tell.
    """
    met: bool
    """Whether the reached half-width is at most the requested one."""


@record
class Steadiness:
    """Verdict on the steady state ([steady-state.md](steady-state.md)).

    Judged over the measured window, or over the whole run without one.
    """

    steady: bool
    """Whether the figures are those of the steady state."""
    reasons: tuple[
        Literal[
            "collection-ahead",
            "free-pages-fall",
            "free-pages-rise",
            "rounds",
            "overwrites",
            "cache-fills",
            "slc-fills",
            "backlog",
            "warm-up",
            "drift",
            "short",
        ],
        ...,
    ]
    """Reasons against a steady state, the most important first; empty when `steady`."""
    requests_needed: int | None
    """Estimated number of requests of a run that is long enough. Unit: requests. None when `steady`, or when no length
    would be enough.
    """


@record
class RecordedRequest:
    """A request of the recording."""

    number: int
    """Sequence number of the request, in the order of issue from 1."""
    stream: int
    """Index of the stream of the request, from 0."""
    kind: Literal["read", "write", "deallocate", "flush", "write_zeroes"]
    """Kind of the request."""
    offset_bytes: int
    """Offset of the request on the drive. Unit: B."""
    size_bytes: int
    """Size of the request. Unit: B."""
    issued_ps: int
    """Time at which the host issued the request. Unit: ps."""
    completed_ps: int | None
    """Time at which the request completed. Unit: ps. None when it had not completed by the end of the recording."""


@record
class RecordedTransfer:
    """A transfer of a command or of data."""

    die: int
    """Die of the transfer. If the dies of a chip take turns, the first die of the chip until the message is sent."""
    phase: Literal["command", "data", "copy"]
    """Phase of the operation for which the path was requested."""
    message: Literal["read", "program", "erase", "copyback", "data", "copy"] | None
    """Message that was sent over the path. None when nothing was sent by the end of the recording, or at all."""
    requests: tuple[int, ...]
    """Numbers of the requests to which the transfer belongs; none for firmware work, or if nothing was sent."""
    asked_ps: int
    """Time at which the die requested the path. Unit: ps."""
    granted_ps: int | None
    """Time at which the path was granted. Unit: ps. None when it had not got it by the end of the recording."""
    delivered_ps: int | None
    """Time at which the message had arrived. Unit: ps. None when it had not arrived by the end of the recording."""
    released_ps: int | None
    """Time at which the path was released. Unit: ps. None when it was held at the end of the recording."""
    causes: tuple[Literal["channel", "controller", "link"], ...]
    """Obstacles that blocked the path, in order; empty if the path was free at the first attempt."""
    blocked_ps: int
    """Time for which the path was blocked. Unit: ps."""


@record
class RecordedHold:
    """A use of a link."""

    link: int
    """Index of the link in `links.names`, from 0."""
    die: int
    """Die for which the link was held."""
    transfer: int | None
    """Index in `transfers` of the transfer for which the link was held, from 0. None for acknowledgements, and for
    transfers of before the recording.
    """
    from_ps: int
    """Time at which the use of the link starts. Unit: ps."""
    until_ps: int
    """Time at which the use of the link ends. Unit: ps."""


@record
class RecordedScoutStep:
    """A step of a scout of Venice."""

    at_ps: int
    """Time at which the step begins. Unit: ps."""
    controller: int
    """Controller that sent the scout."""
    die: int
    """Die for which the scout searches a path."""
    step: Literal["sent", "forward", "back", "found", "failed"]
    """Move of the scout: forward, back, or the end of its search."""
    to_chip: int | None
    """Chip of the router to which the scout moves, or where it is. None when that is its controller."""


@record
class NetworkRecording:
    """Transfers over the interconnect in a window of the run (`measure.window-start`, `measure.window-length`)."""

    fabric: str
    """Kind of the interconnect."""
    about: str
    """Explanation of the interconnect, for a reader who does not know it."""
    start_ps: int
    """Simulated time at which the recording begins. Unit: ps."""
    end_ps: int
    """Simulated time at which the recording ends. Unit: ps."""
    is_cut: bool
    """Whether the recording ended before its window, because it was full (`measure.network-events-max`)."""
    requests: tuple[RecordedRequest, ...]
    """Requests to which the transfers belong, in the order of issue."""
    transfers: tuple[RecordedTransfer, ...]
    """Transfers that requested or held a path within the window, in the order of their requests."""
    holds: tuple[RecordedHold, ...]
    """Uses of links within the window, by the path of a transfer or by a scout's reservation."""
    scouts: tuple[RecordedScoutStep, ...]
    """Moves of the scouts of Venice within the window, in order."""


@record
class TimelineRecording:
    """Extent of the timeline in the run (`measure.window-start`, `measure.window-length`)."""

    start_ps: int
    """Simulated time at which the timeline begins. Unit: ps."""
    end_ps: int
    """Simulated time at which the timeline ends. Unit: ps."""
    is_cut: bool
    """Whether the timeline ended before its window, because it was full (`measure.timeline-events-max`)."""


@record
class StreamFairness:
    """Effect of the other streams on one stream."""

    name: str
    """Name of the stream."""
    together_ps: float | None
    """Mean latency of the stream when all streams run. Unit: ps. None when it completed nothing."""
    alone_ps: float | None
    """Mean latency of the stream on the same drive when no other stream issues requests. The run has as many requests
    of the stream as that of all streams, unless both are lengthened until they are steady (`--until-steady`). Unit: ps.
    None when it completed nothing.
    """
    slowdown: float | None
    """`together_ps` over `alone_ps`: 1 if the others do not disturb the stream. Unit: ratio. None when it completed
    nothing.
    """
    together_p99_ps: int | None
    """99th percentile of the latency of the stream when all streams run. Unit: ps. None when it completed nothing."""
    alone_p99_ps: int | None
    """99th percentile of the latency of the stream when no other stream issues requests. Unit: ps. None when it
    completed nothing.
    """
    alone_steady: bool | None
    """Whether the run of the stream alone is `steady` in its own `steadiness`. Otherwise the slowdown may change with
    the number of requests. None when it completed nothing.
    """


@record
class Fairness:
    """Evenness of the slowdown of streams, by the measures of the MQSim paper (Tavakkol et al., FAST 2018)."""

    streams: tuple[StreamFairness, ...]
    """Slowdown of each stream, in the order of the configuration."""
    slowdown_max: float | None
    """Maximum slowdown of any stream. Unit: ratio. None when no stream has a slowdown."""
    fairness: float | None
    """Minimum slowdown over maximum slowdown: 1 if all streams are slowed down equally, near 0 if one is slowed down
    much more. Unit: ratio. None when no stream has a slowdown.
    """
    unfairness: float | None
    """Maximum slowdown over minimum slowdown: 1 if all streams are slowed down equally. Unit: ratio. None when no
    stream has a slowdown.
    """


@record
class WorkloadFile:
    """A file with requests, or with a policy."""

    stream: str
    """Name of the stream; for a policy, its key."""
    path: str
    """Path of the file at the time of the run."""
    size_bytes: int
    """Size of the file. Unit: B."""
    sha256: str
    """SHA-256 of the file, in hexadecimal."""


@record
class Provenance:
    """Inputs that, together with the configuration, reproduce the result."""

    command: tuple[str, ...] | None
    """Command line that made the result. None when no command line has made it."""
    files: tuple[WorkloadFile, ...]
    """Traces and fitted profiles from which requests come, and files with policies in Python."""


@record
class Report:
    """Results of one run.

    A result covers the whole run, warm-up included, unless its meaning names another interval.
    """

    requests: int
    """Number of requests that completed during the run. Unit: requests."""
    makespan_ps: int
    """Simulated time from the start of the run to its last completion, or to the last program of a final flush of the
    device cache. If the run was cut off or interrupted, the time up to that. Unit: ps.
    """
    iops: float
    """Completed requests per simulated second of the makespan. Unit: 1/s."""
    bandwidth_bytes_per_s: float
    """Bytes that successful requests read or wrote, per simulated second of the makespan. Unit: B/s."""
    latency_ps: LatencyByKind
    """Completion latencies of all requests of the run."""
    distribution: DistributionByKind
    """Distribution of the completion latencies of the run."""
    breakdown_ps: BreakdownByPart
    """Breakdown of the latencies of the requests of the run."""
    write_amplification: float | None
    """Pages programmed during the run, including moved pages and translation pages, over pages that requests wrote.
    Each page counts as often as it was written, in whole or in part. Below 1 if the device cache accepts a page several
    times before it is destaged. Unit: ratio. None when requests wrote no page.
    """
    gc: GarbageCollection
    """Work of GC and wear levelling during the run."""
    flash: FlashOperations
    """Operations of the flash array during the run."""
    per_request: PerRequest | None
    """Flash operations per request. None when no request completed."""
    chip_states: ChipStates | None
    """Shares of time that the chips spent in each state. None with `measure.chip-states = false`."""
    mapping_cache: MappingCache | None
    """Lookups and transfers of the mapping cache during the run. None when the whole map is in DRAM."""
    path_conflict: PathConflict
    """Transfers and requests whose path was free at the first attempt, during the run."""
    collisions: Collisions | None
    """Read collisions during the run. None with `measure.collisions = false`."""
    replication: Replication | None
    """Replication of pages on other dies during the run. None with `replication.enabled = false`."""
    scouts: Scouts | None
    """Work of the scouts of Venice during the run. None on other fabrics."""
    host: Host
    """Traffic between host and drive during the run."""
    cache: DeviceCache | None
    """Work of the device cache during the run. None when it is turned off."""
    slc: SlcCache | None
    """Work of the SLC cache during the run. None with `slc.blocks-per-plane = 0`."""
    persistence: Persistence | None
    """Work to keep the map on flash during the run. None with `persistence.policy = "ideal"`."""
    power_cut: PowerCut | None
    """Effects of the power cut (`power.cut`). None when none came before the run ended."""
    utilisation: Utilisation
    """Busy shares of the parts of the drive, from the start of the run to the last event."""
    links: Links
    """Traffic of each link of the interconnect during the run."""
    bound: Bound
    """Bottleneck of the measured window. Without such a window, and with the warm-up `auto`, bottleneck of the whole
    run.
    """
    lower_bound: LowerBound
    """Minimum time that the work of the run takes."""
    power: DrivePower
    """Energy and power of the drive during the run."""
    area: DriveArea
    """Parts of the interconnect, and their area."""
    confidence: Confidence
    """Confidence intervals of the figures of the measured window, or of the whole run without such a window."""
    streams: tuple[StreamResult, ...]
    """Results of each stream, in the order of the configuration. Without configured streams, of one stream named
    `host`.
    """
    warm_up: WarmUp | None
    """End of the warm-up ([steady-state.md](steady-state.md)). None with `measure.warm-up = "none"`."""
    measured: Measured | None
    """The measured window, from the end of the warm-up to the end of the run. None without a warm-up, or when nothing
    completed behind it.
    """
    precision: Precision | None
    """Requested and reached precision of the figure that `measure.precision-of` selects. None without
    `measure.precision`.
    """
    steadiness: Steadiness
    """Whether the figures of the measured window are those of the steady state."""
    epochs: tuple[Interval, ...]
    """Intervals of the run, of length `measure.epoch` times a power of two. Their counts add up to those of the run,
    and the last interval ends with the run. Empty without `measure.epoch`.
    """
    network: NetworkRecording | None
    """Transfers over the interconnect in a window of the run. None unless `measure.network` is set."""
    timeline: TimelineRecording | None
    """Extent of the timeline of the run. None without `--timeline`."""
    workload: dict[str, Any] | None
    """Summary of the workload. None when there are several streams."""
    wall_s: float
    """Wall time of the run, without loading of the configuration and preconditioning. Unit: s."""
    requests_per_wall_s: float
    """Completed requests per second of wall time. Unit: 1/s."""
    peak_rss_bytes: int | None
    """Peak memory of the process up to the end of the run. Runs in one process share this value. Unit: B. None where
    the system does not tell.
    """
    config_hash: str
    """Hash of the configuration. Equal for configurations that determine the same run."""
    seed: int
    """Seed from which all random numbers of the run derive."""
    version: str
    """Version of flashmesh."""
    interrupted: bool
    """Whether the run was stopped before its end."""
    fairness: Fairness | None
    """Effect of the streams on one another. None unless the streams were run alone as well (`--fairness`)."""
    configuration: dict[str, Any]
    """All parameters of the run, as tables with the keys of [parameters.md](parameters.md)."""
    provenance: Provenance
    """Origin of the result."""


@record
class RequestColumn:
    """A column of the log of requests."""

    name: str
    """Its name."""
    type: Literal["uint64", "uint32", "bool", "name", "stream"]
    """What its values are: numbers, truth values, the place of a name in `names`, or that of a stream."""
    names: tuple[str, ...] = ()
    """The names, by their place."""


REQUEST_COLUMNS: tuple[RequestColumn, ...] = (
    RequestColumn("id", "uint64"),
    RequestColumn("kind", "name", ("read", "write", "deallocate", "flush", "write_zeroes")),
    RequestColumn("stream_name", "stream"),
    RequestColumn("stream", "uint32"),
    RequestColumn("offset_bytes", "uint64"),
    RequestColumn("size_bytes", "uint64"),
    RequestColumn(
        "status", "name", ("success", "invalid_opcode", "invalid_field", "invalid_namespace", "lba_out_of_range")
    ),
    RequestColumn("arrival_ps", "uint64"),
    RequestColumn("submitted_ps", "uint64"),
    RequestColumn("completed_ps", "uint64"),
    RequestColumn("host_ps", "uint64"),
    RequestColumn("firmware_ps", "uint64"),
    RequestColumn("cache_ps", "uint64"),
    RequestColumn("map_wait_ps", "uint64"),
    RequestColumn("die_wait_ps", "uint64"),
    RequestColumn("path_wait_ps", "uint64"),
    RequestColumn("array_ps", "uint64"),
    RequestColumn("transfer_ps", "uint64"),
    RequestColumn("behind_gc_ps", "uint64"),
    RequestColumn("path_conflict", "bool"),
    RequestColumn("channel_conflict", "bool"),
    RequestColumn("controller_conflict", "bool"),
    RequestColumn("link_conflict", "bool"),
)
"""The log of requests: a row for each completed request."""
