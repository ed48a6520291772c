"""Commands on the inputs of a simulation: configurations, presets, traces, files of other simulators."""
