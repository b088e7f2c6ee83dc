// What stands below every figure: its table, and what a reader takes away.
import { fold } from "./disclosure.mjs";
import { csv, download, toPNG } from "./export.mjs";
import { h, set } from "./dom.mjs";

/** A real table, filled only while it is open. */
export function tableView() {
  const table = h("table");
  const wide = h("div", { class: "scroll", tabindex: 0 }, table); // it may scroll sideways
  const node = fold("Data table", {}, wide);
  const line = (values, head) =>
    h(
      "tr",
      {},
      values.map((value, i) =>
        h(i && !head ? "td" : "th", { scope: head ? "col" : !i && "row", text: value }),
      ),
    );
  let shown;
  const draw = (make) => {
    if (!node.open) return;
    const data = make();
    const { caption, header, rows } = data;
    const now = JSON.stringify(data);
    if (now === shown) return; // what a reader has marked in it stays
    shown = now;
    table.replaceChildren(
      h("caption", { text: caption }),
      line(header, true),
      ...rows.map((row) => line(row)),
    );
  };
  return { node, draw };
}

/** Whether the reader has not gone on to another part of the figure. */
function isHere(out) {
  const { activeElement } = out.getRootNode();
  return !activeElement || out.parentNode.contains(activeElement);
}

/** The export menu; `get` has svg(), table(), code() and link() (null outside the book). */
export function exportView(name, get) {
  const out = h("textarea", { readonly: true, hidden: true, "aria-label": "Export" });
  const done = h("span", { role: "status" });
  const copy = async (text) => {
    set(out, { hidden: false, value: text });
    const said = navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    set(done, { text: (await said) ? "Copied." : "Copy it below." });
    if (!(await said) && isHere(out)) out.select();
  };
  const item = (text, onclick) => h("button", { type: "button", text, onclick });
  const save = (kind, type, make) =>
    item(kind.toUpperCase(), async () =>
      download(await make(), `${name}.${kind}`, type),
    );
  const link = item("Copy link", () => copy(get.link()));
  const ontoggle = () => set(link, { hidden: get.link() === null });
  const node = fold(
    "Export",
    { ontoggle },
    h(
      "div",
      {},
      h(
        "div",
        { class: "menu" },
        save("svg", "image/svg+xml", get.svg),
        save("png", "image/png", () => toPNG(get.svg())),
        save("csv", "text/csv", () => csv(get.table())),
        item("Copy as PyTorch", () => copy(get.code())),
        link,
        done,
      ),
      out,
    ),
  );
  const forget = () => {
    set(out, { hidden: true, value: "" });
    set(done, { text: "" });
  };
  return { node, forget };
}
