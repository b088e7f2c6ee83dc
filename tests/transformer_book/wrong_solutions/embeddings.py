"""Embeddings, as learners write them."""

import torch
from torch import nn

from wrong_solutions.cases import Cases, edited


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) / d_model**0.5)
        self.scale = scale

    def forward(self, tokens):
        return self.weight[tokens] * self.scale

    def logits(self, x):
        return x @ self.weight.T


class TiedLayer(Embedding):
    """A linear layer whose matrix is the rows."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model, scale)
        self.out = nn.Linear(d_model, vocab_size, bias=False)
        self.out.weight = self.weight

    def logits(self, x):
        return self.out(x)


def scaled_in_place(weight, scale):
    weight.data *= scale
    return weight


SCALED_AT_BIRTH = {
    "self.scale = scale": "self.weight.data *= scale",
    " * self.scale": "",
}
OLD_COPY = {
    "self.scale = scale": "self.scale, self.copy = scale, self.weight.detach().clone()",
    "@ self.weight.T": "@ self.copy.T",
}
IN_A_MODULE = {
    "weight = nn.Parameter(torch.randn(vocab_size, d_model) / d_model**0.5)": (
        "table = nn.Embedding(vocab_size, d_model)"
    ),
    "self.weight[tokens]": "self.table(tokens)",
    "@ self.weight.T": "@ self.table.weight.T",
}
ONE_COLUMN_A_TOKEN = {
    "(vocab_size, d_model) /": "(d_model, vocab_size) /",
    "self.weight[tokens]": "self.weight[:, tokens].movedim(0, -1)",
    "@ self.weight.T": "@ self.weight",
}
IN_PLACE = "scaled_in_place(self.weight, self.scale)[tokens]"
NAMED, LOGITS = "must be named weight", "x @ self.weight.T"

EMBEDDING = Cases(
    Embedding,
    right=[
        TiedLayer,
        {"self.weight[tokens]": "torch.eye(7)[tokens] @ self.weight"},
    ],
    wrong=[
        ({" * self.scale": ""}, "not multiplied"),
        (SCALED_AT_BIRTH, "not multiplied"),
        ({"* self.scale": "/ self.scale"}, "divided by scale"),
        ({"* self.scale": "* self.weight.shape[1] ** 0.5"}, "whatever scale is"),
        ({"* self.scale": "* self.scale**0.5"}, "by the square root of scale"),
        ({"* self.scale": "+ self.scale"}, "the row of each"),
        ({"self.weight[tokens] * self.scale": IN_PLACE}, "changed weight in place"),
        ({LOGITS: f"{LOGITS} * self.scale"}, "logits are multiplied"),
        ({LOGITS: f"{LOGITS} / self.scale"}, "logits are divided"),
        ({LOGITS: f"({LOGITS}).softmax(-1)"}, "softmax"),
        ({LOGITS: f"({LOGITS}).log_softmax(-1)"}, "softmax"),
        ({"x @": "nn.functional.normalize(x, dim=-1) @"}, "dot product of each state"),
        ({"weight[tokens]": "weight.data[tokens]"}, "no gradient"),
        ({"weight.T": "weight.detach().T"}, "no gradient"),
        (edited(TiedLayer, {"self.out.weight = self.weight": ""}), "serves both ends"),
        (OLD_COPY, "old copy"),
        (edited(TiedLayer, {"= self.weight": "= self.weight.data"}), "cannot assign"),
        (IN_A_MODULE, NAMED),
        (ONE_COLUMN_A_TOKEN, NAMED),
    ],
)
