"""All the figures in one notebook, in JupyterLab and, by night, the classic Notebook.

One has the book's ipywidgets, the other Colab's; what a figure shows is the same in
both. Over real messages, each shows Python's state, tells Python what its reader did,
and follows Python back; the models come from Python, and controls drive a figure.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest
from browser import require_chromium
from commands import run
from figure_examples import EXAMPLES
from figure_page import said_of
from hosts import HOSTS, book_python, classic_python
from open_notebook import Notebook, opened
from playwright.sync_api import Locator, expect

from transformer_book.figures import KVCacheStepper

WIDGETS = str(Path(__file__).parents[1] / "figures")
PINS = Path(__file__).with_name("classic.txt")
# A warning is an error, but for those of older packages, of each other and of Pythons
# that came after them.
START = f"""\
import sys, warnings
sys.path.append({WIDGETS!r})
warnings.simplefilter("error")
old = r"(ipywidgets|ipykernel|jupyter_client|IPython|zmq)(\\.|$)"
warnings.filterwarnings("ignore", category=DeprecationWarning, module=old)
import hashlib, ipywidgets, json, traitlets
from IPython.display import display
from figure_examples import EXAMPLES
figures = {{name: example.make() for name, example in EXAMPLES.items()}}
show = get_ipython().display_formatter.format
bundles = [show(figure)[0] for figure in figures.values()]
display(*figures.values())"""
# A bad state is refused, and changes nothing; what is linked changes together.
IN_PYTHON = """\
def refuses(figure, bad):
    before = figure.state()
    try:
        figure.update(**bad)
    except ValueError as error:
        return "got" in str(error) and figure.state() == before
def is_linked(example):
    one, other = example.make(), example.make()
    (trait, value), *_ = example.changed.items()
    traitlets.link((one, trait), (other, trait))
    one.set_trait(trait, value)
    return getattr(other, trait) == value
wrong = [name for name, e in EXAMPLES.items()
         if not (refuses(figures[name], e.bad) and is_linked(e))]
views = {b.pop("application/vnd.jupyter.widget-view+json")["version_major"]
         for b in bundles}
shown = json.dumps(bundles, sort_keys=True).encode()
print(views, wrong, hashlib.sha256(shown).hexdigest())"""
CELLS = (
    START,
    "def has(name, wanted):\n"
    "    now = figures[name].state()\n"
    "    return all(now[trait] == value for trait, value in wanted.items())\n"
    "deaf = [name for name in EXAMPLES if not has(name, EXAMPLES[name].changed)]\n"
    "print(len(figures), 'figures, deaf:', *deaf)",
    "for name, example in EXAMPLES.items():\n"
    "    start = example.make().state()\n"
    "    figures[name].update(**{trait: start[trait] for trait in example.changed})",
    "writer = figures['kv_cache_stepper']\n"
    "print(writer.source, repr(writer.prompt), writer.step, *writer.picks)",
    "from ipywidgets import Text\n"
    "from transformer_book.figures import KVCacheStepper, drive\n"
    "field = Text(value='If the', continuous_update=False)\n"
    "driven = drive(KVCacheStepper(), KVCacheStepper.written, prompt=field)\n"
    "driven",
    "print(repr(driven.figure.prompt), 'step', driven.figure.step)",
    "mask = figures['softmax_mask']\n"
    "sliders = [ipywidgets.FloatSlider(max=2, step=0.5) for _ in range(2)]\n"
    "traitlets.link((sliders[0], 'value'), (mask, 'temperature'))\n"
    "ipywidgets.jslink((sliders[1], 'value'), (mask, 'temperature'))\n"
    "ipywidgets.VBox(sliders)",
    "print(mask.selected, mask.scores[3][1], mask.temperature, sliders[0].value)",
    IN_PYTHON,
)
MODELS = 5  # of the figures: each of these says where its model runs


def figure(notebook: Notebook, name: str) -> Locator:
    """The named figure below the first cell."""
    return notebook.cell(0).locator(".tl-live").nth([*EXAMPLES].index(name))


def says_what_python_says(notebook: Notebook) -> None:
    """Each figure is alive, and its sentence is that of a fresh one in Python."""
    for name, example in EXAMPLES.items():
        live = figure(notebook, name)
        expect(live.locator(".say"), name).to_have_text(said_of(example.make()))
        expect(live.locator(".error"), name).to_be_hidden()


def all_are_alive(notebook: Notebook) -> None:
    """Every figure is drawn, and each model has come from Python.

    Though the figures that asked for them are gone: the cell is run again at once.
    """
    cell = notebook.run(0)
    expect(cell.locator(".tl-live")).to_have_count(len(EXAMPLES), timeout=90_000)
    notebook.page.keyboard.press("Control+Enter")
    prompt = cell.locator(notebook.host.prompt)
    expect(prompt).to_have_text(re.compile(r"\[[2-9]\]"), timeout=90_000)
    expect(cell.locator(".tl-live")).to_have_count(len(EXAMPLES), timeout=90_000)
    says_what_python_says(notebook)
    here = re.compile("runs in this page")
    told = cell.locator(".coming", has_text=re.compile("the model ", re.IGNORECASE))
    expect(told).to_have_text([here] * MODELS)
    expect(cell.locator("progress")).to_have_count(0)


def python_hears_each(notebook: Notebook) -> None:
    """Keys pressed in a figure change its state in Python."""
    for name, example in EXAMPLES.items():
        live = figure(notebook, name)
        live.locator("[data-row][tabindex='0']").first.focus()
        for key in example.keys:
            notebook.page.keyboard.press(key)
        expect(live.locator(".say"), name).to_have_text(re.compile(example.said))
    notebook.comes_to_say(1, f"{len(EXAMPLES)} figures, deaf:")


def each_follows_python(notebook: Notebook) -> None:
    """Python sets back what the keys have changed, and each figure shows it."""
    notebook.run(2)
    says_what_python_says(notebook)


def page_computes_for_python(notebook: Notebook) -> None:
    """A text typed in the page is written on there, and Python has the result."""
    live = figure(notebook, "kv_cache_stepper")
    live.locator("summary", has_text="More").click()
    live.get_by_label("Your prompt").fill("A name")
    for _ in range(2):
        live.get_by_role("button", name="Step", exact=True).click()
    picks = KVCacheStepper.written("A name")["picks"][:3]
    notebook.comes_to_say(3, " ".join(["page 'A name' 2", *picks]))


def field_drives_a_figure(notebook: Notebook) -> None:
    """A field asks Python, the figure shows the answer, and Python hears its Step."""
    driven = notebook.run(4)
    said = driven.locator(".tl-live .say")
    step = driven.get_by_role("button", name="Step", exact=True)
    want = KVCacheStepper()
    want.update(**KVCacheStepper.written("If the"))
    expect(said).to_have_text(said_of(want))
    field = driven.locator(".widget-text input")
    field.fill("A name")
    field.press("Enter")
    want.update(**KVCacheStepper.written("A name"))
    expect(said).to_have_text(said_of(want))
    step.click()
    want.step += 1
    expect(said).to_have_text(said_of(want))
    notebook.comes_to_say(5, f"'A name' step {want.step}")


def mouse_and_sliders_move_a_figure(notebook: Notebook) -> None:
    """One slider by way of Python, one in the page; no key reaches the notebook."""
    live = figure(notebook, "softmax_mask")
    temperature = live.locator("output").first
    handles = notebook.run(6).locator(notebook.host.handle)
    expect(handles).to_have_count(2)
    for handle, shown in ((handles.nth(0), "0.50"), (handles.nth(1), "1.00")):
        handle.focus()
        notebook.page.keyboard.press("ArrowRight")
        expect(temperature).to_have_text(shown)
    cell = live.locator("[data-row='3'][data-col='1']").first
    cell.click()
    for key in ("+", "b", "ArrowRight", "ArrowLeft", "Escape", "Enter"):
        notebook.page.keyboard.press(key)
    expect(cell).to_have_attribute("aria-label", re.compile("score 1.4"))
    expect(cell).to_have_attribute("aria-selected", "true")
    notebook.comes_to_say(7, "[3, 1] 1.4 1.0 1.0")


def either_python_shows_the_same(notebook: Notebook) -> None:
    examples = [example.make() for example in EXAMPLES.values()]
    bundles = [{"text/plain": repr(e), "text/html": e.html()} for e in examples]
    shown = json.dumps(bundles, sort_keys=True).encode()
    notebook.comes_to_say(8, f"{{2}} [] {hashlib.sha256(shown).hexdigest()}")


def test_older_packages_are_the_pinned_ones() -> None:
    lines = PINS.read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    ask = "import sys; from importlib.metadata import version; "
    ask += "print(*map(version, sys.argv[1:]))"
    assert run(classic_python(), "-c", ask, *pins).stdout.split() == [*pins.values()]
    assert pins["ipywidgets"] == "7.7.1"
    assert run(book_python(), "-c", ask, "ipywidgets").stdout.startswith("8.")


CLASSIC = pytest.param("classic", marks=pytest.mark.nightly)


@pytest.mark.parametrize("name", ["jupyterlab", CLASSIC])
def test_all_figures_live_in_a_notebook_both_ways(name, chromium, tmp_path) -> None:
    require_chromium()
    with opened(chromium, HOSTS[name], CELLS, tmp_path) as notebook:
        all_are_alive(notebook)
        python_hears_each(notebook)
        each_follows_python(notebook)
        page_computes_for_python(notebook)
        field_drives_a_figure(notebook)
        mouse_and_sliders_move_a_figure(notebook)
        either_python_shows_the_same(notebook)
