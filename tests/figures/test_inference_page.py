"""The models in Chromium: they come from disk and from a server, once per page."""

import random

import pytest
import torch
from figure_page import ROOT, run_node
from inference_jobs import drawn, shipped
from tolerances import PAGE_TOLERANCE

from transformer_book.figures.weights import dequantized, pack, parts

BUNDLES = ("one", "two")
READ = """async ([name, chunks]) => {
  const [{ loadModel, createSession }] = TestInference;
  const shares = [];
  const model = await loadModel(name, { progress: (share) => shares.push(share) });
  const session = createSession(model);
  let logits;
  for (const chunk of chunks) logits = session.read(chunk);
  return { shares, logits: [...logits] };
}"""
TWICE = """async (name) => {
  const all = await Promise.all(TestInference.map(({ loadModel }) => loadModel(name)));
  await TestInference[0].loadModel(name);
  const buffers = all.map((model) => model.tensor("embedding.weight").data.buffer);
  const left = Object.keys(TransformerWeights).length;
  return [buffers.length, new Set(buffers).size, left];
}"""
REFUSED = """async (name) => {
  const [{ loadModel }] = TestInference;
  return loadModel(name).then(() => "it came", (error) => error.message);
}"""


@pytest.fixture(scope="module")
def inference_site(site):
    """The site with two bundles of the inference."""
    esbuild = ROOT / "node_modules/esbuild/bin/esbuild"
    entry = ROOT / "tests/figures/inference_page.mjs"
    tags = '<script src="figure-host.js"></script>'
    for name in BUNDLES:
        out = site / f"figures/{name}.js"
        run_node(esbuild, entry, "--bundle", "--format=iife", f"--outfile={out}")
        tags += f'<script src="figures/{name}.js"></script>'
    page = f'<!doctype html><html lang="en"><title>Inference</title>{tags}'
    icon = '<link rel="icon" href="data:,">'
    (site / "inference.html").write_text(page + icon)
    return "inference.html"


@pytest.fixture(params=["server", "disk"])
def opened(visit, inference_site, request):
    """The page from a server and from disk."""
    page = visit()
    return page.open(inference_site, disk=request.param == "disk", live=False)


@torch.no_grad()
def test_a_model_comes_part_by_part_and_says_the_same(opened):
    tokens = drawn(random.Random(0), 512, 40)
    want = dequantized(shipped("manual-lm").model)(torch.tensor([tokens]))[0, -1]
    said = opened.evaluate(
        READ, ["manual-lm", [tokens[:35], *([t] for t in tokens[35:])]]
    )
    assert float((torch.tensor(said["logits"]) - want).abs().max()) <= PAGE_TOLERANCE
    count = len(parts(pack("manual-lm")))
    assert count > 5
    assert said["shares"] == [0, *(n / count for n in range(1, count + 1))]


def test_all_figures_of_a_page_share_the_numbers(opened):
    asked = []
    opened.on("request", lambda request: asked.append(request.url))
    assert opened.evaluate(TWICE, "manual-lm") == [2, 1, 0]
    assert len(asked) == len(set(asked)) == len(parts(pack("manual-lm")))
    assert opened.locator("script").count() == 1 + len(BUNDLES)  # the host, too


def test_a_model_that_is_not_there_is_said_to_be_missing(visit, inference_site):
    visited = visit()
    page = visited.open(inference_site, live=False)
    said = page.evaluate(REFUSED, "../nobody")
    assert said == 'the model "../nobody" did not load'
    assert all("404" in error for error in visited.errors)  # the browser's own words
    visited.errors.clear()
