"""Functions that return the lists and explanations of the command line to programs."""

from __future__ import annotations


def measures() -> dict[str, str]:
    """Returns the names of all measures, and of every single value of a result.

    Measures of one stream are not among them: `streams.NAME.MEASURE`, such as `streams.reader.p99`.

    Returns:
        The unit of each measure or value, by its name; empty for plain numbers.
    """
    from flashmesh._native import quantities
    from flashmesh.report.measures.measure import MEASURES

    listed = {measure.name.strip(): measure.unit for measure in MEASURES}
    return listed | {key: unit for key, unit, _ in quantities()}


def explain(key: str) -> str:
    """Returns the text of `flashmesh explain`: the meaning and the values of a key, or of the keys of a section.

    Args:
        key: A key or section, such as "fabric.kind" or "fabric"; underscores may replace dashes.

    Raises:
        ConfigError: If there is no such key.
    """
    from flashmesh.cli.inputs.explain import lines_about

    return "\n".join(lines_about(key.replace("_", "-")))
