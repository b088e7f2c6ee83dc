"""Texts and tasks that need no network: Python's own manual, and number words."""

import re

TOPICS = """assert attribute-references bitwise bltin-code-objects
bltin-ellipsis-object bltin-null-object bltin-type-objects booleans break
callable-types calls comparisons context-managers continue del dynamic-features else
exceptions for global id-classes if import in integers lambda operator-summary pass
return slicings truth typesfunctions typesmodules unary while with yield""".split()
"""Topics of the manual that read the same in Python 3.11, 3.12 and 3.13."""


def manual_text(topics: list[str] | None = None) -> str:
    """Return topics of Python's own manual (`pydoc_data`) as one line of English.

    Runs of white space become one space. The default topics, 63 thousand
    characters, are the same text in Python 3.11 to 3.13.

    Raises:
        ValueError: if the manual has no such topic.
    """
    from pydoc_data.topics import topics as manual

    wanted = TOPICS if topics is None else topics
    unknown = sorted(set(wanted) - set(manual))
    if unknown:
        raise ValueError(
            f"topics must be in Python's manual, got {unknown}; "
            "see sorted(pydoc_data.topics.topics)"
        )
    return " ".join(re.sub(r"\s+", " ", manual[topic]).strip() for topic in wanted)


def number_words(number: int, language: str = "en") -> str:
    """Spell a number out: 21 is "twenty-one" in "en", "einundzwanzig" in "de".

    Raises:
        ValueError: if `num2words` does not speak the language.
    """
    from num2words import CONVERTER_CLASSES, num2words

    if language not in CONVERTER_CLASSES:
        raise ValueError(
            f"language must be one of {sorted(CONVERTER_CLASSES)}, got {language!r}"
        )
    return str(num2words(number, lang=language))


def number_pairs(
    numbers: range, *, source: str = "en", target: str = "de"
) -> list[tuple[str, str]]:
    """Spell each number in two languages: [("twenty-one", "einundzwanzig"), ...].

    Raises:
        ValueError: if `num2words` does not speak a language.
    """
    return [(number_words(n, source), number_words(n, target)) for n in numbers]
