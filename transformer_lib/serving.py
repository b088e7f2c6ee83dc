"""Serving: many users share one model, one memory and every forward pass.

The memory is cut into blocks, which users take as their texts grow. Each pass reads
the new tokens of all users in one row, and each token attends to its own user's.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from transformer_lib.decoder import Decoder
from transformer_lib.masks import causal_mask, document_mask
from transformer_lib.multihead import KeysValues
from transformer_lib.sampling import Choose, eval_mode, greedy
from transformer_lib.sampling.validation import check_ids, check_prompts

Row = Shaped[Tensor, "1 n_kv_heads seq d_head"]


def slots(table: Sequence[int], block_size: int, length: int) -> Int[Tensor, " length"]:
    """Return the slot numbers of a user's first ``length`` tokens.

    Position p is in block ``table[p // block_size]``, at ``p % block_size``. Source:
    Kwon et al. 2023, section 4.2.
    """
    positions = torch.arange(length)
    blocks = torch.tensor(table, dtype=torch.long)[positions // block_size]
    return blocks * block_size + positions % block_size


class PagedLayerCache:
    """Keys and values of one layer, for all users, in one memory of slots.

    Before each pass, `aim` says which slots the new tokens fill, and which slots they
    attend to. Source: Kwon et al. 2023, section 4.1.
    """

    def __init__(
        self,
        n_kv_heads: int,
        n_slots: int,
        d_head: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        shape = (1, n_kv_heads, n_slots, d_head)
        self.key = torch.zeros(shape, dtype=dtype, device=device)
        self.value = torch.zeros(shape, dtype=dtype, device=device)
        self.length = 0
        self.write = self.read = torch.arange(0, device=device)

    def aim(self, write: Int[Tensor, " new"], read: Int[Tensor, " kv_len"]) -> None:
        """Say which slots the next pass fills, and which it attends to."""
        self.write, self.read = write, read
        self.length = len(read) - len(write)

    def update(self, key: Row, value: Row) -> KeysValues:
        """Write the keys and values of new tokens; return those to attend to."""
        for kept, new in ((self.key, key), (self.value, value)):
            kept[:, :, self.write] = new
        return self.key[:, :, self.read], self.value[:, :, self.read]

    @property
    def n_bytes(self) -> int:
        """Preallocated memory, in bytes."""
        return self.key.nbytes + self.value.nbytes


class BlockPool:
    """Which blocks are free, how many users hold each, and what full ones contain.

    A full block is known by all tokens up to its end, because its keys and values
    depend on all of them. Source: Kwon et al. 2023, section 4.4 (blocks with counts).

    Raises:
        ValueError: if there is no block, or no token fits one.
    """

    def __init__(self, n_blocks: int, block_size: int) -> None:
        if n_blocks < 1 or block_size < 1:
            raise ValueError(
                "a pool needs n_blocks and block_size of at least 1, got "
                f"{n_blocks} and {block_size}"
            )
        self.block_size = block_size
        self.n_users = [0] * n_blocks
        self.free = deque(range(n_blocks))
        self.known: dict[tuple[int, ...], int] = {}
        self.names: dict[int, tuple[int, ...]] = {}

    def shared(self, tokens: Sequence[int]) -> list[int]:
        """Return the blocks in use that hold the beginning of a text.

        The last token is never in them: it must be read to score the next one.
        """
        table: list[int] = []
        for end in range(self.block_size, len(tokens), self.block_size):
            block = self.known.get(tuple(tokens[:end]))
            if block is None:
                break
            table.append(block)
        return table

    def take(self) -> int:
        """Take a free block.

        Raises:
            ValueError: if none is free.
        """
        if not self.free:
            raise ValueError(
                f"a block must be free to be taken, got 0 of {len(self.n_users)} free; "
                "release some first"
            )
        block = self.free.popleft()
        self.n_users[block] = 1
        return block

    def hold(self, tokens: Sequence[int]) -> list[int]:
        """Return a table for a text: share what can be shared, and take the rest.

        Raises:
            ValueError: if too few blocks are free.
        """
        table = self.shared(tokens)
        for block in table:
            self.n_users[block] += 1
        for start in range(len(table) * self.block_size, len(tokens), self.block_size):
            block, name = self.take(), tuple(tokens[: start + self.block_size])
            if len(name) == start + self.block_size and name not in self.known:
                self.known[name], self.names[block] = block, name
            table.append(block)
        return table

    def release(self, table: Sequence[int]) -> None:
        """Release blocks; one that nobody uses any more is free, and forgotten."""
        for block in table:
            self.n_users[block] -= 1
            if self.n_users[block] == 0:
                self.free.append(block)
                self.known.pop(self.names.pop(block, ()), None)


def blocks_for(n_tokens: int, block_size: int) -> int:
    """Return how many blocks so many tokens fill, the last one perhaps in part."""
    return -(-n_tokens // block_size)


def split_budget(needs: Sequence[int], budget: int) -> list[int]:
    """Return how many tokens of each user a pass reads: first come, first served.

    A long prompt gets what is left, so it is read in chunks. Source: Agrawal et al.
    2024, section 4.
    """
    shares = []
    for need in needs:
        shares.append(min(need, budget))
        budget -= shares[-1]
    return shares


@dataclass(eq=False)
class Request:
    """A prompt to continue: what is written so far, and where its keys are.

    ``choose`` takes one row of logits, as in `generate`. A text ends with ``end_id``
    or after ``max_new_tokens``.
    """

    prompt: Sequence[int]
    max_new_tokens: int
    choose: Choose = greedy
    end_id: int | None = None
    written: list[int] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    n_read: int = 0

    @property
    def tokens(self) -> list[int]:
        """All tokens so far: the prompt, and what is written."""
        return [*self.prompt, *self.written]

    @property
    def need(self) -> int:
        """How many tokens must be read before the next one can be chosen."""
        return len(self.prompt) + len(self.written) - self.n_read

    @property
    def ended(self) -> bool:
        """Whether nothing more will be written."""
        return len(self.written) == self.max_new_tokens or (
            self.end_id is not None and self.end_id in self.written[-1:]
        )


Plan = Sequence[tuple[Request, int]]
"""Whose tokens a pass reads, and how many of each."""


class Packed(NamedTuple):
    """Several users in one row, as a decoder reads them."""

    tokens: Int[Tensor, " new"]
    positions: Int[Tensor, " new"]
    mask: Bool[Tensor, "new kv_len"]
    write: Int[Tensor, " new"]
    read: Int[Tensor, " kv_len"]
    last: Int[Tensor, " users"]


def pack(plan: Plan, block_size: int) -> Packed:
    """Put the next tokens of all users into one row, their cached keys into another.

    A token attends to its own user's keys (`document_mask`), none of them later than
    itself (`causal_mask`). Source: Yu et al. 2022, section 3 (selective batching).
    """
    counts = [n for _, n in plan]
    ends = [user.n_read + n for user, n in plan]
    both = list(zip((user for user, _ in plan), ends, strict=True))
    texts = [torch.tensor(user.tokens[:end]) for user, end in both]
    kept = [slots(user.table, block_size, end) for user, end in both]
    positions = [torch.arange(end) for end in ends]
    users = [torch.full((end,), number) for number, end in enumerate(ends)]

    def new(parts: list[Tensor]) -> Tensor:
        """Join the last n of each user: those that the pass reads."""
        return torch.cat([part[-n:] for part, n in zip(parts, counts, strict=True)])

    own = document_mask(new(users), torch.cat(users))
    return Packed(
        tokens=new(texts),
        positions=new(positions),
        mask=own & causal_mask(new(positions), torch.cat(positions)),
        write=new(kept),
        read=torch.cat(kept),
        last=torch.tensor(counts).cumsum(0) - 1,
    )


class ContinuousBatch:
    """A batch that users join and leave between any two forward passes.

    At most ``max_users`` at once, and ``max_tokens`` read by a pass. Where blocks run
    out, the user who came last gives its blocks back and is read again later.
    Source: Yu et al. 2022, section 3 (the batch); Kwon et al. 2023, section 4.5.
    """

    def __init__(
        self,
        decoder: Decoder,
        *,
        n_blocks: int,
        block_size: int,
        max_users: int,
        max_tokens: int,
    ) -> None:
        _check_packable(decoder)
        if max_users < 1 or max_tokens < 1:
            raise ValueError(
                "max_users and max_tokens must be at least 1, got "
                f"{max_users} and {max_tokens}"
            )
        self.decoder, self.pool = decoder, BlockPool(n_blocks, block_size)
        self.max_users, self.max_tokens = max_users, max_tokens
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        config, weight = decoder.config, decoder.embedding.weight
        self.cache = [
            PagedLayerCache(
                config.kv_heads,
                n_blocks * block_size,
                config.head_width,
                dtype=weight.dtype,
                device=weight.device,
            )
            for _ in range(config.n_layers)
        ]

    def add(self, request: Request) -> None:
        """Put a request at the end of the queue.

        Raises:
            ValueError: if it does not fit the decoder, or would outgrow the memory.
        """
        config = self.decoder.config
        prompt = torch.tensor([[*request.prompt]], dtype=torch.long, device="cpu")
        check_ids(config, end=request.end_id)
        check_prompts(config, prompt, None, request.max_new_tokens)
        # the last token that is written is never read
        longest = len(request.prompt) + request.max_new_tokens - 1
        n_blocks = blocks_for(longest, self.pool.block_size)
        if n_blocks > len(self.pool.n_users):
            raise ValueError(
                f"a request must fit n_blocks={len(self.pool.n_users)}, got "
                f"{n_blocks} blocks for {longest} tokens"
            )
        self.waiting.append(request)

    def run(self) -> None:
        """Serve until nobody waits and nobody is left."""
        while self.waiting or self.running:
            self.step()

    def step(self) -> Plan:
        """Do one forward pass; return how many tokens of each user it read."""
        self._grow()
        while self.waiting and len(self.running) < self.max_users and self._admit():
            pass
        shares = split_budget([user.need for user in self.running], self.max_tokens)
        plan = [(u, n) for u, n in zip(self.running, shares, strict=True) if n > 0]
        logits = self._read(plan) if plan else ()
        for (user, n), scores in zip(plan, logits, strict=True):
            user.n_read += n
            if user.need == 0:
                user.written.append(int(user.choose(scores[None])))
        for user in [user for user in self.running if user.ended]:
            self._remove(user)
        return plan

    def _admit(self) -> bool:
        """Let in who waits longest, if there are blocks for all its tokens so far.

        Blocks count as full at once: whoever shares them is read later, or in the same
        pass, whose keys are all written before any is attended to.
        """
        tokens, pool = self.waiting[0].tokens, self.pool
        n_shared = len(pool.shared(tokens))
        if blocks_for(len(tokens), pool.block_size) - n_shared > len(pool.free):
            return False
        user = self.waiting.popleft()
        user.table, user.n_read = pool.hold(tokens), n_shared * pool.block_size
        self.running.append(user)
        return True

    def _grow(self) -> None:
        """Give a block to each user whose last one is full.

        If none is free, the user who came last gives up all of its own.
        """
        for user in list(self.running):
            while user in self.running and self._lacks_block(user):
                if self.pool.free:
                    user.table.append(self.pool.take())
                else:
                    self.waiting.appendleft(self._remove(self.running[-1]))

    def _lacks_block(self, user: Request) -> bool:
        return user.n_read + user.need > len(user.table) * self.pool.block_size

    def _remove(self, user: Request) -> Request:
        """Take a user out of the batch, and its blocks back."""
        self.pool.release(user.table)
        user.table = []
        self.running.remove(user)
        return user

    @torch.inference_mode()
    def _read(self, plan: Plan) -> Float[Tensor, "users vocab"]:
        """Read the next tokens of each user; return the logits after the last ones."""
        device = self.decoder.embedding.weight.device
        with torch.device("cpu"):
            packed = pack(plan, self.pool.block_size)
        packed = Packed(*(part.to(device) for part in packed))
        for layer in self.cache:
            layer.aim(packed.write, packed.read)
        with eval_mode(self.decoder):
            states = self.decoder.states(
                packed.tokens[None],
                positions=packed.positions[None],
                mask=packed.mask,
                cache=self.cache,
            )
            return self.decoder.unembedding.logits(states[0, packed.last])


def _check_packable(decoder: Decoder) -> None:
    """Refuse models that measure distances in columns of a row: users share it."""
    config = decoder.config
    if config.positions == "alibi" or config.window is not None:
        raise ValueError(
            "users can share a row only if distances are not counted in columns, got "
            f"positions={config.positions!r}, window={config.window}; serve them alone"
        )
