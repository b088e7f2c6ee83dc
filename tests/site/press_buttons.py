"""Presses every button of a page, and those that appear when others are pressed."""

# What is redrawn when it is pressed would come anew for ever: hence the bounds. A
# button that cannot be pressed yet waits for the next round.
ROUNDS, MOST = 4, 400
PRESS = """async () => {
  const buttons = "button, summary, [role=button], [type=radio], [type=checkbox]";
  const rest = (time) => new Promise((done) => setTimeout(done, time));
  const within = (root) => [...root.querySelectorAll("*")].flatMap(
    (e) => [e, ...(e.shadowRoot ? within(e.shadowRoot) : [])]);
  const ready = (e) => e.isConnected && !e.disabled && !e.closest("form");
  const pressed = new Set();
  for (let round = 0; round < ROUNDS; round++) {
    const found = within(document).filter((e) => e.matches(buttons) && ready(e));
    const fresh = found.filter((e) => !pressed.has(e));
    if (!fresh.length) break;
    for (const element of fresh) {
      if (pressed.size === MOST || !ready(element)) continue;
      element.click();
      pressed.add(element);
      await rest(5);
    }
    await rest(100);
  }
  await rest(400);
  return pressed.size;
}""".replace("ROUNDS", str(ROUNDS)).replace("MOST", str(MOST))
