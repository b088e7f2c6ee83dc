"""What TrainScrub says in words, and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.state import number, quote, token_text

if TYPE_CHECKING:
    from transformer_book.figures.train_scrub.figure import TrainScrub


_QUESTION = (
    "At which step is the second copy easy, its loss below half of the first’s? "
    "Predict it before you train."
)


def sentence(scrub: TrainScrub) -> str:
    """Say what the held weight is, or how far the model is at this step."""
    return _weight(scrub) if scrub.selected else _overview(scrub)


def _overview(scrub: TrainScrub) -> str:
    record, k, n = scrub.record, scrub.frame, len(scrub.record["tokens"])
    one, two = number(record["first"][k]), number(record["second"][k])
    previous, induction = (number(score) for score in scrub.scores()[k])
    stage = quote([name for name, start in scrub.stages() if start <= k][-1])
    said = (
        f"Step {record['steps'][k]} of {record['steps'][-1]}, stage {stage}: the loss "
        f"is {one} in the first copy, {two} in the second; "
        f"{sum(scrub.right()[k][n:])} of {n - 1} repeated tokens are foreseen. "
        f"Scores: previous-token head {previous}, induction head {induction}."
    )
    guess = _prediction(scrub)
    first = guess == _QUESTION
    return f"{guess} {said}" if first else f"{said} {guess}"


def _prediction(scrub: TrainScrub) -> str:
    """Compare what the reader predicted with what has been seen so far."""
    steps, k, step = scrub.record["steps"], scrub.fall(), scrub.predicted
    if scrub.answered():
        start = "The" if step < 0 else f"You predicted step {step}; the"
        fell = "never fell" if k is None else "fell"
        at = "" if k is None else f" at step {steps[k]}"
        return f"{start} second copy’s loss {fell} below half of the first’s{at}."
    if step < 0:
        return _QUESTION
    return f"You predict that the second copy becomes easy at step {step}."


def _weight(scrub: TrainScrub) -> str:
    record, (head, query, key) = scrub.record, scrub.selected
    n, text = len(record["tokens"]), [*record["tokens"], *record["tokens"]]
    start = (
        f"Step {record['steps'][scrub.frame]}, "
        f"{token_text(record['heads'][head], 40)}: {quote(text[query])} at position "
        f"{query} "
    )
    if key > query:
        return f"{start}may not look ahead at {quote(text[key])} at position {key}."
    relations = {
        query: ", itself",
        query - n: ", the same token, one copy before",
        query - n + 1: ", what followed the same token the first time",
        query - 1: ", the token just before",
    }
    weight = record["maps"][scrub.frame][head][query][key]
    return (
        f"{start}looks {weight} % at {quote(text[key])} at position {key}"
        f"{relations.get(key, '')}."
    )


def table(scrub: TrainScrub) -> tuple[list[str], list[list[Any]]]:
    """Give losses, tokens foreseen and scores, one row per step seen so far."""
    record, n = scrub.record, len(scrub.record["tokens"])
    right, scores = scrub.right(), scrub.scores()
    rows = [
        [
            step,
            number(record["first"][k], 3),
            number(record["second"][k], 3),
            sum(right[k][n:]),
            *(number(score) for score in scores[k]),
        ]
        for k, step in enumerate(record["steps"][: scrub.revealed() + 1])
    ]
    heads = ["previous-token score", "induction score"]
    copies = ["loss in first copy", "loss in second copy"]
    return ["step", *copies, f"foreseen of {n - 1}", *heads], rows
