// One queue of users, served in two ways; as transformer_lib.serving does it. No DOM.
import { range, sum } from "../kit/index.mjs";

export const SLOTS = 64;
export const ROOM = 16; // slots of a reservation

/** Who is served: tokens to read first, tokens in the end, tokens that all begin with. */
const queue = ({ prompts, answers, prefix }) =>
  prompts.map((prompt, id) => ({
    id,
    prompt,
    end: prompt + answers[id],
    common: Math.min(prefix, prompt),
    tokens: prompt, // so far
    read: 0,
    table: [],
  }));

/** How many tokens of each user a pass reads: first come, first served. */
export function splitBudget(needs, budget) {
  return needs.map((need) => {
    const share = Math.min(need, budget);
    budget -= share;
    return share;
  });
}

/** A reservation of ROOM slots for each user. */
function reservations({ static: all }) {
  const free = range(SLOTS / ROOM);
  return {
    size: ROOM,
    counts: null,
    grow() {},
    admit(user, isNew) {
      if (!free.length || (all && !isNew)) return false;
      user.table = [free.shift()];
      return true;
    },
    release(table) {
      free.push(...table);
      free.sort((a, b) => a - b);
    },
  };
}

/** Blocks, taken when they are needed; full ones with the same beginning are shared. */
function blocks({ block_size: size }) {
  const free = range(SLOTS / size);
  const counts = free.map(() => 0);
  const known = new Map(); // the end of a common beginning -> its block
  const sharedBy = ({ tokens, common }) => {
    const table = [];
    for (let end = size; end < tokens && end <= common && known.has(end); end += size)
      table.push(known.get(end));
    return table;
  };
  const take = () => {
    const block = free.shift();
    counts[block] = 1;
    return block;
  };
  const pool = {
    size,
    counts,
    admit(user) {
      const table = sharedBy(user);
      if (Math.ceil(user.tokens / size) - table.length > free.length) return false;
      user.read = table.length * size;
      for (const block of table) counts[block]++;
      while (table.length * size < user.tokens) {
        const end = (table.length + 1) * size;
        table.push(take());
        if (end <= user.common && !known.has(end)) known.set(end, table.at(-1));
      }
      user.table = table;
      return true;
    },
    /** A block for who has filled the last; without one, who came last starts over. */
    grow(running, waiting) {
      for (const user of [...running])
        while (running.includes(user) && user.table.length * size < user.tokens) {
          if (free.length) user.table.push(take());
          else {
            const last = running.pop();
            pool.release(last.table);
            Object.assign(last, { table: [], read: 0 });
            waiting.unshift(last);
          }
        }
    },
    release(table) {
      for (const block of table) {
        if (--counts[block]) continue;
        free.push(block);
        for (const [end, other] of known) if (other === block) known.delete(end);
      }
    },
  };
  return pool;
}

/** What a pass leaves: who was read, in which slots, and who waits. */
function photo(running, shares, waiting, counts) {
  return {
    users: running.map(({ id, table, read, tokens, end }, i) => ({
      id,
      table: [...table],
      read,
      n: shares[i],
      isLast: read === tokens && tokens + 1 === end,
    })),
    waiting: waiting.map(({ id }) => id),
    counts: counts && [...counts],
  };
}

function serve(state, pool) {
  const [waiting, running, passes] = [queue(state), [], []];
  while (waiting.length || running.length) {
    pool.grow(running, waiting);
    const isNew = !running.length; // a batch that has not started yet
    while (waiting.length && pool.admit(waiting[0], isNew))
      running.push(waiting.shift());
    const shares = splitBudget(
      running.map(({ tokens, read }) => tokens - read),
      state.budget,
    );
    running.forEach((user, i) => (user.read += shares[i]));
    passes.push(photo(running, shares, waiting, pool.counts));
    for (const user of running.filter(({ read, tokens }) => read === tokens))
      user.tokens++;
    for (const user of running.filter(({ tokens, end }) => tokens === end)) {
      pool.release(user.table);
      running.splice(running.indexOf(user), 1);
    }
  }
  return passes;
}

/** Each slot of a pass: { users, token, fresh } where it holds one, { users } reserved. */
function slotsOf(pass, size) {
  const slots = range(SLOTS).map(() => ({ users: [], token: -1, fresh: false }));
  for (const { id, table, read, n } of pass?.users ?? [])
    for (const place of range(table.length * size)) {
      const at = slots[table[Math.floor(place / size)] * size + (place % size)];
      at.users.push(id);
      // who came first reads what is shared
      if (place >= read || at.users.length > 1) continue;
      at.token = place;
      at.fresh = place >= read - n;
    }
  return slots;
}

/** The numbers of one way at the pass that is shown. */
function side(state, pool) {
  const passes = serve(state, pool);
  const pass = passes[state.step - 1] ?? null;
  const slots = slotsOf(pass, pool.size);
  const held = slots.filter(({ token }) => token >= 0).length;
  const empty = slots.filter(({ token, users }) => token < 0 && users.length).length;
  return { size: pool.size, n: passes.length, passes, pass, slots, held, empty };
}

/** Both ways: reservations, then blocks. */
export const sides = (state) => [
  side(state, reservations(state)),
  side(state, blocks(state)),
];

export const readBy = (pass) => sum((pass?.users ?? []).map(({ n }) => n));
