"""Validation of presets against measurements of real drives: `flashmesh validate`.

- Figure: a rate or a latency, measured or simulated.
- Measured load (point): an offered rate of the open workload under which a drive was measured.
- Row: a figure of a closed loop, from a data sheet, a sweep or a mix.
- Check: the comparison of a simulated figure with the measured one, by a tolerance.
- Curve: the baseline, a curve through the measured latencies of the loads to which the preset was fitted.
"""
