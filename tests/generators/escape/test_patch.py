"""Patches as HTML."""

from __future__ import annotations

from generators import escape
from tests.generators.markup import read

PATCH = """diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,2 @@ def f():
-    return "<b>"
+    return "&"
 unchanged
diff --git a/b.txt b/b.txt
new file mode 100644
--- /dev/null
+++ b/b.txt
@@ -0,0 +1 @@
+one
"""


def test_each_file_is_a_section_with_its_counts() -> None:
    html = escape.diff(PATCH)
    found = read(html)
    assert [tag for tag, _ in found.tags].count("details") == 2
    assert "src/a.py +1 −1" in found.text
    assert "b.txt +1 −0" in found.text
    assert "\n" not in html


def test_lines_are_marked_and_keep_their_text() -> None:
    html = escape.diff(PATCH)
    assert '<span class="hm-del">-    return &#34;&lt;b&gt;&#34;</span>' in html
    assert '<span class="hm-add">+    return &#34;&amp;&#34;</span>' in html
    assert '<span class="hm-meta">+++ b/src/a.py</span>' in html
    assert '<span class="hm-hunk">@@ -1,2 +1,2 @@ def f():</span>' in html
    for line in PATCH.splitlines():
        assert line in read(html).text


def test_a_patch_without_a_header_is_one_section() -> None:
    assert read(escape.diff("+a\n-b\n")).text.startswith("patch +1 −1")
    assert escape.diff("") == '<div class="hm-diff"></div>'


def test_many_lines_and_long_lines_are_cut_and_the_whole_is_linked() -> None:
    many = escape.diff("+x\n" * 3_001, raw_href="patch.diff")
    assert many.count("hm-add") == 3_000 + 1
    assert 'href="patch.diff"' in many
    exact = escape.diff("+x\n" * 3_000, raw_href="patch.diff")
    assert "Cut after" not in exact
    assert len(read(escape.diff("+" + "x" * 50_000)).text) < 2_100


def test_a_large_patch_is_cut_by_size() -> None:
    html = escape.diff(("+" + "y" * 400 + "\n") * 2_000)
    assert "Cut after 300 KB" in html
    assert len(html) < 500_000
