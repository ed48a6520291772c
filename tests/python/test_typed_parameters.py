"""Parameters as Python classes: suggestions for unknown names, and notations of numbers."""

from __future__ import annotations

import json

import pytest

import flashmesh


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        (flashmesh.Config, "presett", "did you mean 'preset'?"),
        (flashmesh.Fabric, "knd", "did you mean 'kind'?"),
        (flashmesh.Fabric, "channels", "did you mean geometry.channels?"),
        (flashmesh.Config, "outstandin", "did you mean replay.outstanding?"),
        (flashmesh.Geometry, "zzzzzz", "there are channels, chips_per_channel, "),
    ],
)
def test_an_unknown_parameter_is_told_with_what_may_have_been_meant(kind: type, name: str, meant: str) -> None:
    with pytest.raises(TypeError) as told:
        kind(**{name: 1})
    assert str(told.value).startswith(f"{kind.__name__}() has no {name!r}")
    assert meant in str(told.value)


def test_whole_numbers_may_be_written_as_floats_and_with_a_suffix() -> None:
    from flashmesh import configuration

    for requests in (1e6, "1M", 1_000_000):
        workload = flashmesh.Workload(requests=requests)  # type: ignore[arg-type]
        config = configuration.load(flashmesh.Config(preset="venice-z-nand", workload=workload))
        assert json.loads(config.to_json())["workload"]["requests"] == 1_000_000
    with pytest.raises(flashmesh.ConfigError, match="is no whole number"):
        flashmesh.Workload(requests=1.5)  # type: ignore[arg-type]
