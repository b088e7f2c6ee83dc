// Uses the first figure of a page in every way, and returns the times in milliseconds.
async () => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const cell = () => root.querySelector("[data-row][tabindex='0']");
  const press = (key) =>
    cell().dispatchEvent(
      new KeyboardEvent("keydown", {
        key,
        bubbles: true,
        composed: true,
        cancelable: true,
      }),
    );
  const slide = (slider, share) => {
    slider.value = String(+slider.min + share * (slider.max - slider.min));
    slider.dispatchEvent(new Event("input"));
  };
  const picture = () => root.querySelector(".fig").innerHTML;
  const times = { key: [], slider: [], button: [], letter: [] };
  const timed = async (what, act) => {
    const before = picture();
    const start = performance.now();
    act();
    await null;
    await null;
    root.host.getBoundingClientRect();
    const time = performance.now() - start;
    if (picture() !== before) times[what].push(time);
  };
  const keys = ["ArrowRight", "ArrowDown", "Enter", "ArrowLeft", "Escape", "ArrowUp"];
  const shown = (what) =>
    [...root.querySelectorAll(what)].filter(
      (node) => node.offsetWidth && !node.disabled,
    );
  for (let i = 0; i < 102; i++) {
    cell().focus();
    await timed("key", () => press(keys[i % 6]));
  }
  for (let i = 0; i < 20; i++) {
    for (const slider of shown("input[type=range]"))
      await timed("slider", () => slide(slider, (i % 11) / 10));
    for (const button of shown(".controls button"))
      await timed("button", () => button.click());
    for (const field of shown(".controls input[type=text]"))
      await timed("letter", () => {
        field.value = i % 2 ? field.value.slice(0, -1) : `${field.value}a`;
        field.dispatchEvent(new Event("input"));
      });
  }
  return times;
};
