"""Packed models: the same bytes each time, small, and brought to pages in parts."""

import base64
import gzip
import json
import re
import subprocess
import sys

import pytest
import torch
from inference_jobs import shipped
from tolerances import BITS_TOLERANCE

from booksite import assets
from transformer_book import pretrained, tasks
from transformer_book.figures import SoftmaxMask, weights
from transformer_book.figures.state import to_json
from transformer_book.figures.weights import (
    PART,
    ServesWeights,
    as_int8,
    dequantized,
    pack,
    pack_model,
    scripts,
    serve,
)
from transformer_book.pretrained import evaluation

ONE_MEGABYTE = 1_000_000
KEPT = {"manual-lm": "int8"}
"""What is stored as something else than float32."""


def header(packed):
    length = int.from_bytes(packed[:4], "little")
    return json.loads(packed[4 : 4 + length])


@pytest.mark.parametrize("name", pretrained.names())
def test_a_model_travels_in_less_than_a_megabyte_and_says_what_it_is(name):
    texts = [text for _, text in scripts(name)]
    assert sum(len(gzip.compress(text.encode())) for text in texts) <= ONE_MEGABYTE
    script = r'.*\["(.*)"\]=\[(\d+), "(.*)"\];\n'
    found = [re.fullmatch(script, text).groups() for text in texts]
    parts, counts, numbers = zip(*found, strict=True)
    assert [*parts] == [f"{name}-{n}" for n in range(len(texts))]
    assert {*counts} == {f"{len(texts)}"}
    assert b"".join(map(base64.b64decode, numbers)) == pack(name)
    model, said = shipped(name), header(pack(name))
    assert said["name"] == name
    assert said["kind"] == type(model.model).__name__
    assert said["about"]["metrics"] == model.metrics
    assert (said["tokenizer"] is None) == (model.tokenizer is None)
    tensors = said["tensors"].values()
    assert {one["type"] for one in tensors} - {KEPT.get(name)} == {"float32"}
    places = [one.get(at, 0) for one in tensors for at in ("values", "scale")]
    assert {place % 4 for place in places} == {0}


@pytest.mark.nightly
def test_another_process_packs_the_same_bytes():
    code = "import sys; from transformer_book.figures.weights import pack;"
    code += "sys.stdout.buffer.write(pack('manual-lm'))"
    assert subprocess.check_output([sys.executable, "-c", code]) == pack("manual-lm")


def test_each_row_is_rounded_to_steps_of_its_own():
    matrix = torch.tensor([[1.27, -0.5, 0.004], [0.0, 0.0, 0.0], [-254.0, 3.0, 127.0]])
    stored = as_int8(matrix)
    assert stored["values"].tolist() == [[127, -50, 0], [0, 0, 0], [-127, 2, 64]]
    assert stored["scale"].shape == (3, 1)
    assert set(as_int8(matrix[0])) == {"values"}
    model = shipped("manual-lm").model
    pairs = zip(model.parameters(), dequantized(model).parameters(), strict=True)
    for exact, near in pairs:
        steps = exact.abs().amax(dim=-1, keepdim=True) / 127
        assert bool(((exact - near).abs() <= 0.5001 * steps).all())
        assert torch.equal(exact, near) == (exact.ndim == 1)


def test_the_loss_of_accuracy_is_as_the_header_says():
    found = shipped("manual-lm")
    said = header(pack("manual-lm"))["about"]["accuracy"]
    assert header(pack("induction-2"))["about"]["accuracy"] is None
    _, text = tasks.split_text(tasks.manual_text(tasks.manual_topics()))
    corpus = tasks.Corpus.of(text, found.tokenizer)
    kinds = {"float32": found.model, "int8": dequantized(found.model)}
    measured = {
        kind: evaluation.text(model, corpus=corpus, length=129)[said["measure"]]
        for kind, model in kinds.items()
    }
    assert said["float32"] == round(found.metrics[said["measure"]], 4)
    lost, said_lost = (one["int8"] - one["float32"] for one in (measured, said))
    assert abs(lost - said_lost) <= BITS_TOLERANCE
    assert 0 < said_lost < 0.001


def test_what_is_no_model_of_the_tower_is_refused():
    with pytest.raises(ValueError, match=r"to pack must be one of .*got Linear"):
        pack_model(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match=r"the book's models are .*got 'nobody'"):
        pack("nobody")


class Served(ServesWeights, SoftmaxMask):
    """A figure that could ask for a model."""


def test_a_figure_hands_over_what_its_page_asks_for():
    figure, sent = Served(tokens=["a", "b"], scores=[[0.0, 0.0], [0.0, 0.0]]), []
    figure.send = lambda content, buffers=None: sent.append((content, buffers))
    before = to_json(figure.state())
    figure._handle_custom_msg({"ask": "weights", "model": "manual-lm"}, [])
    pieces = [buffers[0] for _, buffers in sent]
    assert b"".join(pieces) == pack("manual-lm")
    assert {len(piece) for piece in pieces[:-1]} == {PART}
    assert 0 < len(pieces[-1]) <= PART
    for n, (content, _) in enumerate(sent):
        assert content == {"weights": "manual-lm", "part": n, "of": len(pieces)}
    sent.clear()
    for other in ({"ask": "lunch"}, {}, "text", None):
        serve(figure, other, [])
    assert sent == []
    serve(figure, {"ask": "weights", "model": "nobody"}, [])
    [(content, buffers)] = sent
    assert (content["weights"], buffers) == ("nobody", None)
    assert "the book's models are" in content["problem"]
    assert to_json(figure.state()) == before


def test_the_site_packs_again_only_what_changed(tmp_path, monkeypatch, capsys):
    source = tmp_path / assets.FIGURES / "weights.py"
    source.parent.mkdir(parents=True)
    source.write_text("first")
    out = tmp_path / "_build/static/weights"
    assets.build_weights(tmp_path, out)
    files = {path.name: path.read_text() for path in out.iterdir()}
    wanted = dict(pair for name in pretrained.names() for pair in scripts(name))
    assert files == wanted
    said = capsys.readouterr().out
    assert all(f"weights of {name}: " in said for name in pretrained.names())
    runs = []
    monkeypatch.setattr(weights, "scripts", lambda name: runs.append(name) or [])
    assets.build_weights(tmp_path, out)
    assert runs == []
    source.write_text("second")
    assets.build_weights(tmp_path, out)
    assert runs == pretrained.names()
