"""Section of a summary: utilisation, power and area of the interconnect."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import Result

LINKS = {"channel": "channels", "controller": "controller links", "mesh": "mesh links", "chip": "chip links"}


def busy_by_kind(result: Result) -> dict[str, list[float]]:
    """Returns the utilisation of each link, a share of time, by the kind of link."""
    groups: dict[str, list[float]] = {name: [] for name in LINKS.values()}
    for kind, share in zip(result.links.kinds, result.utilisation.links, strict=True):
        groups[LINKS[kind]].append(share)
    return groups


def scouts(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on Venice's scouts, their steps and circuits; empty for other interconnects.

    A scout is the message that reserves the circuit of a transfer.
    """
    found = result.scouts
    if found is None:
        return []
    of_steps = f"{q.count(found.misroutes)} misroutes, {q.count(found.backtracks)} backtracks"
    told = [
        ("scouts", f"{q.count(found.sent)} sent, {q.count(found.failed)} failed"),
        ("  their steps", f"{q.count(found.steps)}, of them {of_steps}"),
    ]
    circuits = sum(found.circuit_lengths)
    if circuits:
        links = sum(length * count for length, count in enumerate(found.circuit_lengths)) / circuits
        told.append(("  their circuits", f"{q.count(circuits)}, {links:.2f} links long on average"))
    return told


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows: energy of the events, energy with all parts active, parts and area of the fabric."""
    power, area = result.power, result.area
    energy = power.energy_j
    flash = energy.read + energy.program + energy.erase
    fabric = energy.channels + energy.links + energy.routers + energy.controllers
    of = f"arrays {q.energy(flash)}, interconnect {q.energy(fabric)}"
    links = [f"{count:,} {LINKS[kind]}" for kind, count in asdict(area.links).items() if count]
    parts = [*links, f"{area.wires:,} wires", f"{area.controllers:,} controllers"]
    if area.routers:
        parts.append(f"{area.routers:,} routers")
    told = [
        ("energy of events", f"{q.energy(energy.total)} ({q.power(power.average_w)} on average): {of}"),
        ("nominal energy", f"{q.energy(power.nominal_energy_j)}: {q.power(power.nominal_w)} with all parts active"),
        ("interconnect", ", ".join(parts)),
    ]
    saved = area.links_saved_share
    room = [] if saved is None else [f"links take {q.share(1 - saved)} of the channel area of a bus"]
    if area.added_inside_mm2:
        room.append(f"{q.area(area.added_inside_mm2)} more in the chips")
    if area.added_beside_mm2:
        room.append(f"{q.area(area.added_beside_mm2)} beside the chips")
    if room:
        told.append(("area", ", ".join(room)))
    return told
