// One tab stop for many cells: arrows move, Enter locks, Esc unlocks, a click does both.
const MOVES = {
  ArrowUp: ([r, c]) => [r - 1, c],
  ArrowDown: ([r, c]) => [r + 1, c],
  ArrowLeft: ([r, c]) => [r, c - 1],
  ArrowRight: ([r, c]) => [r, c + 1],
  PageUp: ([, c]) => [0, c],
  PageDown: ([, c], [rows]) => [rows - 1, c],
  Home: ([r], size, all) => [all ? 0 : r, 0],
  End: ([r], [rows, cols], all) => [all ? rows - 1 : r, cols - 1],
};

export const same = (a, b) => Boolean(a && b) && a[0] === b[0] && a[1] === b[1];
const within = (x, n) => Math.max(0, Math.min(n - 1, x));
export const clamp = ([r, c], [rows, cols]) => [within(r, rows), within(c, cols)];

/** @type {(event: KeyboardEvent, cell: number[]) => boolean} */
const UNUSED = () => false;

/** The keys of a grid: here(event) -> cell or null, go(cell), hold(cell), leave(). */
export function keys(node, { size, here, go, hold, leave, key = UNUSED }) {
  node.addEventListener("keydown", (event) => {
    const cell = here(event);
    if (!cell || event.altKey || event.metaKey) return;
    const move = MOVES[event.key];
    if (key(event, cell)) event.preventDefault();
    else if (event.key === "Enter") hold(cell);
    else if (event.key === "Escape") leave();
    else if (move) go(clamp(move(cell, size(), event.ctrlKey), size()));
    else return;
    event.preventDefault();
  });
}

/**
 * Makes the elements below `node` that have data-row and data-col one tab stop. `node`
 * is HTML: Chromium makes a stop of its own of an <svg> that listens for the focus.
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
  const update = () => {
    at = clamp(at ?? locked() ?? [0, 0], size());
    for (const cell of node.querySelectorAll("[data-row][data-col]"))
      cell.setAttribute("tabindex", same(cellOf(cell), at) ? "0" : "-1");
  };
  const toggle = (cell) => lock(same(cell, locked()) ? null : cell);
  const go = (cell, options) => {
    at = cell;
    update();
    find(at)?.focus(options);
  };
  const leave = () => {
    lock(null);
    hover(null); // the whole is said again, wherever the focus is
  };
  keys(node, {
    size,
    here: (event) => cellOf(event.target),
    go,
    hold: lock,
    leave,
    key,
  });
  node.addEventListener("click", (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    go(cell, { preventScroll: true });
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
