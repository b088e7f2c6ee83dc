"""The trained models in the page: speed in Node and in Chromium, and sizes.

Limits for manual-lm: a step with the cache 10 ms, a prefill of 64 tokens 100 ms.
"""

from __future__ import annotations

import base64
import gzip
import json
import tempfile
from pathlib import Path

from benchmarks.harness import Report, Row, browser_page
from booksite.node import run_node
from transformer_book import pretrained
from transformer_book.figures.weights import pack, scripts

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks/page.mjs"
MODELS = ("manual-lm", "number-translator")
ACTIONS = {
    "prefill": ("manual-lm, prefill of 64 tokens", 64, "tokens"),
    "step": ("manual-lm, a step with the cache", 1, "tokens"),
    "unpack": ("manual-lm, from bytes to a session", 1, "models"),
    "translate": ("number-translator, one number", 1, "numbers"),
}
BUNDLE = f"""import {{ measure }} from {json.dumps(str(SCRIPT))};
const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
globalThis.measure = (texts) => measure(...texts.map(bytes));"""

Times = dict[str, list[float]]


def in_node() -> Times:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in MODELS]
        for file in files:
            file.write_bytes(pack(file.name))
        return json.loads(run_node(ROOT, str(SCRIPT), *map(str, files)))


def in_chromium(slower: int = 1) -> Times:
    """Time in a real browser, its processor slowed down so many times."""
    options = ["--bundle", "--minify", "--format=iife", "--external:node:fs"]
    # at the top level of a classic script nothing can be awaited
    options += ["--define:globalThis.process=undefined", "--target=es2022"]
    code = run_node(ROOT, "node_modules/esbuild/bin/esbuild", *options, input=BUNDLE)
    with browser_page(slower) as page:
        page.add_script_tag(content=code)
        texts = [base64.b64encode(pack(name)).decode() for name in MODELS]
        return page.evaluate("(texts) => measure(texts)", texts)


def sizes() -> dict[str, float | str]:
    """Return what each model's scripts weigh on the way to a reader, in kB gzipped."""
    return {
        f"{name}, kB gzipped": sum(
            len(gzip.compress(text.encode())) for _, text in scripts(name)
        )
        / 1000
        for name in pretrained.names()
    }


def measure() -> list[Report]:
    report = Report("page", "The trained models in JavaScript, on one core.")
    hosts = {
        "Node": in_node(),
        "Chromium": in_chromium(),
        "Chromium, 4 times slower": in_chromium(slower=4),
    }
    for host, times in hosts.items():
        for action, (title, work, unit) in ACTIONS.items():
            seconds = [time / 1000 for time in times[action]]
            report.rows[f"{host}: {title}"] = Row(seconds, work, unit)
    report.facts = sizes()
    return [report]
