"""Charts of results, for `Result.plot_*`, `Comparison.plot_*` and the pages of `flashmesh report`."""

from flashmesh.plots.breakdown import breakdown
from flashmesh.plots.conflicts import conflicts
from flashmesh.plots.energy import energy
from flashmesh.plots.latency import cumulative, tail
from flashmesh.plots.load import load_axis, load_latency
from flashmesh.plots.offline import install
from flashmesh.plots.over_time import over_time
from flashmesh.plots.runs import Run, runs_of
from flashmesh.plots.speedups import speedups
from flashmesh.plots.streams import streams
from flashmesh.plots.tornado import tornado
from flashmesh.plots.utilisation import utilisation

install()

__all__ = [
    "Run",
    "breakdown",
    "conflicts",
    "cumulative",
    "energy",
    "load_axis",
    "load_latency",
    "over_time",
    "runs_of",
    "speedups",
    "streams",
    "tail",
    "tornado",
    "utilisation",
]
