"""The book's own typefaces, so that a page looks alike on every machine.

Source Sans 3 for text, Source Code Pro for code, both under the SIL Open Font License.
A few signs that the first lacks come from Noto; code takes its other signs from the
first. Each is cut down to the letters of European text and the signs of the book.
"""

from dataclasses import dataclass
from itertools import product, starmap
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from booksite.node import require_package

BASIC = [*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA0, 0x100)), *"ĠġŁł"]
QUOTES = [*"‐‑‒–—‘’‚“”„†•…−⁄", "\u2005", "\u2009", "\u200a"]
GREEK = [*map(chr, range(0x391, 0x3CA))]
SIGNS = [*map(chr, range(0x2070, 0x2090)), *"ᵀ€←↑→↓↔↕↖↗↘↙∂∆∏∑√∞∫≈≠≤≥■□▲▶▸▼◆○●☐☑✓✗"]
# What formulas show, and some signs more; one that shows others is refused.
OF_MATH = "\u200b\xa0\u2061×·±¬′’…→←↦⇒∂∇∈∏∑−∗∘√∝∞∣∥∧∨∩∪∫≈≠≡≤≥≪≫⊂⊆⊙⊕⊗⊤⊥⋅⋯⋮⋱⌈⌉⌊⌋⟨⟩"
FORMULAS = "".join(BASIC[:95] + GREEK) + OF_MATH
LIGHT, HEAVY = 400, 700


@dataclass(frozen=True)
class Face:
    """One file: where npm put it, and which characters stay in it."""

    name: str
    family: str
    package: str
    file: str
    characters: str
    style: str = "normal"
    adds: bool = False
    """Only these characters, to a family that has others from elsewhere."""

    @property
    def weights(self) -> tuple[int, int]:
        """The lightest and the heaviest: the book has no letter heavy and slanted."""
        return LIGHT, HEAVY if self.style == "normal" else LIGHT


SANS, MONO = "Source Sans 3", "Source Code Pro"
ITALIC, TEXT = "".join(BASIC + QUOTES), "".join(BASIC + QUOTES + GREEK + SIGNS)
UPRIGHT, SLANTED = "VF/SourceSans3VF-Upright.ttf", "VF/SourceSans3VF-Italic.ttf"
MONO_FILE = "VF/SourceCodeVF-Upright.ttf"
SYMBOLS = (
    "@fontsource/noto-sans-symbols-2",
    "files/noto-sans-symbols-2-symbols-400-normal.woff2",
)
LATIN = (
    "@fontsource/noto-sans-math",
    "files/noto-sans-math-latin-400-normal.woff2",
)
FACES = (
    Face("sans", SANS, "source-sans", UPRIGHT, TEXT),
    Face("sans-italic", SANS, "source-sans", SLANTED, ITALIC, style="italic"),
    Face("mono", MONO, "source-code-pro", MONO_FILE, TEXT),
    Face("signs", SANS, *SYMBOLS, "⏎␣✂✕", adds=True),
    Face("mathematics", SANS, *LATIN, "∅∇∣∿⊙⊤⋅⋯", adds=True),
)
# What stands there until the font has come is as wide and high, so that nothing jumps:
# what most machines have, and what Linux has where they do not. Heavier letters of the
# book are wider, and are kept so by larger ones.
USUAL = 'local("Arial"), local("Helvetica"), local("Liberation Sans"), local("Roboto")'
IN_PLACE: dict[str, tuple[str, float]] = {
    "Sans in its place": (USUAL, 94),
    "DejaVu in its place": ('local("DejaVu Sans")', 82),
}
WIDER = {"400": 1, "500 600": 1.025, "700": 1.06}
FALLBACK = """@font-face {{
  font-family: "{family}";
  src: {fonts};
  font-weight: {weight};
  size-adjust: {size:.1f}%;
  ascent-override: {ascent:.1f}%;
  descent-override: {descent:.1f}%;
}}
"""
RULE = """@font-face {{
  font-family: "{face.family}";
  src: url("{face.name}.woff2") format("woff2");
  font-style: {face.style};
  font-weight: {face.weights[0]} {face.weights[1]};
  font-display: swap;{only}
}}
"""


def cut(
    source: Path, characters: str, weights: tuple[int, int] = (LIGHT, HEAVY)
) -> TTFont:
    """The font with these characters alone, between these weights."""
    options = subset.Options(hinting=False)
    options.layout_features = ["kern", "liga", "mark", "mkmk", "tnum", "ccmp", "locl"]
    font = TTFont(source)
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters)
    cutter.subset(font)
    if "fvar" in font:
        font = instancer.instantiateVariableFont(font, {"wght": weights})
    font.flavor = "woff2"
    return font


def rule(face: Face) -> str:
    """The style sheet's words for this face."""
    codes = ", ".join(f"U+{ord(sign):04X}" for sign in face.characters)
    only = f"\n  unicode-range: {codes};" if face.adds else ""
    return RULE.format(face=face, only=only)


def stand_in(family: str, weight: str) -> str:
    """The style sheet's words for what stands there until a face has come."""
    fonts, size = IN_PLACE[family]
    size *= WIDER[weight]
    heights = {"ascent": 10_000 / size, "descent": 3_260 / size}
    return FALLBACK.format(
        family=family, fonts=fonts, weight=weight, size=size, **heights
    )


def write_fonts(root: Path, outdir: Path) -> None:
    """Write the files, and the style sheet that names them, into an empty folder."""
    for face in FACES:
        source = require_package(root, face.package) / face.file
        font = cut(source, face.characters, face.weights)
        font.save(outdir / f"{face.name}.woff2")
    rules = [*map(rule, FACES), *starmap(stand_in, product(IN_PLACE, WIDER))]
    (outdir / "fonts.css").write_text("".join(rules))
