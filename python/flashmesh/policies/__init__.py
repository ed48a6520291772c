"""Policies in Python: classes that decide for a simulated drive, without a compiler.

    >>> import flashmesh
    >>> class Emptiest:
    ...     def select(self, blocks):
    ...         return int(blocks.invalid_pages.argmax())
    >>> result = flashmesh.run({"workload": {"requests": 1000}}, victim=Emptiest())

A policy is a class with the method of one of the protocols below; what a method gets shows the drive at that moment
only. docs/how-to/policies-in-python.md tells more.
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
