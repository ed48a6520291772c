"""Calibration of a drive: fits the keys that no data sheet states to measurements (`flashmesh calibrate`).

- Facts: the known values of the drive, which are not searched.
- Searched key: a configuration key, or the host software time, whose value is fitted. It has a range or choices.
- Settings: a value for each searched key. With the facts, they make a drive.
- Initial drive, best drive: the settings at which the search starts, and those with the smallest loss so far.
- Target: a measured load, with the figures to fit and the configuration that simulates it.
- Candidate: a tried drive, with its simulated figures.
- Bench: the simulator of candidates; the coarse bench has shorter runs.
- Residual: log(simulated / measured) of a figure, in tolerances of the figure. The loss averages their soft-L1 values.
- Share: the position of a value in the range of its key, from 0 to 1.
"""

BUDGET_MIN = 30.0
"""Default time limit of a calibration, in minutes."""
SEED = 1
