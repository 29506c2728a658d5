"""Links of the documentation to files that lie beside it: scripts, tests, cards of models, CHANGELOG.md ...

In the repository such a link leads to the file. The site has a page for each, so that it leads somewhere there too,
and a link to a file that is not there ends the build.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")
ROOT = Path(__file__).parents[2]
LANGUAGES = {".py": "python", ".toml": "toml"}


def targets(page: str, markdown: str) -> dict[str, str]:
    """Path in a link -> file from the root, of those links of a page that leave docs/."""
    found = {}
    for link in LINK.finditer(markdown):
        file = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link["path"]))
        if not file.startswith(("docs/", "..")) and (ROOT / file).exists():
            found[link["path"]] = file
    return found


def page_of(file: str) -> str:
    """Where the site has a file; a folder is listed."""
    return f"source/{file}.md" if (ROOT / file).is_dir() or not file.endswith(".md") else f"source/{file}"


def content(file: str) -> str:
    """The page of a file in Markdown."""
    path = ROOT / file
    search = "---\nsearch:\n  exclude: true\n---\n"
    if path.is_dir():
        lines = [f"- [{one.name}]({path.name}/{one.name}.md)" for one in scripts(file)]
        return "\n".join([search, f"# {file}", "", *lines, ""])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return _without_front_matter(text)
    if path.suffix == ".ipynb":
        return "\n\n".join(_cell(one) for one in json.loads(text)["cells"])
    language = LANGUAGES.get(path.suffix, "text")
    return f"{search}# {file}\n\n````{language}\n{text}````\n"


def scripts(folder: str) -> list[Path]:
    """What is listed of a folder."""
    return sorted((ROOT / folder).glob("*.py"))


def rewritten(page: str, markdown: str) -> str:
    """The page with links to the site's copies."""
    files = targets(page, markdown)
    start = posixpath.dirname(page) or "."

    def there(link: re.Match[str]) -> str:
        if link["path"] not in files:
            return link[0]
        return posixpath.relpath(page_of(files[link["path"]]), start) + (link["anchor"] or "")

    return LINK.sub(there, markdown)


def copied_links(file: str, markdown: str) -> str:
    """Links inside a copied file, as if they were written on its page in docs/source/."""
    here = posixpath.dirname(page_of(file))

    def there(link: re.Match[str]) -> str:
        aim = posixpath.normpath(posixpath.join(posixpath.dirname(file), link["path"]))
        if aim.startswith("docs/"):
            return posixpath.relpath(aim.removeprefix("docs/"), here) + (link["anchor"] or "")
        if (ROOT / aim).exists():
            return posixpath.relpath(page_of(aim), here) + (link["anchor"] or "")
        return link[0]

    return LINK.sub(there, markdown)


def linked_from_copy(file: str) -> set[str]:
    """Files outside docs/ that a copied Markdown file links to."""
    if not file.endswith(".md"):
        return {str(one.relative_to(ROOT)) for one in scripts(file)} if (ROOT / file).is_dir() else set()
    text = (ROOT / file).read_text(encoding="utf-8")
    aims = {posixpath.normpath(posixpath.join(posixpath.dirname(file), link["path"])) for link in LINK.finditer(text)}
    return {aim for aim in aims if not aim.startswith(("docs/", "..")) and (ROOT / aim).exists()}


def _cell(cell: dict[str, Any]) -> str:
    """A cell of a notebook, and what it printed."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    printed = "".join(line for output in cell["outputs"] for line in output.get("text", ()))
    return f"```python\n{source}\n```\n\n```text\n{printed}```"


def _without_front_matter(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
