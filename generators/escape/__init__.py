"""Escaping: one function per context, so that text from models, results and datasets never becomes markup.

| Context | Function |
|---|---|
| between HTML tags | `text` |
| a quoted HTML attribute | `attribute` |
| `href` and other addresses | `url` |
| JSON inside a script element | `json_script` |
| JSON as a file of its own | `json_file` |
| inside a line of Markdown | `markdown_text` |
| front matter of a page | `front_matter` |
| hover text of a Plotly figure | `plotly_text` |
| a whole Markdown document | `untrusted_markdown` |
| a patch | `diff` |
| a text of a CSV file | `spreadsheet_text` |

What is HTML comes back as `markupsafe.Markup`: joined with a plain string, the plain string is escaped.
"""

from __future__ import annotations

from generators.escape.document import untrusted_markdown
from generators.escape.html import attribute, json_file, json_script, plotly_text, text
from generators.escape.line import front_matter, markdown_text
from generators.escape.link import is_safe_url, url
from generators.escape.patch import diff
from generators.escape.spreadsheet import spreadsheet_text

__all__ = [
    "attribute",
    "diff",
    "front_matter",
    "is_safe_url",
    "json_file",
    "json_script",
    "markdown_text",
    "plotly_text",
    "spreadsheet_text",
    "text",
    "untrusted_markdown",
    "url",
]
