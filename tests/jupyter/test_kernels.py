"""Every figure in a kernel with the book's ipywidgets, and in one with Colab's.

What a figure shows is the same in both; its traits reach the page, what the page says
reaches the traits, and controls may be linked to them.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from figure_examples import EXAMPLES
from hosts import book_python, classic_python
from kernels import Kernel, kernel, opened, updates

PINS = Path(__file__).with_name("classic.txt")
VIEW = "application/vnd.jupyter.widget-view+json"
START = """
import warnings
warnings.simplefilter("error")
{allowed}
import json, ipywidgets, traitlets
from figure_examples import EXAMPLES
"""
# The older packages warn of each other, and of the Pythons that came after them.
ALLOWED = """
old = "(ipywidgets|ipykernel|jupyter_client|IPython|zmq)(\\\\.|$)"
warnings.filterwarnings("ignore", category=DeprecationWarning, module=old)
"""
NUMBERS = {
    name: trait
    for name, example in EXAMPLES.items()
    for trait, value in example.changed.items()
    if type(value) is int
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Kernel]]:
    """Both kernels, with the examples imported; there, a warning is an error."""
    with ExitStack() as stack:
        started = {
            where: stack.enter_context(kernel(python(), tmp_path_factory.mktemp(where)))
            for where, python in (("book", book_python), ("classic", classic_python))
        }
        started["book"].run(START.format(allowed=""))
        started["classic"].run(START.format(allowed=ALLOWED))
        yield started


@pytest.fixture(params=["book", "classic"])
def there(request: pytest.FixtureRequest, kernels: dict[str, Kernel]) -> Kernel:
    """Each of the kernels."""
    return kernels[request.param]


@pytest.fixture(params=sorted(EXAMPLES))
def name(request: pytest.FixtureRequest) -> str:
    """Each figure's name."""
    return request.param


def make(there: Kernel, name: str, variable: str) -> tuple[str, dict[str, Any]]:
    """Make the example there; the id of its comm, and the state that the page got."""
    messages = there.run(f"{variable} = EXAMPLES[{name!r}].make()")
    comm = there.value(f"{variable}.comm.comm_id")
    return comm, opened(messages)[comm]


def as_json(state: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(state))


def test_older_packages_are_the_pinned_ones(kernels: dict[str, Kernel]) -> None:
    lines = PINS.read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    kernels["classic"].run("from importlib.metadata import version")
    assert pins == kernels["classic"].value(f"{{n: version(n) for n in {[*pins]}}}")
    assert kernels["classic"].value("ipywidgets.__version__") == "7.7.1"
    assert kernels["book"].value("ipywidgets.__version__").startswith("8.")


def test_both_environments_show_the_same(name: str, kernels: dict[str, Kernel]) -> None:
    bundles = []
    for there in kernels.values():
        (shown,) = (
            message["content"]["data"]
            for message in there.run(f"EXAMPLES[{name!r}].make()")
            if message["msg_type"] == "execute_result"
        )
        assert shown.pop(VIEW)["version_major"] == 2
        bundles.append(shown)
    assert bundles[0] == bundles[1]
    example = EXAMPLES[name].make()
    assert bundles[0] == {"text/plain": repr(example), "text/html": example.html()}


def test_state_goes_both_ways_and_a_bad_one_is_refused(name, there) -> None:
    example = EXAMPLES[name]
    comm, state = make(there, name, "figure")
    first = example.make()
    assert state.items() >= as_json(first.state()).items()
    assert state["_esm"] == first._esm
    there.run(
        "said = ''\n"
        "try:\n"
        f"    figure.update(**EXAMPLES[{name!r}].bad)\n"
        "except ValueError as error:\n"
        "    said = str(error)"
    )
    assert "got" in there.value("said")
    assert there.value("figure.state()") == as_json(first.state())

    changed = as_json(example.changed)
    messages = there.run(f"figure.update(**EXAMPLES[{name!r}].changed)")
    assert updates(messages, comm).items() >= changed.items()

    comm, _ = make(there, name, "figure")
    there.tell(comm, changed)
    assert there.value("figure.state()").items() >= changed.items()


def test_linked_figures_change_together(name: str, there: Kernel) -> None:
    first, _ = make(there, name, "first")
    second, _ = make(there, name, "second")
    trait, value = next(iter(as_json(EXAMPLES[name].changed).items()))
    there.run(f"link = traitlets.link((first, {trait!r}), (second, {trait!r}))")
    assert updates(there.tell(first, {trait: value}), second) == {trait: value}
    assert there.value(f"second.{trait}") == value


@pytest.mark.parametrize("name", NUMBERS)
def test_slider_moves_the_figure_and_back(name: str, there: Kernel) -> None:
    assert len(NUMBERS) >= 3  # or this would say little
    trait = NUMBERS[name]
    value, comm = EXAMPLES[name].changed[trait], make(there, name, "figure")[0]
    there.run("slider = ipywidgets.IntSlider(min=-1, max=1000)")
    there.run(f"link = traitlets.link((figure, {trait!r}), (slider, 'value'))")
    start, slider = there.value("[slider.value, slider.comm.comm_id]")
    assert start != value
    moved = there.tell(slider, {"value": value})
    assert updates(moved, comm) == {trait: value}
    assert updates(there.tell(comm, {trait: start}), slider) == {"value": start}
