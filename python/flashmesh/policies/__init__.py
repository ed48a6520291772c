"""Policies in Python: classes that take decisions of a simulated drive, without a compiler.

    >>> import flashmesh
    >>> class Emptiest:
    ...     def select(self, blocks):
    ...         return int(blocks.invalid_pages.argmax())
    >>> result = flashmesh.run({"workload": {"requests": 1000}}, victim=Emptiest())

A policy is a class with the method of one of the protocols below; the arguments of a method show the drive at the time
of the call only. docs/how-to/policies-in-python.md describes policies. The table lists the fields of the arguments, and
for arrays the element type and the length, by the names of `Geometry`:

    Blocks.plane                                  int
    Blocks.invalid_pages                          uint16[blocks_per_plane]
    Blocks.filled                                 uint32[blocks_per_plane]
    Blocks.most_invalid()                         int | None
    Blocks.first_filled()                         int | None
    Blocks.draw(invalid_min)                      int | None
    Write.lpn                                     int
    Write.stream                                  int | None
    Write.request                                 int | None
    Write.pages                                   int
    Write.position                                int
    Planes.free_pages                             uint32[planes]
    Planes.valid_pages                            uint32[planes]
    Planes.pages_open                             uint32[planes]
    Planes.writes_waiting                         uint32[planes]
    Planes.moves_waiting                          uint32[planes]
    Planes.free_pages_of(plane)                   int
    Planes.valid_pages_of(plane)                  int
    Planes.pages_open_of(plane)                   int
    Planes.writes_waiting_of(plane)               int
    Planes.moves_waiting_of(plane)                int
    DriveState.outstanding                        uint32[dies]
    DriveState.waiting                            uint32[dies]
    DriveState.idle                               bool[dies]
    DriveState.valid_pages                        uint32[planes]
    DriveState.idle_count                         int
    DriveState.outstanding_of(die)                int
    DriveState.waiting_of(die)                    int
    DriveState.is_idle(die)                       bool
    DriveState.is_channel_free(channel)           bool
    DriveState.valid_pages_of(plane)              int
    DriveState.plane_of(lpn)                      int | None
    Home.page                                     int
    Home.die                                      int
    Home.outstanding                              int
    Waiting.now_ps                                int
    Waiting.dies                                  list[int]
    Waiting.collection_first                      bool
    Waiting.space_is_out                          bool
    Waiting.heads(work)                           list[Transaction]
    Waiting.oldest(work)                          Transaction | None
    Waiting.is_ready(work)                        bool
    Waiting.queued(die, work, limit)              list[Transaction]
    Waiting.outstanding_of(die)                   int
    Waiting.is_idle(die)                          bool
    Transaction.work                              int
    Transaction.die                               int
    Transaction.plane                             int
    Transaction.priority                          int
    Transaction.lpn                               int
    Transaction.page                              int
    Transaction.request                           int | None
    Transaction.stream                            int
    Transaction.bytes                             int
    Transaction.order                             int
    Transaction.queued_ps                         int
    DispatchState.now_ps                          int
    DispatchState.candidates                      list[int]
    DispatchState.candidates_of_channel(channel)  list[int]
    DispatchState.speaks_for(candidate)           list[int]
    DispatchState.asks(die)                       bool
    DispatchState.uses_path(die)                  bool
    DispatchState.is_idle(die)                    bool
    DispatchState.outstanding_of(die)             int
    DispatchState.queued(die, work, limit)        list[Transaction]
    Router.row                                    int
    Router.column                                 int
    Contender.die                                 int
    Contender.phase                               int
    Contender.data                                int
    Contender.goes_on                             bool
    Contender.position                            int
    Contender.order                               int
"""

from flashmesh._native import Blocks as Blocks
from flashmesh._native import Contender as Contender
from flashmesh._native import DispatchState as DispatchState
from flashmesh._native import DriveState as DriveState
from flashmesh._native import Home as Home
from flashmesh._native import Planes as Planes
from flashmesh._native import PolicyError as PolicyError
from flashmesh._native import Router as Router
from flashmesh._native import Transaction as Transaction
from flashmesh._native import Waiting as Waiting
from flashmesh._native import Write as Write
from flashmesh.policies.geometry import Geometry as Geometry
from flashmesh.policies.kinds import INTERNAL as INTERNAL
from flashmesh.policies.kinds import REQUIRED as REQUIRED
from flashmesh.policies.kinds import DataOf as DataOf
from flashmesh.policies.kinds import Phase as Phase
from flashmesh.policies.kinds import Port as Port
from flashmesh.policies.kinds import Work as Work
from flashmesh.policies.protocols import Allocator as Allocator
from flashmesh.policies.protocols import Arbiter as Arbiter
from flashmesh.policies.protocols import Decision as Decision
from flashmesh.policies.protocols import Dispatcher as Dispatcher
from flashmesh.policies.protocols import HomeSelector as HomeSelector
from flashmesh.policies.protocols import PacketRouting as PacketRouting
from flashmesh.policies.protocols import RoutingAlgorithm as RoutingAlgorithm
from flashmesh.policies.protocols import Scheduler as Scheduler
from flashmesh.policies.protocols import VictimSelector as VictimSelector
from flashmesh.policies.protocols import WritePlacer as WritePlacer
