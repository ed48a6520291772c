"""Results of runs: the keys of their JSON as attributes, and data frames."""

from flashmesh import _results
from flashmesh._results import *  # noqa: F403 - all generated classes
from flashmesh.results.result import Result, columns

__all__ = ["Result", "columns"]
__all__ += _results.__all__
