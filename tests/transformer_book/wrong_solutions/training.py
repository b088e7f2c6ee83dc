"""Losses and schedules, as learners write them."""

import math

import torch
import torch.nn.functional as F

from wrong_solutions.cases import Cases, edited


def next_token_loss(logits, tokens, ignore=-100):
    log_p = logits[:, :-1].log_softmax(-1)
    targets = tokens[:, 1:]
    real = targets != ignore
    nats = -log_p.gather(-1, targets[..., None]).squeeze(-1)
    return nats[real].mean()


def flattened(logits, tokens, ignore=-100):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=ignore
    )


def by_loops(logits, tokens, ignore=-100):
    found = [
        -row.log_softmax(0)[token]
        for sequence, words in zip(logits, tokens, strict=True)
        for row, token in zip(sequence[:-1], words[1:], strict=True)
        if token != ignore
    ]
    return torch.stack(found).mean()


NO_SHIFT = {"[:, :-1]": "", "[:, 1:]": ""}
WRONG_WAY = {"[:, :-1]": "[:, 1:]", "[:, 1:]": "[:, :-1]"}
TWICE = {"[:, :-1]": "[:, :-2]", "[:, 1:]": "[:, 2:]"}
LAST_DROPPED = {"[:, :-1]": "[:, :-2]", "[:, 1:]": "[:, 1:-1]"}
TURNED_ROUND = {"logits[:, :-1]": "logits.roll(1, dims=1)", "[:, 1:]": ""}
OF_SEQUENCES = "((nats * real).sum(-1) / real.sum(-1)).mean()"
WORDS = "over the words, dim=-1"

NEXT_TOKEN = Cases(
    next_token_loss,
    right=[by_loops, flattened],
    wrong=[
        (NO_SHIFT, "at its own position"),
        (WRONG_WAY, "the wrong way"),
        (TWICE, "two positions later"),
        (LAST_DROPPED, "last token is never"),
        (TURNED_ROUND, "first token is predicted"),
        ({"mean()": "sum()"}, "it is a sum"),
        ({"nats[real].mean()": "(nats * real).sum(-1).mean()"}, "it is a sum"),
        ({"-log_p": "log_p"}, "never negative"),
        ({"log_softmax": "softmax(-1).log_softmax"}, "taken twice"),
        ({"log_softmax(-1)": "log_softmax(1)"}, WORDS),
        ({".log_softmax(-1)": ""}, WORDS),
        ({"mean()": "mean() / math.log(2)"}, "log2"),
        ({"mean()": "mean().exp()"}, "perplexity"),
        (edited(flattened, {".flatten(0": ".transpose(0, 1).flatten(0"}), "same order"),
        (
            edited(flattened, {".flatten(0, 1)": "", ".flatten()": ""}),
            "Expected target size",
        ),
        ({"!= ignore": "!= 0"}, "always left out"),
        ({"nats[real]": "nats"}, "padding is counted: leave"),
        ({"nats[real]": "(nats * real)"}, "counted in the mean"),
        ({"nats[real].mean()": OF_SEQUENCES}, "sequences' means"),
        ({"targets != ignore": "tokens[:, :-1] != ignore"}, "the token before it"),
    ],
)


def cross_entropy(logits, targets, label_smoothing=0.0, ignore=-100):
    log_p, e = logits.log_softmax(-1), label_smoothing
    target, word = 1 - e, e / 7
    losses = -target * log_p.gather(-1, targets[:, None]).squeeze(-1)
    if e:
        losses = losses - word * log_p.sum(-1)
    return losses[targets != ignore].mean()


def pytorch(logits, targets, label_smoothing=0.0, ignore=-100):
    return F.cross_entropy(
        logits, targets, label_smoothing=label_smoothing, ignore_index=ignore
    )


THE_OTHERS = "1 - e - e / 6, e / 6"
REAL, HERE = "losses[targets != ignore]", "targets != ignore"
TARGET = "(1 - e + e / 7)"
ENTROPY = f"({TARGET} * math.log({TARGET}) + 6 / 7 * e * math.log(e / 7) if e else 0)"

SMOOTHING = Cases(
    cross_entropy,
    right=[pytorch],
    wrong=[
        ({"1 - e, e / 7": "1.0, 0.0"}, "nothing is smoothed"),
        ({"1 - e, e / 7": THE_OTHERS}, "the target included"),
        ({"e / 7": "0.0"}, "the words get nothing"),
        ({"e / 7": "e"}, "divide it by V"),
        ({"1 - e, e / 7": "e or 1.0, (1 - e) / 7"}, "swapped"),
        ({"1 - e,": "1.0,"}, "sum to more than 1"),
        ({"mean()": f"mean() + {ENTROPY}"}, "that is the KL divergence"),
        ({"if e": "if True"}, "makes it NaN"),
        ({"mean()": "sum()"}, "it is the sum"),
        ({REAL: "losses"}, "ignore=0 has no effect"),
        ({REAL: "(losses * (targets != ignore))"}, "counted in the"),
        ({"log_p.sum(-1)": "log_p.sum(-1).mean()"}, "leave out the whole row"),
        ({"log_p.sum(-1)": f"log_p[{HERE}].sum()"}, "summed over the rows"),
        ({".log_softmax(-1)": ""}, WORDS),
        ({"log_softmax": "softmax(-1).log_softmax"}, "taken twice"),
    ],
)


def noam(step, d_model, warmup):
    rise, fall = step * warmup**-1.5, max(step, 1) ** -0.5
    return d_model**-0.5 * min(rise, fall)


def noam_as_tensor(step, d_model, warmup):
    step = torch.tensor(float(step), dtype=torch.float64)
    curves = torch.stack((step.rsqrt(), step * warmup**-1.5))
    return d_model**-0.5 * curves.amin()


FROM_0 = {"step * warmup": "(step + 1) * warmup", "max(step, 1)": "(step + 1)"}
HEIGHT, NO_WARMUP, RISES = "d_model ** -0.5", "no warmup", "never stops increasing"

NOAM = Cases(
    noam,
    right=[noam_as_tensor],
    wrong=[
        ({"min(": "max("}, "min instead of max"),
        ({"step * warmup**-1.5": "9.0"}, NO_WARMUP),
        ({"max(step, 1) ** -0.5": "9.0"}, RISES),
        ({"d_model**-0.5": "d_model**0.5"}, HEIGHT),
        ({"d_model**-0.5": "1 / d_model"}, HEIGHT),
        ({"d_model**-0.5 * ": ""}, HEIGHT),
        ({"**-1.5": "**-2", " ** -0.5": " ** -1"}, "must decrease as step"),
        ({"warmup**-1.5": "1 / warmup"}, "the peak must be at step"),
        ({"warmup**": "4000**"}, RISES),
        (FROM_0, "first update"),
        ({"step * warmup**-1.5": "step**2 * warmup**-2.5"}, "by the same amount"),
        ({"max(step, 1)": "step"}, "ZeroDivisionError"),
        ({"step * warmup": "max(1, step) * warmup"}, "rate must be 0"),
    ],
)


def warmup_cosine(step, peak, warmup, total, floor=0.0):
    if step < warmup:
        return peak * step / warmup
    done = min(1, (step - warmup) / (total - warmup))
    wave = (1 + math.cos(math.pi * done)) / 2
    return floor + (peak - floor) * wave


def cosine_as_tensor(step, peak, warmup, total, floor=0.0):
    done = torch.tensor((step - warmup) / (total - warmup)).clamp(0, 1)
    fall = floor + (peak - floor) * (done * torch.pi).cos().add(1).div(2)
    return torch.where(torch.tensor(step >= warmup), fall, peak * step / warmup)


DONE, WAVE = "(step - warmup) / (total - warmup)", "(1 + math.cos(math.pi * done)) / 2"
TOP, END = "must be the peak", "must be at the floor"
STOPS, FLOOR = "progress must stop at 1", "decay from peak to floor"
STRAIGHT, HALF_A_WAVE = "must be linear", "half a cosine"

COSINE = Cases(
    warmup_cosine,
    right=[cosine_as_tensor],
    wrong=[
        ({"peak * step / warmup": "peak"}, NO_WARMUP),
        ({"step < warmup": "step < 0", DONE: "step / total"}, NO_WARMUP),
        ({"peak * step": "peak * (step + 1)"}, "must start at 0"),
        ({"step / warmup": "step / (warmup - 1)"}, STRAIGHT),
        ({"< warmup": "< warmup + 1", "/ warmup": "/ (warmup + 1)"}, STRAIGHT),
        ({"(step - warmup)": "(step - warmup + 1)"}, TOP),
        ({DONE: "step / total"}, TOP),
        ({WAVE: "math.cos(math.pi * done)"}, "ends below zero"),
        ({"math.pi": "2 * math.pi"}, END),
        ({"math.pi": "180"}, END),
        ({"(total - warmup)": "total"}, END),
        ({WAVE: "1 - done"}, HALF_A_WAVE),
        ({WAVE: "math.cos(math.pi / 2 * done)"}, HALF_A_WAVE),
        ({"floor + (peak - floor)": "peak"}, FLOOR),
        ({"(peak - floor)": "peak"}, FLOOR),
        ({f"min(1, {DONE})": DONE}, STOPS),
        ({"return floor": "return 0.0 if step > total else floor"}, STOPS),
    ],
)
