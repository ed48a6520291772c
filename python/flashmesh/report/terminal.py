"""Output of a report to a terminal or file: its width, and whether it supports characters beyond ASCII."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from flashmesh.texts.printable import LAYOUT, encodable, printable, unguarded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

    from flashmesh.texts.printable import PrintableStream

WIDTH = 100
UNBOUNDED = 1_000_000
EIGHTHS = " ▏▎▍▌▋▊▉█"
HEAT = "▁▂▃▄▅▆▇█"
HEAT_ASCII = "0123456789"
GLUE = "\N{BRAILLE PATTERN BLANK}"
"""Stand-in for the space between a number and its unit while lines are broken; printable and as wide as a space."""
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[pnum]?s|[kKMGT]i?B|[kMGT]?B/s|[num]?[JW]|IOPS)(?![\w/]))")
"""Space between a number and its unit, at which no line ends."""


class PrintableConsole(Console):
    """A console that escapes control characters in texts, and breaks no line between number and unit."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Returns a text with escaped control characters, so that the computed width is the displayed width."""
        return super().render_str(BEFORE_UNIT.sub(GLUE, printable(text, LAYOUT)), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yields the segments of a renderable, with texts escaped."""
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            shown = Text(printable(renderable.plain, LAYOUT), style=renderable.style, end=renderable.end)
            # Style spans index the unescaped text, so a text that was escaped loses its styles.
            renderable = renderable if shown.plain == renderable.plain else shown
        if isinstance(renderable, Text) and BEFORE_UNIT.search(renderable.plain):
            renderable = renderable.copy()
            renderable.plain = BEFORE_UNIT.sub(GLUE, renderable.plain)
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text.replace(GLUE, " "), LAYOUT), style, control)


class Terminal:
    """A stream for reports: colour and block characters on a terminal, plain ASCII elsewhere."""

    def __init__(self, stream: IO[str] | PrintableStream, width: int = WIDTH) -> None:
        """Detects the characters that the stream supports.

        `width` is the maximum line length on a terminal, and the line length elsewhere.
        """
        self.stream = unguarded(stream)
        self.console = PrintableConsole(file=self.stream, highlight=False, emoji=False, markup=False, soft_wrap=False)
        self.blocks = self.console.is_terminal and self.console.encoding.startswith("utf")
        if not self.console.is_terminal:
            self.console.width = width
        self.width = min(self.console.width, width)

    def print(self, *parts: RenderableType) -> None:
        """Prints each part on a new line; without parts, prints an empty line."""
        with self.console.capture() as capture:
            for part in parts or ("",):
                width = self.console.width
                # A truncated number would show another value, so a wide table gets longer lines instead.
                if isinstance(part, Table) and not self.fits(part):
                    self.console.width = self.needed(part)
                self.console.print(part)
                self.console.width = width
        text = capture.get()
        if not self.console.is_terminal:
            text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
        self.stream.write(encodable(text, self.stream))

    def fits(self, table: Table) -> bool:
        """Returns whether a table fits into the width of the terminal."""
        return self.needed(table) <= self.console.width

    def needed(self, table: Table) -> int:
        """Returns the smallest width that shows a table without truncation; 0 if its columns wrap."""
        if not all(column.no_wrap for column in table.columns):
            return 0
        return Measurement.get(self.console, self.console.options.update(max_width=UNBOUNDED), table).maximum

    def table(self, *headings: str, left: int = 1, gap: int = 2) -> Table:
        """Returns an empty table: `left` columns of text, then columns of numbers, with `gap` spaces between them."""
        style = box.SIMPLE_HEAD if self.blocks else ASCII_HEAD
        table = Table(box=style, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold", show_edge=False)
        for index, heading in enumerate(headings):
            table.add_column(heading, justify="left" if index < left else "right", no_wrap=True, overflow="crop")
        return table

    def bar(self, share: float, width: int) -> str:
        """Returns a bar of characters that fills a share of `width` characters."""
        share = min(max(share, 0.0), 1.0)
        if not self.blocks:
            return "#" * round(share * width)
        eighths = round(share * width * 8)
        rest = EIGHTHS[eighths % 8].strip()
        return EIGHTHS[8] * (eighths // 8) + rest

    def heat(self, shares: list[float]) -> str:
        """Returns a character for each share: a block of that height or, in ASCII, the digit of its tenth."""
        scale = HEAT if self.blocks else HEAT_ASCII
        return "".join(scale[min(int(share * len(scale)), len(scale) - 1)] for share in shares)


ASCII_HEAD = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
"""Table style with a rule below the headings and no other lines."""
