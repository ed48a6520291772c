"""What a run gives: the keys of its JSON as attributes, and data frames of them."""

from flashmesh.results.cost import Constant, DriveArea, DrivePower, Energy, LinkCounts
from flashmesh.results.drive import (
    CacheLookups,
    DeviceCache,
    FlashOperations,
    GarbageCollection,
    MappingCache,
    PowerCut,
)
from flashmesh.results.host import Host, Queue, Statuses
from flashmesh.results.latency import Breakdown, BreakdownByPart, Latency, LatencyByKind
from flashmesh.results.links import (
    Bound,
    CauseOfConflicts,
    CausesOfConflicts,
    Links,
    LowerBound,
    PathConflict,
    Scouts,
    Utilisation,
)
from flashmesh.results.over_time import Drift, Measured, MeasuredStream, Rounds, Stretch, StretchUtilisation, WarmUp
from flashmesh.results.result import Result, columns
from flashmesh.results.streams import Fairness, StreamFairness, StreamResult

__all__ = [
    "Bound",
    "Breakdown",
    "BreakdownByPart",
    "CacheLookups",
    "CauseOfConflicts",
    "CausesOfConflicts",
    "Constant",
    "DeviceCache",
    "Drift",
    "DriveArea",
    "DrivePower",
    "Energy",
    "Fairness",
    "FlashOperations",
    "GarbageCollection",
    "Host",
    "Latency",
    "LatencyByKind",
    "LinkCounts",
    "Links",
    "LowerBound",
    "MappingCache",
    "Measured",
    "MeasuredStream",
    "PathConflict",
    "PowerCut",
    "Queue",
    "Result",
    "Rounds",
    "Scouts",
    "Statuses",
    "StreamFairness",
    "StreamResult",
    "Stretch",
    "StretchUtilisation",
    "Utilisation",
    "WarmUp",
    "columns",
]
