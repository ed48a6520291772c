"""Writes docs/_static/measured.svg, the picture of the README: a measured drive, flashmesh and MQSim, and their times.

python tools/measured_picture.py [--check]

Reads only stored figures: docs/validation/samsung-pm9a3.json, and the files of bench/stored.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from drive_figures import KINDS, Curve, drive, fitted, full_drive, mqsim, ratio, times

FILE = Path(__file__).parents[1] / "docs" / "_static" / "measured.svg"
WIDTH, HEIGHT = 900, 284
TOP, BOTTOM = 90, 208
LOADS = (0, 300_000)
PANELS = {"read": (64, 300), "write": (372, 608)}
"""Left and right edges of each panel of latencies."""
BARS = (716, 868)
RANGES = {"read": (30.0, 3_000.0), "write": (5.0, 100_000.0)}
"""Latencies at the lower and at the upper edge of a panel, in us."""
CLASSES = ("measured", "ours", "four", "sixteen")
"""Style of each curve, in the order of `drive` and `mqsim`."""
CASES = {"reads": "4 KiB reads", "writes": "4 KiB writes", "mix": "70/30 mix", "large-reads": "64 KiB reads"}
STYLE = """
svg{--paper:#ffffff;--ink:#1b1f24;--faint:#5b6470;--grid:#dfe3e8;--ours:#0b62c4;--theirs:#c2570c}
@media (prefers-color-scheme:dark){
svg{--paper:#14181d;--ink:#e9edf2;--faint:#a3adb9;--grid:#2f3740;--ours:#6ab0ff;--theirs:#ff9d5c}}
text{fill:var(--ink);font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}
.title{font-size:19px;font-weight:700}.head{font-weight:700}.small{font-size:12px;fill:var(--faint)}
.paper{fill:var(--paper);stroke:var(--grid)}.grid{stroke:var(--grid)}
path{fill:none;stroke-width:2.5;stroke-linejoin:round}
path.measured{stroke:var(--ink);stroke-width:1.2}circle.measured{fill:var(--ink)}
path.ours{stroke:var(--ours)}circle.ours,rect.ours{fill:var(--ours)}
path.four,path.sixteen{stroke:var(--theirs);stroke-width:2}
path.four{stroke-dasharray:7 4}path.sixteen{stroke-dasharray:2 4}
circle.four,circle.sixteen,rect.theirs{fill:var(--theirs)}
"""


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    """Returns an SVG text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{words}</text>'


def time(value_us: float) -> str:
    """Returns a latency as an axis label."""
    return f"{value_us / 1000:g} ms" if value_us >= 1000 else f"{value_us:g} us"


def across(kind: str, load: float) -> float:
    """Returns the horizontal position of a load."""
    left, right = PANELS[kind]
    return left + (right - left) * (load - LOADS[0]) / (LOADS[1] - LOADS[0])


def down(kind: str, value_us: float) -> float:
    """Returns the vertical position of a latency, on a logarithmic scale."""
    low, high = RANGES[kind]
    share = math.log(value_us / low) / math.log(high / low)
    return BOTTOM - (BOTTOM - TOP) * share


def axes(kind: str) -> list[str]:
    """Returns the heading, the grid and the axes of a panel."""
    left, right = PANELS[kind]
    low, high = RANGES[kind]
    drawn = [text(left, TOP - 14, f"Mean latency of {kind}s", "head")]
    for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
        y = down(kind, 10.0**power)
        drawn += [f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>']
        drawn += [text(left - 6, y + 4, time(10.0**power), "small", "end")]
    for load in (0, 100_000, 200_000, 300_000):
        drawn += [text(across(kind, load), BOTTOM + 17, f"{load // 1000}k" if load else "0", "small", "middle")]
    return [*drawn, text((left + right) / 2, BOTTOM + 32, "requests offered a second", "small", "middle")]


def curve(kind: str, found: Curve, style: str) -> list[str]:
    """Returns a curve and its points."""
    places = [(across(kind, x), down(kind, y)) for x, y in sorted(found.of(kind).items()) if x <= LOADS[1]]
    drawn = [f'<path class="{style}" d="M{" L".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>']
    radius = 4 if style == "measured" else 2.6
    return drawn + [f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>' for x, y in places]


def bars() -> list[str]:
    """Returns bars of the processor times of both simulators for a million requests of each case."""
    rows = {row["case"]: row for row in times()}
    left, right = BARS
    most = max(float(row["mqsim_s"]) / int(row["requests"]) for row in rows.values()) * 1e6
    drawn = [text(left - 76, TOP - 14, "Processor time, a million requests", "head")]
    each = (BOTTOM - TOP) / len(CASES)
    for number, (case, name) in enumerate(CASES.items()):
        row, y = rows[case], TOP + number * each
        drawn.append(text(left - 8, y + 24, name, "small", "end"))
        for place, (side, style) in enumerate((("flashmesh_s", "ours"), ("mqsim_s", "theirs"))):
            value = float(row[side]) / int(row["requests"]) * 1e6
            width = (right - left - 42) * value / most
            top = y + 1 + place * 14
            drawn.append(f'<rect class="{style}" x="{left}" y="{top:.1f}" width="{width:.1f}" height="12"/>')
            drawn.append(text(left + width + 5, top + 10.5, f"{value:.1f} s", "small"))
        drawn.append(text(left - 8, y + 10, f"{ratio(row):.1f}x faster", "head", "end"))
    return drawn


def legend(curves: list[Curve]) -> list[str]:
    """Returns the legend: the names of the curves, with the mean error of their read latencies over all loads."""
    drawn, x = [], 28.0
    for found, style in zip(curves, CLASSES, strict=True):
        error = "" if style == "measured" else f", off by {found.error('read', curves[0]):.0%}"
        name = ("the drive" if style == "measured" else found.name) + error.replace("%", " %")
        drawn.append(f'<path class="{style}" d="M{x:.0f},50 h26"/>')
        drawn.append(f'<circle class="{style}" cx="{x + 13:.0f}" cy="50" r="3"/>')
        drawn.append(text(x + 33, 54, name))
        x += 50 + 6.6 * len(name)
    return drawn


def picture() -> str:
    """Returns the whole picture as SVG."""
    curves = [*drive(), *mqsim()]
    lost = " and ".join(f"{1 - served / asked:.0%}".replace("%", " %") for asked, served in full_drive())
    title = "A full Samsung PM9A3: measured, by flashmesh, and by MQSim"
    notes = (
        f"Off by: mean error of the mean latency of reads over all loads. flashmesh is fitted to {fitted()} of them. "
        "10 us of host software are added.",
        "Measured full and steady, as in flashmesh, by SSD-iq, VLDB 2025. "
        f"MQSim's drive is empty: full, it lost {lost} of the requests.",
    )
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">',
        f"<title>{title}</title><style>{STYLE}</style>",
        f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        text(28, 30, title, "title"),
        *legend(curves),
    ]
    for kind in KINDS:
        drawn += axes(kind)
        # Draw the measured curve last, above the others.
        for found, style in reversed(list(zip(curves, CLASSES, strict=True))):
            drawn += curve(kind, found, style)
    drawn += bars()
    drawn += [text(28, HEIGHT - 28 + 15 * number, note, "small") for number, note in enumerate(notes)]
    return "\n".join([*drawn, "</svg>"]) + "\n"


def main() -> None:
    """Writes the picture; with --check, fails if it is stale."""
    drawn = picture()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(drawn, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != drawn:
        sys.exit(f"{FILE.name} is stale: make picture writes it anew")


if __name__ == "__main__":
    main()
