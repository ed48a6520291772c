"""Executors of tasks on cores, a cluster or a job array: their sessions, shards and progress."""
