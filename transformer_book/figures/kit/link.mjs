// The state in the address: only what differs from the start, one key per figure; the
// figure whose link it is stands last, also where it is as it was at the start.
// The one look outside `el`: a figure's place on the page, so that two do not collide.

/** "name-2" for the second figure of that name on the page; null outside the book. */
export function keyOf(el, name) {
  const place = el.closest(".tl-figure");
  if (!place) return null;
  const all = document.querySelectorAll(`.tl-figure[data-figure="${name}"]`);
  return `${name}-${[...all].indexOf(place) + 1}`;
}

const entries = (hash) =>
  new Map(
    [...hash.matchAll(/([^#&=]+)=([^&]*)/g)].map(([, name, value]) => [name, value]),
  );

const kind = (value) => (Array.isArray(value) ? "array" : typeof value);

/** The part of `state` that differs from `initial`. */
export const difference = (state, initial) =>
  Object.fromEntries(
    Object.entries(state).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(initial[name]),
    ),
  );

/** `hash` with this figure's state written in; other figures' parts stay. */
export function write(hash, key, state, initial) {
  const all = entries(hash);
  all.delete(key); // the page goes to the last one: see `last`
  all.set(key, encodeURIComponent(JSON.stringify(difference(state, initial))));
  return [...all].map(([name, value]) => `${name}=${value}`).join("&");
}

/** Whether the address leads to this figure. */
export const last = (hash, key) => [...entries(hash).keys()].at(-1) === key;

/** The patch for this figure in `hash`, known traits of the right kind only. */
export function read(hash, key, initial) {
  try {
    const patch = JSON.parse(decodeURIComponent(entries(hash).get(key)));
    return Object.fromEntries(
      Object.entries(patch).filter(
        ([name, value]) =>
          Object.hasOwn(initial, name) && kind(value) === kind(initial[name]),
      ),
    );
  } catch {
    return {};
  }
}
