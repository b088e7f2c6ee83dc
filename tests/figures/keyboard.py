"""Where the Tab key leads in a figure: roles and names, as screen readers say them."""

from typing import Any, NamedTuple

from playwright.sync_api import CDPSession, Page

FOCUSED = "document.activeElement?.shadowRoot?.activeElement"
# Whether the stop is a part of the formula, and in which grid it is.
AROUND = f"""[!!{FOCUSED}.closest(".formula"),
  {FOCUSED}.closest("[role=grid]")?.ariaLabel]"""
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
PUT = "(all) => { for (const name in all) given.model.set(name, all[name]); }"
KEEP = """(traits) => {
  const text = () => JSON.stringify(traits.map((name) => given.model.get(name)));
  const kept = text();
  globalThis.isAsKept = () => text() === kept;
  globalThis.putBack = () =>
    JSON.parse(kept).forEach((value, i) => given.model.set(traits[i], value)); }"""


class Stop(NamedTuple):
    """One stop of the Tab key."""

    role: str
    name: str

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


class Walker:
    """Goes through the first figure of a page, which has run RECORD first, by Tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session: CDPSession = page.context.new_cdp_session(page)

    def next(self) -> Stop | None:
        """Press Tab: the stop, or None behind the figure's last one."""
        self.page.keyboard.press("Tab")
        at = self.session.send("Runtime.evaluate", {"expression": FOCUSED})["result"]
        if at.get("subtype") != "node":
            return None
        options = {"objectId": at["objectId"], "fetchRelatives": False}
        said = self.session.send("Accessibility.getPartialAXTree", options)["nodes"][0]
        role, name = (said[key]["value"] for key in ("role", "name"))
        is_formula, grid = self.page.evaluate(AROUND)
        if role == "gridcell":
            return Stop("cell of", grid)
        return Stop("formula" if is_formula else role, name)

    def put(self, state: dict[str, Any]) -> None:
        """Set these traits, as Python would."""
        self.page.evaluate(PUT, state)

    def keep(self, traits: list[str]) -> None:
        """Remember, in the page, how the figure stands now."""
        self.page.evaluate(KEEP, traits)

    def put_back(self) -> None:
        """Let the figure stand as it did then."""
        self.page.evaluate("putBack()")

    def has_changed(self) -> bool:
        """Whether the figure stands otherwise than it did then."""
        return not self.page.evaluate("isAsKept()")
