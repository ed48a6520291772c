"""Reproduction of published figures: runs the experiments of a paper and judges each claim by the measured values.

A *claim* is a published figure, a *job* a family of runs, and a *regime* one reading of the experiments of a paper. The
*effect* of a claim is the distance between its published value and its neutral value, the value of no effect.
"""
