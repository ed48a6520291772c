"""Numbers with units in the notation of the storage field: three or four digits, one unit."""

from __future__ import annotations

TIMES = ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"), (1.0, "ps"))
COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
SMALL = ((1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))
SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
NONE = "-"


def number(value: float) -> str:
    """Returns a number as text with about four digits, without an exponent."""
    size = abs(value)
    if size >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.{1 if size >= 99.95 else 2 if size >= 9.995 else 3}f}"


def time(picoseconds: float | None) -> str:
    """Returns a duration in picoseconds as text in a suitable unit."""
    if picoseconds is None:
        return NONE
    if picoseconds == 0:
        return "0"
    factor, unit = next((scale for scale in TIMES if abs(picoseconds) >= scale[0] * 0.9995), TIMES[-1])
    return f"{number(picoseconds / factor)} {unit}"


def count(value: float | None) -> str:
    """Returns a count as text: all digits below a million, about four digits from a million on."""
    if value is None:
        return NONE
    if abs(value) < 1e6:
        return f"{value:,.0f}"
    return scaled(value)


def scaled(value: float) -> str:
    """Returns a count or rate as text in thousands, millions or billions; whole numbers below a thousand stay exact."""
    if abs(value) < 999.5 and float(value).is_integer():
        return f"{value:.0f}"
    factor, unit = next((scale for scale in COUNTS if abs(value) >= scale[0] * 0.9995), (1.0, ""))
    return number(value / factor) + unit


def bandwidth(bytes_per_s: float) -> str:
    """Returns a data rate as text with a decimal prefix, as in data sheets of drives."""
    factor, unit = next((scale for scale in COUNTS if bytes_per_s >= scale[0] * 0.9995), (1.0, ""))
    return f"{number(bytes_per_s / factor)} {unit}B/s"


def electric(value: float | None, unit: str) -> str:
    """Returns an energy (J) or a power (W) as text with a decimal prefix."""
    if value is None:
        return NONE
    if value == 0:
        return f"0 {unit}"
    factor, prefix = next((scale for scale in SMALL if abs(value) >= scale[0] * 0.9995), SMALL[-1])
    return f"{number(value / factor)} {prefix}{unit}"


def energy(joules: float | None) -> str:
    """Returns an energy in joules as text in a suitable unit."""
    return electric(joules, "J")


def power(watts: float | None) -> str:
    """Returns a power in watts as text in a suitable unit."""
    return electric(watts, "W")


def area(square_millimetres: float) -> str:
    """Returns an area in square millimetres as text."""
    return f"{square_millimetres:,.0f} mm2" if square_millimetres >= 100 else f"{square_millimetres:.3g} mm2"


def memory(size: float | None) -> str:
    """Returns a number of bytes of memory as text with a binary prefix."""
    if size is None:
        return "unknown"
    return f"{number(size / 2**30)} GiB" if size >= 2**30 else f"{number(size / 2**20)} MiB"


def size(value: float) -> str:
    """Returns a size of requests or addresses as text with a binary prefix, as hosts state sizes."""
    factor, unit = next((scale for scale in SIZES if value >= scale[0] * 0.9995), (1, "B"))
    return f"{number(value / factor)} {unit}" if factor > 1 else f"{value:.0f} B"


def share(value: float | None) -> str:
    """Returns a share as text in percent."""
    return NONE if value is None else f"{value:.1%}".replace("%", " %")


def ratio(value: float | None, reference: float | None) -> str:
    """Returns the ratio of a value to a reference as text, such as `x1.25`."""
    if value is None or not reference:
        return NONE
    times = value / reference
    return f"x{times:,.0f}" if times >= 99.95 else f"x{times:.2f}" if times >= 0.0995 else f"x{times:.2g}"
