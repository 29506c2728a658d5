"""Sessions of Python in docstrings, shown as code: under "Example:", or under nothing at all.

The documentation's parser knows them under "Examples:".
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

SESSION = re.compile(r"(?<=\n\n)>>> .*(?:\n.+)*")


class Examples(griffe.Extension):
    """Puts every session where the parser looks for it."""

    def on_object(self, *, obj: griffe.Object, **more: Any) -> None:
        """Of one docstring."""
        if obj.docstring:
            headed = obj.docstring.value.replace("Example:\n", "Examples:\n")
            obj.docstring.value = SESSION.sub(lambda found: "Examples:\n" + textwrap.indent(found[0], "    "), headed)
