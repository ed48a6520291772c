"""What the command line lists and explains, for programs."""

from __future__ import annotations


def measures() -> dict[str, str]:
    """What results can be printed, sorted and drawn by: the measures of tables, then every single value by its key.

    Returns:
        By the name of each its unit; empty for plain numbers.
    """
    from flashmesh._native import quantities
    from flashmesh.report.measures import MEASURES

    listed = {measure.name.strip(): measure.unit for measure in MEASURES}
    return listed | {key: unit for key, unit, _ in quantities()}


def explain(key: str) -> str:
    """What a key of a configuration, or a section of it, means, and which values it takes; as `flashmesh explain` says.

    Args:
        key: Such as "fabric.kind" or "fabric"; underscores do as well as dashes.

    Raises:
        ConfigError: When there is no such key.
    """
    from flashmesh.cli.explain import lines_about

    return "\n".join(lines_about(key.replace("_", "-")))
