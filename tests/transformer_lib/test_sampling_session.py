"""sampling.session: the same numbers in another order of memory."""

import torch
from models import tiny
from tolerances import assert_near
from torch import nn

from transformer_lib.checkpoints import load_model, save_model
from transformer_lib.decoder import Decoder
from transformer_lib.sampling import column_major, generate

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


def decoder():
    torch.manual_seed(0)
    return Decoder(tiny(bias=True)).eval()


def test_matrices_lie_column_by_column_and_keep_their_numbers():
    before, after = decoder(), column_major(decoder())
    for old, new in zip(before.parameters(), after.parameters(), strict=True):
        assert old.equal(new)
        assert new.stride() == ((1, len(new)) if new.ndim == 2 else (1,))


def test_tied_matrices_stay_one():
    model = column_major(decoder())
    assert model.embedding.weight is model.unembedding.weight


def test_logits_and_texts_are_the_same():
    before, after = decoder(), column_major(decoder())
    assert_near(after(TOKENS), before(TOKENS))
    first, second = (
        [int(t) for t in generate(model, TOKENS, max_new_tokens=9)]
        for model in (before, after)
    )
    assert first == second


def test_it_can_still_learn_and_be_saved(tmp_path):
    model = column_major(decoder())
    model(TOKENS).square().sum().backward()
    torch.optim.AdamW(model.parameters()).step()
    save_model(model, tmp_path / "model")
    again, _ = load_model(tmp_path / "model")
    for mine, loaded in zip(model.parameters(), again.parameters(), strict=True):
        assert mine.equal(loaded)


def test_other_shapes_are_left_alone():
    model = nn.Conv1d(2, 3, 4)
    want = model.weight.stride()
    assert column_major(model).weight.stride() == want
