"""XML as a tree whose elements record their lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from flashmesh.importers.problems import WORD_MAX, Source, read_source

if TYPE_CHECKING:
    from pathlib import Path

DEPTH_MAX = 16


@dataclass(slots=True)
class Element:
    """An XML element: a tag with its text and inner elements."""

    name: str
    line: int
    text: str = ""
    """Text of the element without surrounding blanks."""
    has_blanks: bool = False
    """Whether the text has blanks around it."""
    is_cut: bool = False
    """Whether a comment or a processing instruction follows the text, at which MQSim stops reading."""
    children: list[Element] = field(default_factory=list)


def read(path: Path, root: str, other_root: str) -> tuple[Source, Element]:
    """Reads an XML file, and returns its text and its outermost element.

    Args:
        path: The file.
        root: The required outermost tag.
        other_root: The outermost tag of the other file, to detect exchanged files.

    Raises:
        ConfigError: If the file cannot be read, is not well-formed XML, or has another outermost tag.
    """
    source, content = read_source(path)
    outermost = Reader(source).read(content)
    if outermost.name != root:
        remedy = f"this tag begins the other file: the order is {ORDER}" if outermost.name == other_root else ""
        raise source.problem(
            outermost.line, f"expected <{root}> around everything, found <{outermost.name}>", remedy, outermost.name
        )
    return source, outermost


ORDER = "`flashmesh import-mqsim ssdconfig.xml workload.xml`"


class Reader:
    """Builder of a tree of elements from the events of an XML parser."""

    def __init__(self, source: Source) -> None:
        """Prepares to read `source`."""
        self.source = source
        self.open: list[Element] = []
        self.outermost: Element | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.CommentHandler = self.cut
        self.parser.ProcessingInstructionHandler = self.cut
        self.parser.StartCdataSectionHandler = self.cdata

    def read(self, content: bytes) -> Element:
        """Returns the outermost element.

        Raises:
            ConfigError: If the content is not well-formed XML.
        """
        if content.startswith(WIDE_MARKS):
            raise self.source.problem(
                1, "is UTF-16 or UTF-32, which MQSim cannot read", "save the file as UTF-8 or ASCII"
            )
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            raise self.fault(error) from None
        except (LookupError, ValueError):
            what = "has an unsupported encoding"
            raise self.source.problem(1, what, "save the file as UTF-8 or ASCII", "encoding") from None
        assert self.outermost is not None, "the parser takes nothing for XML that has no element"
        return self.outermost

    def fault(self, error: expat.ExpatError) -> Exception:
        """Returns the error for malformed XML, with a remedy."""
        what = expat.ErrorString(error.code) or "unknown fault"
        if self.outermost is None and not self.open:
            if not self.source.text.strip():
                return self.source.problem(1, "is empty: no XML")
            return self.source.problem(error.lineno, f"is no XML: {what}", "is it really a file of MQSim?")
        remedy = "check that each tag is closed by one of the same name"
        if error.code in (expat.errors.codes[name] for name in CUT_OFF) and self.open:
            tag = self.open[-1]
            remedy = f"the file ends inside <{tag.name}>, which began in line {tag.line}: is it cut off?"
        return self.source.problem(error.lineno, f"is no well-formed XML: {what}", remedy)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Opens an element. Attributes are an error, since MQSim reads none."""
        element = Element(name, self.parser.CurrentLineNumber)
        for attribute in attributes:
            if attribute != "xmlns" and not attribute.startswith("xmlns:"):
                raise self.source.problem(
                    element.line,
                    f"<{name}> has an attribute `{attribute}`, which MQSim does not read",
                    f"write the value between <{name}> and </{name}>, or remove the attribute",
                    attribute,
                )
        if len(self.open) == DEPTH_MAX:
            raise self.source.problem(element.line, f"tags are nested more than {DEPTH_MAX} deep", mark=name)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.outermost = element
        self.open.append(element)

    def end(self, _name: str) -> None:
        """Closes an element."""
        element = self.open.pop()
        stripped = element.text.strip()
        element.has_blanks = stripped != element.text
        element.text = stripped
        if element.children and stripped and any(child.children for child in element.children):
            raise self.source.problem(
                element.line,
                f"`{stripped[:WORD_MAX]}` stands in <{element.name}> between its tags",
                "remove it, or put it between the tags that it belongs to",
                element.name,
            )

    def characters(self, text: str) -> None:
        """Adds text to the open element."""
        if not self.open:
            return
        element = self.open[-1]
        if element.is_cut and text.strip():
            raise self.source.problem(
                self.parser.CurrentLineNumber,
                f"a comment lies within the value of <{element.name}>: MQSim reads `{element.text.strip()}` alone",
                "put the comment before the tag",
                element.name,
            )
        element.text += text

    def cut(self, *_: object) -> None:
        """Records a comment or a processing instruction, at which MQSim stops reading the text of a tag."""
        if self.open and self.open[-1].text.strip():
            self.open[-1].is_cut = True

    def cdata(self) -> None:
        """Refuses a CDATA section, which MQSim ignores."""
        raise self.source.problem(
            self.parser.CurrentLineNumber,
            f"<![CDATA[ in <{self.open[-1].name}>: MQSim ignores its content",
            "write the value without <![CDATA[ and ]]>",
            "<![CDATA[",
        )

    def doctype(self, *_: object) -> None:
        """Refuses a document type, which MQSim ignores and which could define entities of unlimited size."""
        raise self.source.problem(
            self.parser.CurrentLineNumber,
            "a document type is not supported",
            "remove the line that begins with <!DOCTYPE",
        )


WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0<", b"<\0", b"\0\0")
"""First bytes of a file whose encoding has more than one byte for each character, such as UTF-16."""
CUT_OFF = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
