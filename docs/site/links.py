"""Shows links to files outside the site as the names of these files."""

from __future__ import annotations

import pathlib
import posixpath
import re
from typing import Any

_REPO = pathlib.Path(__file__).resolve().parents[2]
_LINK = re.compile(r"(?<!!)\[([^]\n]+)\]\(([^)#:\s]+)\)")


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Returns a page's Markdown with links only to pages and pictures (called by MkDocs)."""
    folder = posixpath.dirname(page.file.src_uri)

    def shown(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        file = files.get_file_from_path(path)
        if not (_REPO / path).exists() or file and not file.inclusion.is_excluded():
            return link[0]
        return f"`{path}`" if link[1] == path else f"{link[1]} (`{path}`)"

    return _LINK.sub(shown, markdown)
