"""What SamplingDesk says; `words.mjs` says the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from transformer_book.figures.sampling_desk.model import LONGER
from transformer_book.figures.sampling_desk.numbers import Settings, repeated, warm
from transformer_book.figures.state import number, percent, quote, short

if TYPE_CHECKING:
    from transformer_book.figures.sampling_desk.figure import SamplingDesk

_CUT = re.compile(r"^([^ \n]*[ \n]+(?=[^ \n])|.)", re.DOTALL)

ROWS = 12
"""Tokens that are listed."""


def reshapers(settings: Settings) -> list[str]:
    """Name what is on, with its value: "temperature 0.7", "top-k 8"."""
    found = [
        f"{name} {short(float(value))}"
        for name, words in settings.filters()
        for value in words.values()
    ]
    if settings.temperature != 1:
        found.insert(0, f"temperature {short(settings.temperature)}")
    return found


def tail(desk: SamplingDesk) -> str:
    """Return the end of the text that the logits answer, from a word on."""
    text, *drawn = desk.asked
    whole = text + "".join(desk.tokens[i] for i in drawn)
    return whole if len(whole) <= 24 else "…" + _CUT.sub("", whole[-24:])


def listed(desk: SamplingDesk) -> list[int]:
    """Return the places that are listed: the first ones, and the held."""
    order = desk.distribution().order
    places = list(range(min(ROWS, len(order))))
    if desk.held >= 0 and (place := order.index(desk.held)) >= ROWS:
        places[-1] = place
    return places


def sentence(desk: SamplingDesk) -> str:
    """Say what becomes of the likeliest token, or of the held one."""
    return _overview(desk) if desk.held < 0 else _held(desk)


def _overview(desk: SamplingDesk) -> str:
    order, before, after, _ = desk.distribution()
    start = (
        f"{_draws(desk)}After {quote(tail(desk))}, the likeliest of {len(order)} "
        f"tokens is {quote(desk.tokens[order[0]])}: {percent(before[0])}"
    )
    named = reshapers(desk.settings)
    if not named:
        said = f"{start}. Nothing reshapes the model's distribution."
    else:
        makes = "makes" if len(named) == 1 else "make"
        both = " and ".join(", ".join(named).rsplit(", ", 1))
        said = f"{start}; {both} {makes} it {percent(after[0])}. "
        said += _staying(desk)
    return said + _trap(desk)


def _staying(desk: SamplingDesk) -> str:
    cut = desk.distribution().cut
    stay = cut.count("")
    gone = len(cut) - stay
    if gone == 0:
        return f"All {stay} tokens stay."
    heat = desk.temperature
    heated = "" if heat in (0, 1) else f"at temperature {short(heat)} "
    share = warm(desk.logits, heat)[:stay].sum().item()
    return (
        f"{stay} token{'s stay' if stay > 1 else ' stays'}; {heated}"
        f"{'they' if stay > 1 else 'it'} had {percent(share)} before "
        f"{gone} other{'s were' if gone > 1 else ' was'} cut off."
    )


def _draws(desk: SamplingDesk) -> str:
    if desk.count == 0:
        return ""
    order, _, after, _ = desk.distribution()
    first = quote(desk.tokens[order[0]])
    return (
        f"Of {desk.count} draws, {desk.counts()[0]} took {first}; "
        f"{number(desk.count * after[0], 0)} were to be expected. "
    )


def share(ids: list[int]) -> float:
    """Return the share of runs of four tokens that stood there before."""
    again = repeated(ids)
    return sum(again) / max(1, len(again))


def _trap(desk: SamplingDesk) -> str:
    both = desk.continuations()
    if both is None:
        return ""
    greedy, sampled = (percent(share(ids)) for ids in both)
    return (
        f" Of the runs of four in the next {LONGER} tokens, greedy repeats {greedy}, "
        f"sampling {sampled}."
    )


def _held(desk: SamplingDesk) -> str:
    order, before, after, cut = desk.distribution()
    place = order.index(desk.held)
    now = f"cut off by {cut[place]}" if cut[place] else f"{percent(after[place])} after"
    said = (
        f"{quote(desk.tokens[desk.held])} is number {place + 1} of {len(order)}: "
        f"{percent(before[place])} before, {now}"
    )
    if desk.count:
        said += (
            f"; drawn {desk.counts()[place]} times of {desk.count}, "
            f"{number(desk.count * after[place], 0)} to be expected"
        )
    return f"{said}."


def table(desk: SamplingDesk) -> tuple[list[str], list[list[Any]]]:
    """Give the listed tokens, then all others together."""
    order, before, after, cut = desk.distribution()
    drawn, places = desk.counts(), listed(desk)
    rows = [
        [
            quote(desk.tokens[order[i]]),
            number(before[i], 4),
            number(after[i], 4),
            cut[i],
            drawn[i],
        ]
        for i in places
    ]
    others = [i for i in range(len(order)) if i not in places]
    if others:
        gone = sum(bool(cut[i]) for i in others)
        rows.append(
            [
                f"{len(others)} others",
                number(sum(before[i] for i in others), 4),
                number(sum(after[i] for i in others), 4),
                f"{gone} of them" if gone else "",
                sum(drawn[i] for i in others),
            ]
        )
    return ["token", "before", "after", "cut off by", "drawn"], rows
