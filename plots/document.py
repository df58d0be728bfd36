"""A small document that renders to Markdown and to one self-contained HTML page.

The report is made of these blocks only, so that both forms always say the same.
"""

from __future__ import annotations

import base64
import html
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True)
class Heading:
    """A section's title; level 1 is the document's."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Running text; `backquoted` parts are code."""

    text: str


@dataclass(frozen=True)
class Note:
    """A paragraph that must not be missed. Kind: one of _NOTE_TITLES."""

    kind: str
    text: str


@dataclass(frozen=True)
class Code:
    """A command, to be copied as it stands."""

    text: str


@dataclass(frozen=True)
class Table:
    """Cells are texts; columns that hold nothing but numbers are aligned right."""

    columns: list[str]
    rows: list[list[str]]

    def numeric(self) -> list[bool]:
        """For each column: whether all cells are numbers, marked or not, or dashes for none."""
        return [
            all(_NUMBER.fullmatch(cell) for cell in column)
            for column in zip(*self.rows, strict=True)
        ]


@dataclass(frozen=True)
class Picture:
    """A figure: the SVG goes into the page, the Markdown links to the PNG."""

    svg: Path
    png: Path
    caption: str


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away until asked for."""

    summary: str
    blocks: list


@dataclass
class Document:
    """A title and a list of blocks."""

    title: str
    blocks: list = field(default_factory=list)

    def add(self, *blocks) -> None:
        """Appends blocks."""
        self.blocks.extend(blocks)

    def markdown(self, folder: Path) -> str:
        """The document as Markdown for a file in `folder`, from where the figures are linked."""
        title = Heading(1, self.title)
        parts = [_markdown(block, folder) for block in (title, *self.blocks)]
        return "\n\n".join(parts) + "\n"

    def page(self) -> str:
        """The document as one HTML page that needs no other file."""
        body = "\n".join(_page(block) for block in self.blocks)
        title = html.escape(self.title)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n<style>{_CSS}</style>\n</head>\n"
            f"<body>\n<main>\n<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n"
        )


_MARKS = "\N{DAGGER}\N{DOUBLE DAGGER}\N{SECTION SIGN}\N{PILCROW SIGN}"
_NUMBER = re.compile(f"[-+0-9.,^ex%\N{EN DASH}{_MARKS}]+")
_NOTE_TITLES = {"info": "Note", "archived": "Archived", "stale": "Stale"}
_NOTE_TITLES |= {"left out": "Left out", "wrong": "Wrong answer"}


# What Markdown reads as more than a character: raw HTML, entities, links, escapes, emphasis, words
# struck out, formulas. An underscore inside of a word is none of these.
_SPECIAL = re.compile(
    r"<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])[(\[]|\\(?=[!-/:-@\[-`{-~]|$)|[*~$]"
    r"|(?<![^\W_])_|_(?![^\W_])"
)


def _escaped(text: str) -> str:
    """A text in one line of Markdown; `backquoted` parts stay code, **starred** ones strong."""
    pieces = " ".join(text.split()).split("`")
    for i in range(len(pieces)):
        is_code = i % 2 and i < len(pieces) - 1
        if is_code:
            pieces[i] = f"`{pieces[i]}`" if pieces[i] else "\\`\\`"
        elif i % 2:
            pieces[i] = "\\`" + _escaped_words(pieces[i])
        else:
            parts = pieces[i].split("**")
            strong = "**" if len(parts) % 2 else "\\*\\*"
            pieces[i] = strong.join(map(_escaped_words, parts))
    return "".join(pieces)


def _escaped_words(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")


def _markdown(block, folder: Path) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_escaped(text)}"
        case Paragraph(text):
            return _escaped(text)
        case Note(kind, text):
            return f"> **{_NOTE_TITLES[kind]}.** {_escaped(text)}"
        case Code(text):
            fence = max(re.findall("`+", text), key=len, default="") + "```"
            return f"{fence}sh\n{text}\n{fence}"
        case Table(columns, rows):
            rule = ["---:" if numeric else "---" for numeric in block.numeric()]
            lines = [columns, rule, *rows]
            return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)
        case Picture(_, png, caption):
            link = quote(Path(os.path.relpath(png, folder)).as_posix())
            words = _escaped(caption)
            alternative = re.sub(r"[\[\]]", r"\\\g<0>", words)
            return f"![{alternative}]({link})\n\n*{words}*"
        case Details(summary, blocks):
            inner = "\n\n".join(_markdown(each, folder) for each in blocks)
            return f"<details><summary>{html.escape(summary)}</summary>\n\n{inner}\n\n</details>"
    raise TypeError(f"no Markdown for {type(block).__name__}")


def _inline(text: str) -> str:
    """Escapes a text; `backquoted` parts become code, **starred** ones strong."""
    pieces = html.escape(text).split("`")
    for i in range(len(pieces)):
        if i % 2 and i < len(pieces) - 1:
            pieces[i] = f"<code>{pieces[i]}</code>"
        elif i % 2:
            pieces[i] = "`" + pieces[i]
        else:
            parts = pieces[i].split("**")
            if len(parts) % 2:
                parts = [f"<b>{part}</b>" if k % 2 else part for k, part in enumerate(parts)]
                pieces[i] = "".join(parts)
    return "".join(pieces)


_VERDICT_CLASSES = {
    "REPRODUCED": "good",
    "MET": "good",
    "DIFFERS": "differs",
    "MISSED": "differs",
    "NOT TESTABLE HERE": "untestable",
}


def _page_cell(text: str, numeric: bool) -> str:
    found = re.fullmatch(r"\*\*([A-Z ]+)\*\*(.*)", text)
    if found and (kind := _VERDICT_CLASSES.get(found[1])):
        return f'<td><span class="verdict {kind}">{found[1]}</span>{_inline(found[2])}</td>'
    return f"<td{' class=number' if numeric else ''}>{_inline(text)}</td>"


def _page_table(table: Table) -> str:
    numeric = table.numeric() or [False] * len(table.columns)
    head = "".join(
        f"<th{' class=number' if right else ''}>{_inline(column)}</th>"
        for column, right in zip(table.columns, numeric, strict=True)
    )
    lines = (
        "".join(_page_cell(cell, right) for cell, right in zip(row, numeric, strict=True))
        for row in table.rows
    )
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return (
        '<div class="scroll"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _page(block) -> str:
    match block:
        case Heading(level, text):
            anchor = "".join(c if c.isalnum() else "-" for c in text.lower())
            return f'<h{level} id="{anchor}">{_inline(text)}</h{level}>'
        case Paragraph(text):
            return f"<p>{_inline(text)}</p>"
        case Note(kind, text):
            title = _NOTE_TITLES[kind]
            return f'<p class="note {kind}"><b>{title}.</b> {_inline(text)}</p>'
        case Code(text):
            return f"<pre>{html.escape(text)}</pre>"
        case Table():
            return _page_table(block)
        case Picture(svg, _, caption):
            data = base64.b64encode(svg.read_bytes()).decode("ascii")
            text = html.escape(caption)
            return (
                f'<figure><img alt="{text}" src="data:image/svg+xml;base64,{data}">'
                f"<figcaption>{_inline(caption)}</figcaption></figure>"
            )
        case Details(summary, blocks):
            inner = "\n".join(_page(each) for each in blocks)
            return f"<details><summary>{html.escape(summary)}</summary>\n{inner}\n</details>"
    raise TypeError(f"no HTML for {type(block).__name__}")


_CSS = """
body { margin: 0; font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #222; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.8rem; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 0.6rem; border-bottom: 2px solid #0072b2; }
h3 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
h4 { font-size: 1rem; margin: 1.4rem 0 0.4rem; color: #444; }
code, pre { font-family: "DejaVu Sans Mono", ui-monospace, monospace; font-size: 0.88em; }
code { background: #f2f4f6; padding: 0.05em 0.3em; border-radius: 3px; overflow-wrap: anywhere; }
pre { background: #f2f4f6; padding: 0.6rem 0.8rem; border-radius: 4px; overflow-x: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; margin: 0.6rem 0; }
th, td { padding: 0.28rem 0.7rem; text-align: left; border-bottom: 1px solid #e4e4e4; }
th { border-bottom: 1.5px solid #888; font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption { font-size: 0.85rem; color: #555; }
.note { padding: 0.6rem 0.9rem; border-left: 4px solid #56b4e9; background: #f1f8fd; }
.note.archived, .note.stale { border-color: #e69f00; background: #fdf6e7; }
.note.wrong, .note.left { border-color: #b00020; background: #fdeef0; }
.verdict { font-weight: 600; font-size: 0.82em; padding: 0.1em 0.5em; border-radius: 3px; }
.verdict { white-space: nowrap; }
.good { background: #dcefe8; color: #00573e; }
.differs { background: #fbe6d8; color: #8a3b00; }
.untestable { background: #ececec; color: #444; }
details { margin: 0.6rem 0; }
summary { cursor: pointer; color: #0072b2; }
@media print { details > summary { display: none; } h2 { break-after: avoid; } }
"""
