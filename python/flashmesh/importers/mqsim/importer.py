"""Import of MQSim's two files: a configuration for each scenario, and a report on every tag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh import configuration
from flashmesh._native import ConfigError, OutputError
from flashmesh.files import whole_file, write_text
from flashmesh.importers.mqsim import document, dram, requests
from flashmesh.importers.mqsim.check import check
from flashmesh.importers.mqsim.device import DeviceTranslation
from flashmesh.importers.mqsim.flows import Options
from flashmesh.importers.mqsim.ledger import Ledger, Mode
from flashmesh.importers.mqsim.report import report
from flashmesh.importers.mqsim.scenario import ScenarioTranslation
from flashmesh.importers.toml_text import toml_text

if TYPE_CHECKING:
    from flashmesh.importers.mqsim.document import Element
    from flashmesh.importers.mqsim.ledger import Setting, Unknown
    from flashmesh.importers.problems import Source

DEVICE_ROOT = "Execution_Parameter_Set"
WORKLOAD_ROOT = "MQSim_IO_Scenarios"
SAYS = {
    Mode.COMPATIBLE: "the drive that MQSim simulates, with its deviations from the files.",
    Mode.PHYSICAL: "the drive that they specify, not the one that MQSim simulates.",
}
REQUESTS_MAX = 5_000_000
"""Default of `requests_max`. A trace of this many requests has 130 MB, and generating it takes half a minute."""
ORDER = (
    "seed",
    "geometry",
    "flash",
    "fabric",
    "schedule",
    "ftl",
    "mapping",
    "cache",
    "gc",
    "wear",
    "host",
    "nvme",
    "sata",
    "precondition",
    "namespace",
    "workload",
    "replay",
    "queue",
    "stream",
)
"""Tables of a configuration, in the order of the written file."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Translation of one scenario of a workload file to a configuration in one mode."""

    number: int
    """Number of the scenario in its file, from 1."""
    mode: Mode
    ledger: Ledger
    heading: tuple[str, ...]

    def settings(self, mode: Mode | None = None) -> list[Setting]:
        """Returns the keys that a mode sets (by default the mode of the import), in the order of the written file."""
        mode = mode or self.mode
        chosen = [s for s in self.ledger.settings.values() if s.value(mode) is not None]
        return sorted(chosen, key=lambda setting: place(setting.key, mode))

    def differences(self) -> list[Setting]:
        """Returns the keys whose values differ between the compatible and the physical mode."""
        differing = [s for s in self.ledger.settings.values() if s.compatible != s.physical]
        return sorted(differing, key=lambda setting: place(setting.key, Mode.PHYSICAL))

    def toml(self) -> str:
        """Returns the configuration in the mode of the import, as TOML."""
        lines = [(s.key, value, s.reason) for s in self.settings() if (value := s.value(self.mode)) is not None]
        habits = self.mode is Mode.COMPATIBLE
        return toml_text(self.heading, [(key, value, reason if habits else "") for key, value, reason in lines])


def place(key: str, mode: Mode) -> tuple[int, int]:
    """Returns the sort key of a configuration key: by table, then by stream.

    Streams issue their first requests in the order of the file. MQSim begins with the last flow, so the compatible
    configuration has streams in reverse order.
    """
    first, _, rest = key.partition(".")
    number = int(rest.split(".")[0].removeprefix("flow-")) if first == "stream" else 0
    return ORDER.index(first), -number if mode is Mode.COMPATIBLE else number


@dataclass(frozen=True, slots=True)
class MqsimImport:
    """Results of an import."""

    scenarios: list[Scenario]
    files: list[Path]
    """Written configurations, one for each scenario."""
    traces: list[Path]
    """Trace files with the requests that MQSim issues, which the configurations replay."""
    report_file: Path
    report: str
    """Text of the report on every tag of both files."""

    @property
    def unknown(self) -> list[Unknown]:
        """Tags of the files that MQSim does not have, each once."""
        return list(dict.fromkeys(tag for scenario in self.scenarios for tag in scenario.ledger.unknown))

    @property
    def warnings(self) -> list[str]:
        """Warnings for the user: places where the translation differs from the files or from MQSim."""
        return list(dict.fromkeys(text for scenario in self.scenarios for text in scenario.ledger.warnings))


def translate(device: Path, workload: Path, mode: Mode, requests_max: int = REQUESTS_MAX) -> list[Scenario]:
    """Translates two files without writing anything.

    Args:
        device: MQSim's ssdconfig.xml.
        workload: MQSim's workload.xml.
        mode: Which drive to describe.
        requests_max: The maximum requests of a flow that are replayed as MQSim draws them; longer flows become
        synthetic.

    Raises:
        ConfigError: If a file is invalid, or describes what cannot be simulated; the message shows the place.
    """
    device_source, device_root = document.read(device, DEVICE_ROOT, WORKLOAD_ROOT)
    workload_source, workload_root = document.read(workload, WORKLOAD_ROOT, DEVICE_ROOT)
    elements = scenarios_of(workload_source, workload_root)
    folders = tuple(dict.fromkeys([workload.parent, Path()]))
    options = Options(mode, folders, requests_max)
    translated = []
    for number, element in enumerate(elements, 1):
        ledger = Ledger()
        drive = DeviceTranslation(ledger, device_source, device_root).translate()
        name = f"{workload.stem}-{number}"
        uses_cache = ScenarioTranslation(ledger, workload_source, element, drive, options, name).translate()
        dram.cache(drive, uses_cache)
        dram.mapping_table(drive, len(element.children))
        heading = (
            f"{device.name} and scenario {number} of {workload.name}, read by `flashmesh import-mqsim`:",
            SAYS[mode],
        )
        scenario = Scenario(number, mode, ledger, heading)
        check(f"{name}.toml", scenario.toml(), ledger, (device_source, workload_source))
        translated.append(scenario)
    return translated


def scenarios_of(source: Source, root: Element) -> list[Element]:
    """Returns the scenarios of a workload file.

    Raises:
        ConfigError: If the file has no scenario, or another tag.
    """
    for child in root.children:
        if child.name != "IO_Scenario":
            raise source.problem(child.line, f"<{child.name}> is no scenario: expected <IO_Scenario>", mark=child.name)
    if not root.children:
        raise source.problem(root.line, f"<{root.name}> holds no <IO_Scenario>", mark=root.name)
    return root.children


def import_mqsim(
    device: str | Path,
    workload: str | Path,
    directory: str | Path,
    *,
    physical: bool = False,
    requests_max: int = REQUESTS_MAX,
) -> MqsimImport:
    """Reads a configuration and a workload file of MQSim and writes a configuration for each scenario.

    It also writes a report on every tag, and, unless `physical`, a trace for each flow with the requests that MQSim
    issues.

    Args:
        device: MQSim's ssdconfig.xml.
        workload: MQSim's workload.xml.
        directory: The output folder, created if necessary.
        physical: Whether to describe the drive that the files mean, instead of the one that MQSim simulates.
        requests_max: The maximum requests of a flow that are replayed as MQSim draws them; longer flows become
        synthetic.

    Raises:
        ConfigError: If a file is invalid; the message shows the place.
        OutputError: If a file cannot be written.
    """
    device, workload, directory = Path(device), Path(workload), Path(directory)
    mode = Mode.PHYSICAL if physical else Mode.COMPATIBLE
    scenarios = translate(device, workload, mode, requests_max)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"{str(directory)!r}: is no folder and cannot be made: {reason}") from error
    files = [directory / f"{workload.stem}-{scenario.number}.toml" for scenario in scenarios]
    report_file = directory / f"{workload.stem}-import.txt"
    text = report(device, workload, scenarios, files)
    texts = dict(zip(files, (scenario.toml() for scenario in scenarios), strict=True)) | {report_file: text}
    replays = {}
    if mode is Mode.COMPATIBLE:
        replays = {directory / name: found for scenario in scenarios for name, found in scenario.ledger.replays.items()}
    read = [device, workload, *(found.source for found in replays.values() if found.source is not None)]
    for path in (*texts, *replays):
        if path.exists() and any(path.samefile(source) for source in read):
            raise ConfigError(f"{path}: is an input file: write to another folder")
    for path, replay in replays.items():
        with whole_file(path) as temporary:
            requests.write(temporary, replay.requests)
    for path, content in texts.items():
        with whole_file(path) as temporary:
            write_text(temporary, content)
    for path in files:
        configuration.load(path)
    return MqsimImport(scenarios, files, list(replays), report_file, text)
