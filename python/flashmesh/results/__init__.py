"""What a run gives: the keys of its JSON as attributes, and data frames of them."""

from flashmesh import _results
from flashmesh._results import *  # noqa: F403 - as many classes as are declared
from flashmesh.results.result import Result, columns

__all__ = ["Result", "columns"]
__all__ += _results.__all__
