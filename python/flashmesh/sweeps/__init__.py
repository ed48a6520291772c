"""Sweeps and searches: their plans, the executors of their runs, and the store of their results.

A *point* is one combination of the varied keys, a *task* its configured run, and the *store* a folder of results.
"""
