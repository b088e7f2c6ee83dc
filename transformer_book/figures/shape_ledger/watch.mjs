// What the last change did, beside the fields.
import { h, join, set } from "../kit/index.mjs";
import { changes, watched } from "./text.mjs";

/** The change and what it did, beside the fields: what was before is not of the state. */
export function watch() {
  const [said, list] = [h("p", { class: "said" }), h("dl")];
  const node = h("div", { class: "watch panel" }, list, said);
  const sizes = ({ state }) =>
    JSON.stringify({ ...state, selected: null, wrong: null });
  let before, now, from, last;
  const typed = (state) => (from = state);
  const forget = () => (now = null);
  function draw(geometry) {
    // all that is typed into a field at once is one change
    if (!now || sizes(geometry) !== sizes(now)) {
      if (!from || from !== last) before = now ?? geometry;
      last = from;
    }
    from = null;
    now = geometry;
    set(said, { text: changes(before.state, now.state) });
    join(
      list,
      watched(before, now),
      ([name]) => name,
      () => h("div", {}, h("dt"), h("dd")),
      ({ children: [name, value] }, [is, text]) => {
        set(name, { text: is });
        set(value, { text });
      },
    );
  }
  return { node, draw, typed, forget };
}
