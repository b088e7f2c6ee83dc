"""notebook: a silent, repeatable start, and source code shown as it stands."""

import inspect
from pathlib import Path

import matplotlib as mpl
import pytest
import torch
from commands import python_says

from transformer_book.notebook import device, setup, show
from transformer_lib import attention, positions


@pytest.fixture
def _kept():
    """Put back what `setup` sets for the whole process."""
    with mpl.rc_context(), torch.random.fork_rng():
        yield
    torch.set_printoptions(profile="default")


@pytest.mark.usefixtures("_kept")
def test_setup_is_silent_and_may_be_called_again(capfd):
    found = []
    for _ in range(2):
        setup()
        printed = repr(torch.tensor([1.23456]))
        found.append((torch.rand(3).tolist(), dict(mpl.rcParams), printed))
    assert found[0] == found[1]
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("_kept")
def test_setup_seeds_prints_two_decimals_and_puts_on_the_style():
    setup(seed=3)
    drawn = torch.rand(2)
    assert drawn.equal(torch.rand(2, generator=torch.Generator().manual_seed(3)))
    printed = repr(torch.tensor([1.23456, 1e-6]))
    assert printed.replace(" ", "") == "tensor([1.23,0.00])"  # older PyTorch pads
    assert mpl.rcParams["savefig.transparent"] is True
    assert mpl.rcParams["axes.spines.top"] is False
    colors = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    assert colors[0].lstrip("#").upper() == "0072B2"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home without settings, but with the list of fonts, which takes seconds."""
    folder = str(tmp_path_factory.mktemp("home"))
    return {"PATH": "", "MPLCONFIGDIR": mpl.get_cachedir(), "HOME": folder}


SHAPES = "TRANSFORMER_LIB_CHECK_SHAPES"
SAY = """
from transformer_book.notebook import setup
setup()
setup()
import torch
from transformer_lib.attention import attention
x = torch.zeros(3, 4)

def say():
    try:
        attention(x, torch.zeros(3, 5), x)
    except Exception as error:
        print(type(error).__name__)

"""


WATCHED = f"""
import sys

def watch(event, details):
    assert not event.startswith(("socket.connect", "socket.getaddrinfo")), details

sys.addaudithook(watch)
{SAY}
say()
from transformer_book.tasks import manual_text, number_words
assert manual_text() and number_words(3) == "three"
"""


def test_shapes_are_enforced_only_if_asked_for_and_nothing_needs_a_network(home):
    said = python_says("-c", WATCHED, env=home | {SHAPES: "0"})
    assert said == "ValueError\n"


CELLS = f"""
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
from transformer_book import shape_checks
shape_checks.CHECKS = 40
{SAY}
def train():
    say()
    for _ in range(20):
        attention(x, x, x)
    say()

shell.user_ns.update(say=say, train=train)
for cell in ("train()", "say()"):
    assert shell.run_cell(cell).success
"""


def test_a_cell_checks_its_first_shapes_and_the_next_cell_checks_again(home):
    said = python_says("-c", CELLS, env=home | {SHAPES: "1"})
    assert said.split() == ["TypeCheckError", "ValueError", "TypeCheckError"]


def test_the_device_is_one_that_works():
    assert torch.ones(2, device=device()).sum() == 2
    assert (device().type == "cuda") == torch.cuda.is_available()


@pytest.mark.parametrize(
    ("thing", "module"),
    [
        (attention.attention, attention),
        (attention.Attend, attention),
        (positions.RotaryPositions, positions),
        (positions.RotaryPositions.rotation, positions),
    ],
)
def test_show_gives_the_source_as_it_stands_in_the_file(thing, module):
    shown = show(thing)
    place, _, line = shown.title.rpartition(", line ")
    assert place == module.__name__.replace(".", "/") + ".py"
    file = Path(module.__file__).read_text("utf-8")
    rest = file.splitlines(keepends=True)[int(line) - 1 :]
    assert "".join(rest).startswith(shown.code)
    assert f" {thing.__name__}(" in shown.code.replace("):", "(")
    assert inspect.cleandoc(thing.__doc__).splitlines()[0] in shown.code
    assert shown.code.endswith("\n")


def test_show_is_markdown_in_a_notebook_and_text_elsewhere():
    shown = show(attention.attention)
    assert shown._repr_markdown_() == f"`{shown.title}`\n\n```python\n{shown.code}```\n"
    assert repr(shown) == f"# {shown.title}\n{shown.code}"


def test_what_has_no_source_is_refused():
    made = {}
    exec("def typed(): pass", made)
    message = "show needs a function or class written in Python, got "
    for thing in (len, 3, made["typed"], torch.Tensor.sum):
        with pytest.raises(ValueError, match=message):
            show(thing)
