"""What mkdocs calls: generated pages, equations, links that leave docs/, and a place in the menu for every page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import api
import commands
import fields
import outside
import pictures
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import equations

GENERATED = {
    "reference/commands.md": commands.page,
    "reference/fields.md": fields.page,
    "reference/python.md": api.page,
}
ALWAYS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")  # in the menu, so always there
FETCHED = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"')
_copies: dict[str, str] = {}  # page of the site -> file


def on_config(config: Any) -> Any:
    """Pages that the menu does not name are added to its guides."""
    equations.add_to(config)
    pictures.add_to(config)
    named = str(config["nav"])
    found = sorted(Path(config["docs_dir"]).glob("*.md"))
    guides = next(one["Guides"] for one in config["nav"] if "Guides" in one)
    guides += [page.name for page in found if f"'{page.name}'" not in named]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages and those of linked files."""
    for path, page in GENERATED.items():
        files.append(File.generated(config, path, content=page()))
    wanted = set(ALWAYS)
    for page in [one for one in files if one.src_uri.endswith(".md")]:
        wanted |= set(outside.targets(page.src_uri, page.content_string).values())
    done: set[str] = set()
    while new := wanted - done:
        for file in sorted(new):
            text = outside.copied_links(file, outside.content(file)) if file.endswith(".md") else outside.content(file)
            _copies[outside.page_of(file)] = file
            files.append(File.generated(config, outside.page_of(file), content=text))
            wanted |= outside.linked_from_copy(file)
        done |= new
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links that leave docs/ lead to the site's copies."""
    return markdown if page.file.src_uri in _copies else outside.rewritten(page.file.src_uri, markdown)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Nothing on a page is fetched from elsewhere: it is there without a network, and tells nobody who reads it."""
    if found := FETCHED.search(output):
        raise PluginError(f"{page}: fetches {found[1]}")
    return output
