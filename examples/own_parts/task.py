"""A task of one's own: do questions find their answers? A function of `encode`; its figures stand in the table.

isotrope evaluate bundled minilm --tasks task:answers,bundled      # in this folder
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import isotrope

ANSWERS = {
    "How do I reset my password?": "Choose 'forgot password' on the login page and follow the link in the mail.",
    "Where is my parcel?": "The tracking number in your order shows where the delivery is.",
    "Can I pay by invoice?": "Business customers may settle within thirty days of billing.",
    "Why was my card declined?": "Your bank may have refused the payment; ask them, or use another card.",
}


def answers(encode: Callable[[list[str]], Any], *, top: int = 1) -> dict[str, float]:
    """The share of questions whose answer is among the `top` nearest, x 100."""
    questions, texts = encode(list(ANSWERS)), encode(list(ANSWERS.values()))
    ranks = (-(questions @ texts.T)).argsort(axis=1).argsort(axis=1).diagonal()
    return {f"found in {top}": 100 * float((ranks < top).mean())}


if __name__ == "__main__":
    print(isotrope.evaluate(["bundled"], tasks=[answers, "bundled"], pooling=["cls", "mean"]))
