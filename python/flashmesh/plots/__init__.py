"""Charts of results: what `Result.plot_*`, `Comparison.plot_*` and the pages of `flashmesh report` show."""

from flashmesh.plots.breakdown import breakdown
from flashmesh.plots.conflicts import conflicts
from flashmesh.plots.energy import energy
from flashmesh.plots.latency import cumulative, tail
from flashmesh.plots.load import load_axis, load_latency
from flashmesh.plots.over_time import over_time
from flashmesh.plots.runs import Run, runs_of
from flashmesh.plots.speedups import speedups
from flashmesh.plots.utilisation import utilisation

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
    "tail",
    "utilisation",
]
