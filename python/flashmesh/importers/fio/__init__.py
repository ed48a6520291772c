"""Importer of fio job files, as streams of a configuration."""

from flashmesh.importers.fio.translate import FioJobs, read_jobs

__all__ = ["FioJobs", "read_jobs"]
