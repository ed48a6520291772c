"""Reproduction of published figures: runs the experiments of a paper and judges each claim by the measured values.

A *claim* is a published figure, a *job* a family of runs, and a *regime* one reading of the experiments of a paper. The
*effect* of a claim is the distance between its published value and its neutral value, the value of no effect. A claim
*holds* within a share of the effect if its verdict is `met` with this tolerance, or with its own if that is wider. A
claim that follows from the design of the model is *exact by construction*. A *sub-value* is an additional published
value of a claim: a maximum, or the value of another system. A *fit* is the regime that a search finds; all regimes of
the registry are *stated readings*. *Evidence* is a measured number that an explanation quotes by its name.
"""
