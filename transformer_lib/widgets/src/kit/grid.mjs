// One tab stop for many cells: arrows move, Enter or click locks, Esc unlocks.
const MOVES = {
  ArrowUp: ([r, c]) => [r - 1, c],
  ArrowDown: ([r, c]) => [r + 1, c],
  ArrowLeft: ([r, c]) => [r, c - 1],
  ArrowRight: ([r, c]) => [r, c + 1],
  Home: ([r], size, all) => [all ? 0 : r, 0],
  End: ([r], [rows, cols], all) => [all ? rows - 1 : r, cols - 1],
};

/**
 * Makes the elements below `node` that have data-row and data-col one tab stop.
 * size() -> [rows, cols]; locked() -> [row, col] or null; hover(cell or null);
 * lock(cell or null); key(event, cell) -> true if it used the key (before the others).
 * Returns { update }: call it after every redraw.
 */
export function grid(node, { size, locked, hover, lock, key = () => false }) {
  let at = null;
  const cellOf = (target) => {
    const cell = target.closest?.("[data-row][data-col]");
    return cell && [Number(cell.dataset.row), Number(cell.dataset.col)];
  };
  const find = ([r, c]) => node.querySelector(`[data-row="${r}"][data-col="${c}"]`);
  const clamp = ([r, c]) => {
    const [rows, cols] = size();
    return [Math.max(0, Math.min(rows - 1, r)), Math.max(0, Math.min(cols - 1, c))];
  };
  const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];
  const update = () => {
    at = clamp(at ?? locked() ?? [0, 0]);
    for (const cell of node.querySelectorAll("[data-row][data-col]"))
      cell.setAttribute("tabindex", same(cellOf(cell), at) ? "0" : "-1");
  };
  const toggle = (cell) => lock(same(cell, locked()) ? null : cell);
  const onkey = (event) => {
    const here = cellOf(event.target);
    if (!here || event.altKey || event.metaKey) return;
    if (key(event, here)) event.preventDefault();
    else if (event.key === "Enter") toggle(here);
    else if (event.key === "Escape") lock(null);
    else if (MOVES[event.key]) {
      at = clamp(MOVES[event.key](here, size(), event.ctrlKey));
      update();
      find(at)?.focus();
    } else return;
    event.preventDefault();
  };
  node.addEventListener("keydown", onkey);
  node.addEventListener("click", (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    at = cell;
    update();
    find(at)?.focus({ preventScroll: true });
    toggle(cell);
  });
  node.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") hover(cellOf(event.target));
  });
  node.addEventListener("pointerleave", () => hover(null));
  node.addEventListener("focusin", (event) => {
    at = cellOf(event.target) ?? at;
    hover(cellOf(event.target));
  });
  node.addEventListener("focusout", () => hover(null));
  return { update };
}
