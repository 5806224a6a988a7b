"""Pages about tasks: escaped, whole in themselves, with what failed."""

from __future__ import annotations

from pathlib import Path

from iwreplay.app.task_pages import Row, Verdict, write_index


def test_the_index_escapes_and_needs_nothing_else(tmp_path: Path) -> None:
    rows = [
        Row("G05", "guidance", "G05.html", 9, 13, None, (Verdict("loads", True, ""), Verdict("a<b", False, "<i>&"))),
        Row("V06", "prevention", "", 4, 7, 0.5, (Verdict("loads", True, ""),)),
    ]
    text = write_index(tmp_path, rows).read_text(encoding="utf-8")
    assert '<a href="G05.html">G05</a>' in text
    assert "a&lt;b" in text
    assert "&lt;i&gt;&amp;" in text
    assert "<i>" not in text
    assert "V06.html" not in text
    assert "http" not in text
    assert "<script" not in text
