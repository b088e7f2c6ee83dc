"""PagedCache: its passes and its memory are the library's, and what it says of them."""

import random

from figure_page import must_notice, must_say, shown, with_shown

from transformer_book.figures import PagedCache


def queues() -> list[PagedCache]:
    """Drawn ones, and a crowd that runs out of blocks: who came last starts over."""
    rng = random.Random(0)
    made = [PagedCache(prompts=[8] * 8, answers=[8] * 8, prefix=0, static=True)]
    for block_size, budget, n in ((1, 5, 7), (2, 64, 8), (4, 20, 7), (8, 2, 2)):
        prompts = [rng.randint(1, 15) for _ in range(n)]
        answers = [rng.randint(1, 16 - prompt) for prompt in prompts]
        figure = PagedCache(prompts=prompts, answers=answers, prefix=rng.randint(3, 9))
        figure.update(block_size=block_size, budget=budget)
        made.append(figure)
    return made


def test_the_passes_and_the_block_tables_are_the_library_s():
    for figure, page in with_shown(queues()):
        page.run()
        if not figure.static:
            # a block of 16 slots, shared with nobody, is a reservation
            figure.update(block_size=16, prefix=0)
            blocks = shown(figure)
            blocks.run()
            assert reads(page.geometry["ways"][0]) == reads(blocks.geometry["ways"][1])


def reads(way):
    return [[(user["id"], user["n"]) for user in p["users"]] for p in way["passes"]]


def test_the_passes_that_the_chapter_counts_and_those_of_a_static_batch():
    states = [{}, {"prefix": 0}, {"prefix": 0, "block_size": 16}]
    states += [{"answers": [2, 7, 3, 6, 2, 7, 4, 6]}]
    six = {"prompts": [2] * 6, "answers": [1, 2, 3, 9, 1, 2]}
    states += [six, six | {"static": True}]  # which waits for all of its users
    pages = with_shown(PagedCache(**state) for state in states)
    passes = [[way["n"] for way in page.geometry["ways"]] for _, page in pages]
    assert passes[:4] == [[11, 7], [11, 10], [11, 11], [13, 7]]
    assert [passes[4][0], passes[5][0]] == [9, 9 + 2]


def test_slots_are_held_empty_or_free():
    figure = PagedCache(prompts=[5, 6], answers=[2, 2], prefix=4, step=1, budget=64)
    whole, blocks = shown(figure).geometry["ways"]
    assert (whole["held"], whole["empty"]) == (11, 32 - 11)
    # one block for both, and one for each
    assert (blocks["held"], blocks["empty"]) == (4 + 1 + 2, 3 + 2)
    figure.budget = 3  # the shared block is not read to its end yet
    whole, blocks = shown(figure).geometry["ways"]
    assert blocks["held"] == 3
    assert [whole["cells"][i]["text"] for i in (0, 3, 16, 17)] == ["A", "", "B", ""]


def test_the_note_says_who_shares_the_blocks_and_how_much_is_empty(live):
    two = PagedCache(prompts=[5, 6], answers=[2, 2], prefix=4, step=1, budget=64)
    shared = {
        two: "A+ shared by A and B; ",
        PagedCache(step=1): "A+ shared by 8 users; ",
    }
    for figure, who in (shared | {PagedCache(prefix=0, step=1): ""}).items():
        way = shown(figure).geometry["ways"][1]
        note = live(figure).locator(".panel small").nth(1).inner_text()
        assert note == f"{way['held']} with tokens; {who}hatched: {way['empty']} empty"


def test_who_has_left_is_counted_as_done(live):
    figure = PagedCache(step=6)
    under = live(figure).locator(".panel .under:last-child")
    for way, said in zip(
        shown(figure).geometry["ways"], under.all_inner_texts(), strict=True
    ):
        seen = [{user["id"] for user in p["users"]} for p in way["passes"]]
        done = set.union(*seen[:5]) - set.union(*seen[5:])
        assert len(done) > 1
        assert said.endswith(f". Done: {len(done)} of 8")


def test_the_copied_program_notices_another_state():
    mistakes = {"block_size=4": "block_size=8", "max_tokens=24": "max_tokens=9"}
    must_notice(shown(PagedCache()).pytorch, mistakes)


def test_the_sentence_is_about_the_selected_slot_or_all():
    alone = {"prompts": [2], "answers": [9], "step": 1}
    wanted = {
        "Pass 1. Reservations: 4 users in the batch, *": {"selected": []},
        "Reservations. Slot 0: token 0 of user *.": {"selected": [0, 0]},
        "Reservations. Slot 15 is reserved for user *, and empty.": {
            "selected": [0, 15]
        },
        "Blocks. Slot 0, in block 0: token 0 of users A, B, *, stored once*": {
            "selected": [4, 0]
        },
        "Blocks. *block 15, is free: any*": {"selected": [7, 15], **alone},
        "*Slot 16 is free: no user has reserved it.": {"selected": [1, 0], **alone},
        "*Reservations: everybody is served. Blocks: every*": {"step": 250},
    }
    must_say((PagedCache(**state), said) for said, state in wanted.items())
