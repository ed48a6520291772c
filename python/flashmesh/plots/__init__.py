"""Charts of results, for `Result.plot_*`, `Comparison.plot_*` and the pages of `flashmesh report`."""

from flashmesh.plots.comparisons.load import load_axis, load_latency
from flashmesh.plots.comparisons.speedups import speedups
from flashmesh.plots.comparisons.tornado import tornado
from flashmesh.plots.offline import install
from flashmesh.plots.parts.breakdown import breakdown
from flashmesh.plots.parts.conflicts import conflicts
from flashmesh.plots.parts.energy import energy
from flashmesh.plots.parts.utilisation import utilisation
from flashmesh.plots.requests.latency import cumulative, tail
from flashmesh.plots.requests.over_time import over_time
from flashmesh.plots.requests.streams import streams
from flashmesh.plots.runs import Run, runs_of

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
