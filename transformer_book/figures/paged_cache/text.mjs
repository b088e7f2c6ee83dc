// What the figure says: sentence, data table, and a program for PyTorch. No DOM.
import { python } from "../kit/index.mjs";
import { readBy } from "./numbers.mjs";

/** A user's name: A, B, C. */
export const letter = (id) => "ABCDEFGH"[id];

const names = (ids) => {
  const all = ids.map(letter);
  const last = all.pop();
  return all.length ? `${all.join(", ")} and ${last}` : last;
};

/** Whose the blocks are that several users read: "A+ shared by A and B". */
export function sharing({ slots }) {
  const all = new Map(); // who came first -> everybody
  for (const { users } of slots.filter((slot) => slot.users.length > 1))
    all.set(users[0], new Set([...(all.get(users[0]) ?? []), ...users]));
  const who = (ids) => (ids.length > 3 ? `${ids.length} users` : names(ids));
  return [...all].map(([first, ids]) => `${letter(first)}+ shared by ${who([...ids])}`);
}

const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

/** The last pass of the way that takes longer. */
export const lastPass = ({ ways }) => Math.max(...ways.map(({ n }) => n));

function overview(geometry) {
  const { state, ways } = geometry;
  const [whole, blocks] = ways.map(({ pass, held, empty }) =>
    pass
      ? `${count(pass.users.length, "user")} in the batch, ${held} slots with tokens, ${empty} taken but empty`
      : "everybody is served",
  );
  const now = `Pass ${state.step}. Reservations: ${whole}. Blocks: ${blocks}.`;
  return state.step > lastPass(geometry)
    ? `${now} That took ${ways[0].n} passes, or ${ways[1].n} with blocks.`
    : now;
}

/** Where a user's tokens are, as its block table says it. */
const tableOf = ({ pass }, id) => {
  const { table } = pass.users.find((user) => user.id === id);
  return `${letter(id)}'s block table: ${table.join(", ")}`;
};

function inReservation(at, slot) {
  const { users, token, fresh } = slot;
  if (!users.length) return `Slot ${at} is free: no user has reserved it.`;
  const who = letter(users[0]);
  if (token < 0) return `Slot ${at} is reserved for user ${who}, and empty.`;
  return `Slot ${at}: token ${token} of user ${who}${fresh ? ", read in this pass" : ""}.`;
}

function inBlock(way, at, slot) {
  const { users, token, fresh } = slot;
  const where = `Slot ${at}, in block ${Math.floor(at / way.size)}`;
  if (!users.length) return `${where}, is free: any user may take the block.`;
  const who = `user${users.length > 1 ? "s" : ""} ${names(users)}`;
  const what = token < 0 ? `taken by ${who}, and empty` : `token ${token} of ${who}`;
  const more = users.length > 1 && token >= 0 ? ", stored once" : "";
  const now = fresh ? ", read in this pass" : "";
  return `${where}: ${what}${more}${now}. ${tableOf(way, users.at(-1))}.`;
}

/** The live sentence; `active` is [row, column] of a slot, or null. */
export function sentence(geometry, active) {
  if (!active) return overview(geometry);
  const [row, column] = active;
  const at = (row % 4) * 16 + column;
  const way = geometry.ways[row < 4 ? 0 : 1];
  const slot = way.slots[at];
  if (row < 4) return `Reservations. ${inReservation(at, slot)}`;
  return `Blocks. ${inBlock(way, at, slot)}`;
}

/** What a cell is called: it contains the letter that the cell shows. */
export function label(way, i) {
  const { users, token } = way.slots[i];
  if (token >= 0)
    return `${letter(users[0])}${users.length > 1 ? "+" : ""}, token ${token}, slot ${i}`;
  return `${users.length ? `empty, taken by ${letter(users[0])}` : "free"}, slot ${i}`;
}

/** What stands under each picture: who is read, and who waits. */
export function caption({ pass, slots }, total) {
  if (!pass) return ["Everybody is served.", ""];
  const read = pass.users.map(({ id, n }) => `${letter(id)} ${n}`);
  const waiting = pass.waiting.map(letter).join(" ") || "nobody";
  const done = total - pass.users.length - pass.waiting.length;
  const hasOld = slots.some(({ token, fresh }) => token >= 0 && !fresh);
  const reads = `Reads ${readBy(pass)}${hasOld ? " (bold)" : ""}`;
  return [
    `${reads}: ${read.join(", ")}`,
    `Waiting: ${waiting}. Done: ${done} of ${total}`,
  ];
}

export const table = (geometry) => ({
  caption: "Every pass, with reservations and with blocks",
  header: [
    "pass",
    ...["reservations", "blocks"].flatMap((way) => [
      `${way}: users`,
      `${way}: tokens read`,
      `${way}: waiting`,
    ]),
  ],
  rows: Array.from({ length: Math.max(2, lastPass(geometry)) }, (_, i) => [
    i + 1,
    ...geometry.ways.flatMap(({ passes }) => [
      passes[i]?.users.length ?? 0,
      readBy(passes[i]),
      passes[i]?.waiting.length ?? 0,
    ]),
  ]),
});

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch({ prompts, answers, prefix, block_size, budget }, { ways }) {
  const passes = ways[1].passes.map(({ users }) =>
    users
      .filter(({ n }) => n)
      .map(({ id, n, table, isLast }) => [id, n, isLast ? [] : table]),
  );
  return `import torch

from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder
from transformer_lib.serving import ContinuousBatch, Request

prompts, answers = ${python(prompts)}, ${python(answers)}
config = Config(vocab_size=144, d_model=8, n_layers=1, n_heads=1, d_ff=8, max_len=16)
batch = ContinuousBatch(
    Decoder(config),
    n_blocks=64 // ${block_size},
    block_size=${block_size},
    max_users=len(prompts),
    max_tokens=${budget},
)
users = []
for i, (n, new) in enumerate(zip(prompts, answers)):
    own = 16 + 16 * i  # so only the first ${prefix} tokens are the same in all prompts
    prompt = [p if p < ${prefix} else own + p for p in range(n)]
    choose = lambda logits, own=own: torch.tensor([own])
    users.append(Request(prompt, new, choose))
    batch.add(users[-1])

passes = []
while batch.waiting or batch.running:
    plan = batch.step()
    passes.append([[users.index(user), n, user.table[:]] for user, n in plan])
shown = ${python(passes)}
assert passes == shown, passes
`;
}
