"""Where a report is shown: its width, and whether it may use more than ASCII."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from flashmesh.printable import LAYOUT, encodable, printable, unguarded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

    from flashmesh.printable import PrintableStream

WIDTH = 100
UNBOUNDED = 1_000_000
EIGHTHS = " ▏▎▍▌▋▊▉█"
HEAT = "▁▂▃▄▅▆▇█"
HEAT_ASCII = "0123456789"


class PrintableConsole(Console):
    """A console whose texts are printable; what moves and colours is its own."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A text as a part of what is shown: escaped before its width is taken."""
        return super().render_str(printable(text, LAYOUT), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of a part."""
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            shown = Text(printable(renderable.plain, LAYOUT), style=renderable.style, end=renderable.end)
            # Where each style begins and ends is known of the text as it was.
            renderable = renderable if shown.plain == renderable.plain else shown
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text, LAYOUT), style, control)


class Terminal:
    """A stream that reports go to: colour and block characters on a terminal, plain ASCII anywhere else."""

    def __init__(self, stream: IO[str] | PrintableStream, width: int = WIDTH) -> None:
        """Looks at what the stream can show; elsewhere than on a terminal lines are so wide."""
        self.stream = unguarded(stream)
        self.console = PrintableConsole(file=self.stream, highlight=False, emoji=False, markup=False, soft_wrap=False)
        self.blocks = self.console.is_terminal and self.console.encoding.startswith("utf")
        if not self.console.is_terminal:
            self.console.width = width
        self.width = min(self.console.width, width)

    def print(self, *parts: RenderableType) -> None:
        """Shows parts, each from a new line on; an empty line without any."""
        with self.console.capture() as capture:
            for part in parts or ("",):
                width = self.console.width
                # A number that was cut reads like another number: such a table rather has lines that are too long.
                if isinstance(part, Table) and not self.fits(part):
                    self.console.width = self.needed(part)
                self.console.print(part)
                self.console.width = width
        text = capture.get()
        if not self.console.is_terminal:
            text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
        self.stream.write(encodable(text, self.stream))

    def fits(self, table: Table) -> bool:
        """Whether a table can be shown without lines longer than the terminal is wide."""
        return self.needed(table) <= self.console.width

    def needed(self, table: Table) -> int:
        """The least width that shows a table with nothing cut; 0 when its columns may break lines."""
        if not all(column.no_wrap for column in table.columns):
            return 0
        return Measurement.get(self.console, self.console.options.update(max_width=UNBOUNDED), table).maximum

    def table(self, *headings: str, left: int = 1, gap: int = 2) -> Table:
        """An empty table whose first columns hold text and whose others hold numbers, with a gap between them."""
        style = box.SIMPLE_HEAD if self.blocks else ASCII_HEAD
        table = Table(box=style, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold", show_edge=False)
        for index, heading in enumerate(headings):
            table.add_column(heading, justify="left" if index < left else "right", no_wrap=True, overflow="crop")
        return table

    def bar(self, share: float, width: int) -> str:
        """A bar that fills its share of a width."""
        share = min(max(share, 0.0), 1.0)
        if not self.blocks:
            return "#" * round(share * width)
        eighths = round(share * width * 8)
        rest = EIGHTHS[eighths % 8].strip()
        return EIGHTHS[8] * (eighths // 8) + rest

    def heat(self, shares: list[float]) -> str:
        """A character for each share: its tenth, or a block as high."""
        scale = HEAT if self.blocks else HEAT_ASCII
        return "".join(scale[min(int(share * len(scale)), len(scale) - 1)] for share in shares)


ASCII_HEAD = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
"""A rule below the headings and nothing else."""
