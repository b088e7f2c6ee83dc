"""BertViz's two views of our own models, the same text for the same weights.

BertViz (Vig 2019) writes HTML for a notebook: it fetches three scripts of third
parties, and a token may end its script. Here the tokens cannot, and a published page
runs the view from its own copies, which it finds by ``data-bertviz``.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from importlib import resources
from typing import Any

from jaxtyping import Float
from torch import Tensor

REQUIRE = "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"
VIEWS = {"head": "head_view.js", "model": "model_view.js"}
MOST = 64  # tokens; a view of more is a carpet

LOADER = """(() => {
const start = () => {
%s
};
if (globalThis.requirejs) return start();
const script = document.createElement("script");
[script.src, script.onload] = ["%s", start];
document.head.append(script);
})();"""


class BertVizView:
    """A view for a notebook cell to show; ``summary`` says what is in it."""

    def __init__(self, kind: str, params: dict[str, Any], summary: str) -> None:
        told = {**params, "root_div_id": ""}  # BertViz draws one by lot
        digest = hashlib.sha256(json.dumps([kind, told]).encode()).hexdigest()
        self.kind, self.summary = kind, summary
        self.params = {**told, "root_div_id": f"bertviz-{digest[:12]}"}

    def __repr__(self) -> str:
        return f"BertViz, {self.kind} view: {self.summary}"

    def _repr_html_(self) -> str:
        state = json.dumps(self.params, ensure_ascii=False).replace("<", "\\u003c")
        code = resources.files("bertviz").joinpath(VIEWS[self.kind]).read_text("utf-8")
        script = LOADER % (code.replace("PYTHON_PARAMS", state, 1), REQUIRE)
        layer = 'Layer: <select id="layer" aria-label="Layer"></select>'
        choices = "".join(
            f'<option value="{i}">{escape(str(one["name"]))}</option>'
            for i, one in enumerate(self.params["attention"])
        )
        if len(self.params["attention"]) > 1:
            layer += f' Attention: <select id="filter" aria-label="Attention">{choices}'
            layer += "</select>"
        return (
            f'<div class="bertviz" data-bertviz="{self.kind}" data-state="'
            f'{escape(state)}" role="group" tabindex="0" aria-label="{self!r}">'
            f"<p>{self!r}</p>"
            f'<div id="{self.params["root_div_id"]}">'
            f"<span>{layer if self.kind == 'head' else ''}</span>"
            f'<div id="vis"></div></div></div>\n<script>{script}</script>'
        )


def head_view(
    attention: Sequence[Float[Tensor, "..."]], tokens: Sequence[str]
) -> BertVizView:
    """Show one layer's weights as lines from each query (left) to its keys (right).

    ``attention`` has one tensor (1, n_heads, seq, seq) for each layer, as
    `record_attention` keeps them.

    Raises:
        ValueError: if the weights are not those of these tokens, or are too many.
    """
    from bertviz import head_view as made

    return _view("head", made, attention, tokens)


def model_view(
    attention: Sequence[Float[Tensor, "..."]], tokens: Sequence[str]
) -> BertVizView:
    """Show all layers and heads as small pictures; a click opens one.

    ``attention`` has one tensor (1, n_heads, seq, seq) for each layer, as
    `record_attention` keeps them.

    Raises:
        ValueError: if the weights are not those of these tokens, or are too many.
    """
    from bertviz import model_view as made

    return _view("model", partial(made, display_mode="light"), attention, tokens)


def encoder_decoder_view(
    encoder: Sequence[Float[Tensor, "..."]],
    decoder: Sequence[Float[Tensor, "..."]],
    cross: Sequence[Float[Tensor, "..."]],
    source: Sequence[str],
    target: Sequence[str],
) -> BertVizView:
    """Show the head view of a translator; a list chooses one of its three attentions.

    Each of the three has one tensor (1, n_heads, q_len, kv_len) for each layer; in
    cross-attention, the queries (left) are the target's.

    Raises:
        ValueError: if the weights are not those of these tokens, or are too many.
    """
    from bertviz import head_view as made

    _check_tokens(source)
    _check_tokens(target)
    page = _quietly(
        made,
        encoder_attention=_layers(encoder, len(source), len(source)),
        decoder_attention=_layers(decoder, len(target), len(target)),
        cross_attention=_layers(cross, len(target), len(source)),
        encoder_tokens=list(source),
        decoder_tokens=list(target),
    )
    summary = (
        f"{len(cross)} layers of {cross[0].shape[1]} heads from {len(target)} tokens "
        f"to {len(source)}"
    )
    return BertVizView("head", _told(page), summary)


def _view(
    kind: str,
    made: Callable[..., Any],
    attention: Sequence[Tensor],
    tokens: Sequence[str],
) -> BertVizView:
    """Take what BertViz's script is told out of the HTML that it writes."""
    _check_tokens(tokens)
    layers = _layers(attention, len(tokens), len(tokens))
    summary = (
        f"{len(attention)} layers of {attention[0].shape[1]} heads on "
        f"{len(tokens)} tokens"
    )
    return BertVizView(kind, _told(_quietly(made, layers, list(tokens))), summary)


def _check_tokens(tokens: Sequence[str]) -> None:
    if not 1 <= len(tokens) <= MOST:
        raise ValueError(f"BertViz takes 1 to {MOST} tokens here, got {len(tokens)}")


def _layers(attention: Sequence[Tensor], q_len: int, kv_len: int) -> list[Tensor]:
    """Return the weights of each layer, rounded.

    Raises:
        ValueError: if there is none, or one has another shape.
    """
    if not attention:
        raise ValueError("attention must have one tensor for each layer, got none")
    for one in attention:
        if one.ndim != 4 or len(one) != 1 or one.shape[2:] != (q_len, kv_len):
            tokens = f"{q_len}" if q_len == kv_len else f"{q_len} by {kv_len}"
            raise ValueError(
                "attention must be (1, n_heads, seq, seq) with seq the number of "
                f"tokens, got {tuple(one.shape)} for {tokens} tokens"
            )
    return [one.detach().cpu().double().round(decimals=3) for one in attention]


def _quietly(made: Callable[..., Any], *args: Any, **how: Any) -> str:
    """Return the HTML that BertViz writes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # BertViz closes no file
        page = made(*args, **how, prettify_tokens=False, html_action="return")
    return str(page.data)


def _told(page: str) -> dict[str, Any]:
    found = re.search(r"const params = (.*); // HACK", page)
    assert found is not None
    told: dict[str, Any] = json.loads(found[1])
    return told
