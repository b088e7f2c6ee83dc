"""The colors of query, key and value, given to the plain letters of a formula.

Sources say `$Q$`, `$k_j$`, `$V$`, which Jupyter and Colab read too; the book's pages
give these letters a class. Letters of words and of scripts keep the text's color:
the k of `d_k` is no key. Scripts of W are roles: the Q of `W^Q` makes queries.
"""

import re

ROLES = {"Q": "query", "q": "query", "K": "key", "k": "key", "V": "value", "v": "value"}
WORDS = {
    *(r"\text", r"\textbf", r"\textit", r"\texttt", r"\mathrm", r"\mathtt"),
    *(r"\operatorname", r"\operatorname*", r"\begin", r"\end", r"\label", r"\tag"),
    *(r"\htmlClass", r"\query", r"\key", r"\value"),
}
TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|.", re.DOTALL)


def end_of_argument(tokens: list[str], start: int) -> int:
    """The place after the argument that begins at `start`: a group or one token."""
    while start < len(tokens) and tokens[start].isspace():
        start += 1
    if start < len(tokens) and tokens[start] in WORDS:
        return end_of_argument(tokens, start + 1)
    depth = 0
    for place in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[place], 0)
        if depth == 0:
            return place + 1
    return len(tokens)


def is_lower(token: str) -> bool:
    return len(token) == 1 and token.isascii() and token.islower()


def colored(before: str, token: str, after: str) -> str:
    """The letter in its role's class, unless its neighbors make it part of a word."""
    word = is_lower(after) or (is_lower(token) and is_lower(before))
    if token not in ROLES or word:
        return token
    return rf"{{\htmlClass{{tl-{ROLES[token]}}}{{{token}}}}}"


def color_letters(tex: str) -> str:
    """The formula with every free-standing Q, K, V, q, k and v in its role's class."""
    tokens = TOKEN.findall(tex)
    parts: list[str] = []
    before, place = "", 0
    while place < len(tokens):
        token = tokens[place]
        script = token in "_^" and before != "W"
        if script or token in WORDS:
            end = end_of_argument(tokens, place + 1)
            parts += tokens[place:end]
            before, place = "", end
        else:
            after = "".join(tokens[place + 1 : place + 2])
            parts.append(colored(before, token, after))
            before, place = token if token not in "_^{" else before, place + 1
    return "".join(parts)
