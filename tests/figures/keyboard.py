"""Where the Tab key leads in a figure: roles and names, as screen readers say them."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession, Page

FOCUSED = "document.activeElement?.shadowRoot?.activeElement"
GRID = f"{FOCUSED}.closest('[role=grid]')?.ariaLabel"
FORMULA = f"!!{FOCUSED}.closest('.formula')"
# Keeps what the host gives to the figures that it mounts.
RECORD = """<script>{
  const listened = (make) => (parts) => {
    const { default: figure, ...made } = make(parts);
    const render = (given) => figure.render(globalThis.given = given);
    return figure ? { default: { render } } : made;
  };
  let all;
  Object.defineProperty(globalThis, "TransformerFigures", {
    get: () => all,
    set(given) {
      const { define } = given;
      given.define = (name, needs, make) => define(name, needs, listened(make));
      all = given;
    },
  });
}</script>"""


@dataclass(frozen=True)
class Stop:
    """One stop of the Tab key."""

    role: str
    name: str

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


class Walker:
    """Goes through the first figure of a page by Tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session: CDPSession = page.context.new_cdp_session(page)

    def next(self) -> Stop | None:
        """Press Tab: the stop, or None behind the figure's last one."""
        self.page.keyboard.press("Tab")
        at = self.session.send("Runtime.evaluate", {"expression": FOCUSED})["result"]
        if at.get("subtype") != "node":
            return None
        role, name = self._said(at["objectId"])
        if role == "gridcell":
            return Stop("cell of", self.page.evaluate(GRID))
        if self.page.evaluate(FORMULA):
            return Stop("formula", name)
        return Stop(role, name)

    def state(self, traits: list[str]) -> dict[str, Any]:
        """The figure's state, of a page that has run RECORD first."""
        return self.page.evaluate(
            "(traits) => Object.fromEntries("
            "traits.map((name) => [name, given.model.get(name)]))",
            traits,
        )

    def put(self, state: dict[str, Any]) -> None:
        """Set these traits, as Python would."""
        code = "(all) => { for (const name in all) given.model.set(name, all[name]); }"
        self.page.evaluate(code, state)

    def _said(self, node: str) -> list[str]:
        options = {"objectId": node, "fetchRelatives": False}
        (said, *_) = self.session.send("Accessibility.getPartialAXTree", options)[
            "nodes"
        ]
        return [said[key]["value"] for key in ("role", "name")]
