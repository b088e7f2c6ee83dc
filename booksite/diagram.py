"""Draws a model as SVG: parts on a stream that flows down, each a link to its chapter.

What is drawn is said by values, and nothing has a place of its own: all places follow
from the order. The colors are in `static/diagram.css`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

ROW, GAP, PAD = 28, 10, 4  # a row is 24 pixels or more where a phone shrinks it
FLOW = 26  # an arrow with words beside it
SHEETS = (6, 3, 0)  # how a repeated frame lies on others
BETWEEN = 12  # two columns
IN = 10  # from the edge of a box to the arrow that leaves it
LANE = 9  # at the right, for what goes in again
INDENT = 16  # from the stream to the boxes of a layer
Edges = tuple[int, int]
Rows = Sequence["Part | Sequence[Part] | Sequence[Tensor]"]


@dataclass(frozen=True)
class Part:
    """A box that leads to a chapter; with rows within it, a frame."""

    name: str
    chapter: str
    within: Rows = ()
    role: str = ""
    """What its color and line say: query, key, value, position or mask."""
    lanes: tuple[int, int] = (0, 0)
    """The first and the last of the frame's columns that it covers."""
    reads_memory: bool = False
    """Whether it attends to what the first column ends with."""


@dataclass(frozen=True)
class Tensor:
    """What an arrow carries; `of` names it in the library's model."""

    axes: str
    of: str
    says: str = ""
    role: str = ""
    lane: int = 0

    @property
    def shape(self) -> str:
        return f"({self.axes.replace(' ', ', ')})"


@dataclass(frozen=True)
class Layer:
    """A norm and a layer beside the stream; what comes out is added to the stream."""

    norm: Part
    layer: Part
    normed: Tensor | None = None
    change: Tensor | None = None


@dataclass(frozen=True)
class Stack:
    """A frame around a stretch of the stream, drawn as sheets where it is repeated."""

    part: Part
    items: "Sequence[Item]"
    times: str = ""


Item = Part | Tensor | Layer | Stack


@dataclass(frozen=True)
class Picture:
    """Columns of items; above them rows for all, beside the second a frame of links."""

    title: str
    description: str
    width: int
    columns: Sequence[Sequence[Item]]
    before: Part | None = None
    shared: Sequence[Part | Sequence[Tensor]] = ()
    around: Sequence[Part] = ()
    note: str = ""


FIELDS = """before shared columns part items norm normed layer change within
around""".split()


def all_of(kind: type, thing: object) -> Iterator[Any]:
    """Every part, or every tensor, of a picture."""
    if isinstance(thing, kind):
        yield thing
    inner = [getattr(thing, name, ()) for name in FIELDS]
    for one in thing if isinstance(thing, (list, tuple)) else inner:
        if one:
            yield from all_of(kind, one)


@dataclass(frozen=True)
class Column:
    """Where a stream runs, and the edges between which its boxes are."""

    left: int
    right: int
    stream: int
    mirrored: bool = False

    def within(self, pad: int = PAD) -> "Column":
        return replace(self, left=self.left + pad, right=self.right - pad)

    @property
    def beside(self) -> "Column":
        """The room that the stream leaves for a layer's boxes."""
        if self.mirrored:
            return replace(self, left=self.left + PAD, right=self.stream - INDENT)
        return replace(self, left=self.stream + INDENT, right=self.right - PAD)

    @property
    def away(self) -> int:
        """The direction from the stream to the boxes."""
        return -1 if self.mirrored else 1

    @property
    def near(self) -> int:
        """The edge that the stream is at."""
        return self.right if self.mirrored else self.left


@dataclass(frozen=True)
class Target:
    """The chapter that a part leads to."""

    address: str
    number: int
    title: str
    is_here: bool


@dataclass(frozen=True)
class Head:
    """Of a frame: the edges between which its words are, and how often it comes."""

    words: Edges
    times: str = ""


class Pen:
    """Draws from the top down; `y` is how far it has come."""

    def __init__(self, target: Callable[[Part], Target], width: int) -> None:
        self.target, self.width, self.y = target, width, 0
        self.frames: list[str] = []  # each layer of the drawing covers those before
        self.bands: list[str] = []
        self.lines: list[str] = []
        self.boxes: list[str] = []
        self.memory = (0, 0)  # where the first column ends
        self.again = 0  # where what is written comes in
        self.stream: int | None = None  # where the band of this column begins

    def text(self, x: int, y: int, words: str, kind: str, end: bool = False) -> None:
        anchor = ' text-anchor="end"' if end else ""
        self.boxes.append(
            f'<text x="{x}" y="{y}" class="{kind}"{anchor}>{words}</text>'
        )

    def arrow(self, *points: tuple[int, int], role: str = "") -> None:
        """A line through these points with a head at the last one."""
        (x1, y1), (x, y) = points[-2:]
        dx, dy = (x > x1) - (x < x1), (y > y1) - (y < y1)
        line = "L".join(f"{px} {py}" for px, py in points)
        head = (
            f"M{x - 5 * dx - 4 * dy} {y - 5 * dy - 4 * dx}L{x} {y}"
            f"L{x - 5 * dx + 4 * dy} {y - 5 * dy + 4 * dx}"
        )
        self.lines.append(f'<path class="{f"l {role}".strip()}" d="M{line}"/>')
        self.lines.append(f'<path class="{f"h {role}".strip()}" d="{head}"/>')

    def down(self, x: int, top: int, bottom: int, role: str = "") -> None:
        """An arrow that leaves a box and meets the next one."""
        self.arrow((x, top + 1), (x, bottom - 1), role=role)

    def band(self, x: int, top: int, bottom: int) -> None:
        """The residual stream, with its head."""
        path = f"M{x - 2} {top}V{bottom - 8}h-5l7 8 7-8h-5V{top}z"
        self.bands.append(f'<path class="s" d="{path}"/>')

    def label(
        self, x: int, tensor: Tensor, mirrored: bool = False, in_two: bool = False
    ) -> None:
        """Words beside the middle of an arrow at x that is `FLOW` long."""
        spot = x - 8 if mirrored else x + 8
        if in_two:
            two = tensor.shape.split(", ")
            self.text(spot, self.y + 15, f"{', '.join(two[:2])},", "c")
            self.text(spot, self.y + 28, ", ".join(two[2:]), "c")
        else:
            words = tensor.shape if tensor.axes else escape(tensor.says)
            self.text(spot, self.y + 17, words, "c", mirrored)

    def box(self, part: Part, edges: Edges, head: Head | None = None) -> None:
        """A row that leads to a chapter, as a box or as the head of a frame."""
        to, top, (left, right) = self.target(part), self.y, edges
        kind = f"{'f ' * bool(head)}{part.role}{' here' * to.is_here}".strip()
        said = f"{escape(part.name)} (chapter {to.number}: {escape(to.title)})"
        times = f' <tspan class="w">{head.times}</tspan>' if head and head.times else ""
        size = f'width="{right - left}" height="{ROW}" rx="5"'
        self.boxes.append(
            f'<a href="{escape(to.address)}"'
            + f' class="{kind}"' * bool(kind)
            + ' aria-current="page"' * to.is_here
            + f'><title>{said}</title><rect x="{left}" y="{top}" {size}/>'
        )
        if head:
            left, right = head.words
        start = left + 7
        if part.role == "mask":  # hatched, as masked cells are in every figure
            hatch = f"M{start} {top + 13}l5-5m-5 11l11-11m-11 11h0m5 0l6-6"
            self.boxes.append(f'<path class="h" d="{hatch}"/>')
            start += 17
        self.text(start, top + 18, escape(part.name) + times, "p")
        self.text(right - 6, top + 18, str(to.number), "n", end=True)
        self.boxes.append("</a>")

    def frame(self, left: int, right: int, top: int, bottom: int, kind: str) -> str:
        size = f'width="{right - left}" height="{bottom - top}" rx="7"'
        return f'<rect class="{kind}" x="{left}" y="{top}" {size}/>'

    def part(self, part: Part, left: int, right: int) -> None:
        """A box, or a frame with its rows."""
        if not part.within:
            self.box(part, (left, right))
            self.y += ROW
            return
        top, place = self.y, len(self.frames)
        self.frames.append("")
        self.box(part, (left, right), Head((left, right)))
        self.y += ROW
        self.rows(part.within, left + PAD, right - PAD)
        self.y += PAD
        kind = "r here" if self.target(part).is_here else "r"
        self.frames[place] = self.frame(left, right, top, self.y, kind)

    def rows(self, rows: Rows, left: int, right: int) -> None:
        """Rows of boxes; where tensors are between them, arrows are, lane by lane."""
        lanes = 1 + max(part.lanes[1] for part in all_of(Part, rows))
        wide = (right - left + PAD) / lanes
        starts = [left + round(lane * wide) for lane in range(lanes + 1)]
        under: dict[int, tuple[int, str]] = {}  # the lane's last box and its role
        carried = True
        for row in rows:
            several = [row] if isinstance(row, Part) else row
            tensors = [one for one in several if isinstance(one, Tensor)]
            for tensor in tensors:
                self.label(starts[tensor.lane] + IN, tensor, in_two=len(several) > 1)
            if tensors:
                self.y += FLOW + 8 * (len(several) > 1)
                carried = True
                continue
            if not carried:
                self.y += GAP if lanes > 1 else PAD
            for part in all_of(Part, several):
                first, last = part.lanes
                for lane in {*range(first, last + 1)} & {*under}:
                    top, role = under.pop(lane)
                    if carried or lanes > 1:
                        self.down(starts[lane] + IN, top, self.y, role)
                self.box(part, (starts[first], starts[last + 1] - PAD))
                under[first] = (self.y + ROW, part.role)
            self.y += ROW
            carried = False

    def layer(self, layer: Layer, column: Column) -> None:
        """A norm and a layer beside the stream, and the plus where they come back."""
        room, away = column.beside, column.away
        if layer.layer.reads_memory:  # below the memory's words
            self.y = max(self.y, self.memory[1] + FLOW - 3 - GAP - ROW - ROW // 2)
        middle, x = self.y + ROW // 2, room.near + IN * away
        edge = room.near - away
        self.arrow((column.stream + 3 * away, middle), (edge, middle))
        self.part(layer.norm, room.left, room.right)
        gap = FLOW if layer.normed else GAP
        self.down(x, self.y, self.y + gap)
        if layer.normed:
            self.label(x, layer.normed, column.mirrored)
        self.y += gap
        if layer.layer.reads_memory:
            self.read(room)
        self.part(layer.layer, room.left, room.right)
        back = self.y - ROW // 2 - (PAD if layer.layer.within else 0)
        path = [(edge, back)]
        if layer.change:
            self.label(x, layer.change, column.mirrored)
            path = [(x, self.y + 1), (x, self.y + 13)]
            back = self.y + 13
            self.y += FLOW - PAD
        self.arrow(*path, (column.stream + 9 * away, back))
        self.plus(column.stream, back)
        self.y += GAP

    def plus(self, x: int, y: int) -> None:
        sign = f"M{x - 4} {y}h8M{x} {y - 4}v8"
        self.boxes.append(
            f'<circle cx="{x}" cy="{y}" r="7"/><path class="h" d="{sign}"/>'
        )

    def read(self, room: Column) -> None:
        """An arrow from the end of the first column into this row."""
        (x, y), mine = self.memory, self.y + ROW // 2
        self.arrow((x, y), (x, mine), (room.left - 1, mine))

    def loop(self, column: Column) -> None:
        """What comes out at the end goes in again at the top."""
        x, end, top = column.stream, self.y + FLOW, self.again + 2
        side = self.width - 1
        path = [(x, self.y + 1), (x, end), (side, end), (side, top), (x, top)]
        self.arrow(*path, (x, self.again + FLOW - 1), role="again")

    def stack(self, stack: Stack, column: Column) -> None:
        """A frame around a stretch of the stream; a repeated one looks like sheets."""
        top, place = self.y, len(self.frames)
        self.frames.append("")
        words = (column.left, column.stream - 2)
        if not column.mirrored:
            words = (column.stream + 2, column.right)
        self.box(stack.part, (column.left, column.right), Head(words, stack.times))
        self.y += ROW
        for item in stack.items:
            self.item(item, column.within())
        self.y += 0 if stack.times else PAD
        kind = "r" if not stack.times else "g"
        kind += " here" * self.target(stack.part).is_here
        self.frames[place] = "".join(
            self.frame(column.left + by, column.right - by, top + by, self.y + by, kind)
            for by in (SHEETS if stack.times else [0])
        )
        self.y += GAP if stack.times else 0

    def item(self, item: Item, column: Column) -> None:
        """Something on the stream, which ends in the first box on its way."""
        if isinstance(item, Layer):
            self.layer(item, column)
        elif isinstance(item, Stack):
            self.stack(item, column)
        elif isinstance(item, Tensor):
            self.label(column.stream, item, column.mirrored)
            if item.role == "again":
                self.loop(column)
            elif item.role == "memory":
                self.memory = (column.stream, self.y + 1)
            elif self.stream is None:
                self.down(column.stream, self.y, self.y + FLOW)
            self.y += FLOW
        else:
            if self.stream is not None:
                self.band(column.stream, self.stream, self.y)
                self.stream = None
            self.part(item, column.left, column.right)

    def column(self, items: Sequence[Item], column: Column) -> None:
        self.stream = self.y
        for item in items:
            self.item(item, column)
        if self.stream is not None:
            self.band(column.stream, self.stream, self.y)

    @property
    def drawing(self) -> str:
        return "".join(self.frames + self.bands + self.lines + self.boxes)

    # The rows of a picture

    def here(self, parts: Iterable[Part]) -> None:
        """Which chapter the ring is around, if the reader is in one of these."""
        for to in {to for to in map(self.target, parts) if to.is_here}:
            size = 'width="12" height="12" rx="3"'
            self.frames.append(f'<rect class="y" x="1" y="1" {size}/>')
            said = f"You are here: chapter {to.number}, {escape(to.title)}"
            self.text(20, 12, said, "p")
            self.y += ROW

    def before(self, part: Part, right: int) -> None:
        self.text(0, self.y + 18, "Before", "w")
        self.box(part, (52, right))
        self.y += ROW + GAP

    def shared(self, rows: Rows, columns: Sequence[Column], right: int) -> None:
        """Boxes as wide as all columns, with an arrow for each of them between."""
        carried = True
        for row in rows:
            if isinstance(row, Part):
                self.y += 0 if carried else PAD
                self.part(row, 0, right)
                carried = False
                continue
            for tensor, column in zip(all_of(Tensor, row), columns, strict=True):
                self.label(column.stream, tensor, column.mirrored)
                if tensor.role == "again":
                    self.again = self.y
                else:
                    self.down(column.stream, self.y, self.y + FLOW)
            self.y += FLOW
            carried = True

    def around(self, parts: Sequence[Part], column: Column, bottom: int) -> None:
        """A frame of what is no part of the model, below the first column."""
        top = self.y = bottom - (ROW + PAD) * (len(parts) + 1) + PAD
        self.text(column.left + 7, top + 18, "Around the model", "w")
        self.y += ROW - PAD
        for part in parts:
            self.box(part, (column.left + PAD, column.right - PAD))
            self.y += ROW + PAD
        self.frames.append(self.frame(column.left, column.right, top, bottom, "o"))


def columns_of(count: int, right: int) -> list[Column]:
    """One column, or two with their streams at the outer sides."""
    edge = 2 * PAD + 8
    if count == 1:
        return [Column(0, right, edge)]
    wide = (right - BETWEEN) // 2
    return [Column(0, wide, edge), Column(right - wide, right, right - edge, True)]


def lay_out(picture: Picture, pen: Pen) -> int:
    """Draw it from the top down, and return how high it is."""
    width = picture.width
    again = any(tensor.role == "again" for tensor in all_of(Tensor, picture))
    right = width - LANE * again
    columns = columns_of(len(picture.columns), right)
    pen.here(all_of(Part, picture))
    if picture.before:
        pen.before(picture.before, right)
    pen.shared(picture.shared, columns, right)
    top = bottom = pen.y
    for items, column in zip(picture.columns, columns, strict=True):
        pen.y = top
        pen.column(items, column)
        bottom = max(bottom, pen.y)
    if picture.around:
        pen.around(picture.around, columns[0], bottom - FLOW)
    if picture.note:
        pen.text(0, bottom + 18, picture.note, "c")
        bottom += FLOW
    return bottom


def draw(picture: Picture, target: Callable[[Part], Target]) -> str:
    """The picture as SVG."""
    pen, width = Pen(target, picture.width), picture.width
    bottom = lay_out(picture, pen)
    return (
        f'<svg class="tl-diagram" role="group" style="--width:{round(width * 1.2)}px" '
        f'viewBox="-1 -1 {width + 2} {bottom + 3}"><title>{escape(picture.title)}'
        f"</title><desc>{escape(picture.description)}</desc>{pen.drawing}</svg>"
    )


class SmallPen(Pen):
    """Draws boxes, frames and streams alone: no words, arrows or links."""

    def text(self, *what: object, **how: object) -> None: ...
    def arrow(self, *points: Edges, role: str = "") -> None: ...
    def plus(self, x: int, y: int) -> None: ...
    def here(self, parts: Iterable[Part]) -> None: ...

    def box(self, part: Part, edges: Edges, head: Head | None = None) -> None:
        """A filled box; a frame has its edge and no head."""
        if not head:
            (left, right), here = edges, self.target(part).is_here
            self.boxes.append(
                f'<rect class="{"b here" if here else "b"}" x="{left}" y="{self.y}" '
                f'width="{right - left}" height="{ROW}"/>'
            )


def draw_small(picture: Picture, target: Callable[[Part], Target]) -> str:
    """The picture as an SVG for a link that says in words what it is."""
    pen, width = SmallPen(target, picture.width), picture.width
    bottom = lay_out(picture, pen)
    return (
        '<svg class="tl-diagram tl-small" aria-hidden="true" '
        f'viewBox="-3 -3 {width + 6} {bottom + 6}">{pen.drawing}</svg>'
    )
