"""Embeddings, as learners write them."""

import torch
import torch.nn.functional as F
from torch import nn

from wrong_solutions.cases import Cases, Wrong


def embedding(rows=lambda w, t, s: w[t] * s, logits=lambda x, w, s: x @ w.T):
    """Return `Embedding` as a learner writes it, with one thing to get wrong."""

    class Solution(nn.Module):
        def __init__(self, vocab_size, d_model, scale=1.0):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(vocab_size, d_model) / d_model**0.5)
            self.scale = scale

        def forward(self, tokens):
            return rows(self.weight, tokens, self.scale)

        def logits(self, x):
            return logits(x, self.weight, self.scale)

    return Solution


class TwoMatrices(embedding()):
    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model, scale)
        self.unembedding = nn.Linear(d_model, vocab_size, bias=False)

    def logits(self, x):
        return self.unembedding(x)


class OldCopy(embedding()):
    """Copy the first rows; training goes on without the copy."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model, scale)
        self.out = self.weight.detach().clone()

    def logits(self, x):
        return x @ self.out.T


class TiedToATensor(embedding()):
    """Tie by handing over the bare numbers of the matrix."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model, scale)
        self.out = nn.Linear(d_model, vocab_size, bias=False)
        self.out.weight = self.weight.data


class InAModule(embedding()):
    """Leave the rows in a module of PyTorch's, under its name."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        nn.Module.__init__(self)
        self.table = nn.Embedding(vocab_size, d_model)
        self.scale = scale

    def forward(self, tokens):
        return self.table(tokens) * self.scale

    def logits(self, x):
        return x @ self.table.weight.T


class Transposed(embedding()):
    """One column for each token."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(d_model, vocab_size, scale)

    def forward(self, tokens):
        return self.weight[:, tokens].movedim(0, -1) * self.scale

    def logits(self, x):
        return x @ self.weight


class ScaledAtBirth(embedding(lambda w, t, s: w[t])):
    """Scale the rows once, before training: the way out is scaled with them."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model, scale)
        self.weight.data *= scale


class PyTorchsOwn(nn.Embedding):
    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model)
        self.scale = scale

    def forward(self, tokens):
        return super().forward(tokens) * self.scale

    def logits(self, x):
        return torch.einsum("...d,vd->...v", x, self.weight)


class TiedLayer(embedding()):
    """A linear layer whose matrix is the rows."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__(vocab_size, d_model, scale)
        self.out = nn.Linear(d_model, vocab_size, bias=False)
        self.out.weight = self.weight

    def logits(self, x):
        return self.out(x)


def in_place(weight, tokens, scale):
    with torch.no_grad():
        weight *= scale
    return weight[tokens]


def one_hot(weight, tokens, scale):
    return F.one_hot(tokens, len(weight)).float() @ weight * scale


NAMED = "must be named weight"

WRONG_SOLUTIONS = {
    "Embedding": Cases(
        wrong={
            "scale forgotten": Wrong(embedding(lambda w, t, s: w[t]), "not multiplied"),
            "scaled at birth": Wrong(ScaledAtBirth, "not multiplied"),
            "divided": Wrong(embedding(lambda w, t, s: w[t] / s), "divided by scale"),
            "always the root of the width": Wrong(
                embedding(lambda w, t, s: w[t] * w.shape[1] ** 0.5), "whatever scale is"
            ),
            "the root of the scale": Wrong(
                embedding(lambda w, t, s: w[t] * s**0.5), "by the root of scale"
            ),
            "scale added": Wrong(
                embedding(lambda w, t, s: w[t] + s), "the row of each"
            ),
            "scaled in place": Wrong(embedding(in_place), "changed weight in place"),
            "scale on the way out": Wrong(
                embedding(logits=lambda x, w, s: x @ w.T * s), "logits are multiplied"
            ),
            "divided on the way out": Wrong(
                embedding(logits=lambda x, w, s: x @ w.T / s), "logits are divided"
            ),
            "probabilities": Wrong(
                embedding(logits=lambda x, w, s: (x @ w.T).softmax(-1)), "softmax"
            ),
            "logarithms of probabilities": Wrong(
                embedding(logits=lambda x, w, s: (x @ w.T).log_softmax(-1)), "softmax"
            ),
            "cosines": Wrong(
                embedding(logits=lambda x, w, s: F.normalize(x, dim=-1) @ w.T),
                "dot product of each state",
            ),
            "detached on the way in": Wrong(
                embedding(lambda w, t, s: w.data[t] * s), "no gradient"
            ),
            "detached on the way out": Wrong(
                embedding(logits=lambda x, w, s: x @ w.detach().T), "no gradient"
            ),
            "two matrices": Wrong(TwoMatrices, "serves both ends"),
            "an old copy": Wrong(OldCopy, "old copy"),
            "tied to bare numbers": Wrong(TiedToATensor, "cannot assign"),
            "the rows of another name": Wrong(InAModule, NAMED),
            "one column a token": Wrong(Transposed, NAMED),
        },
        right={
            "PyTorch's own": PyTorchsOwn,
            "a tied linear layer": TiedLayer,
            "one-hot vectors": embedding(one_hot),
        },
    ),
}
