"""Texts in rendered frames, read by an OCR engine from where [Read] looks at them: what is legible by measure is read.

Needs the program tesseract (Debian: tesseract-ocr).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from iwreplay.app.checking import read_texts
from iwreplay.frames.pages import Pixels

pytestmark = [
    pytest.mark.ocr,
    pytest.mark.skipif(shutil.which("tesseract") is None, reason="the program tesseract is not installed"),
]

#: ways in which the engine looks for lines: a block, one line, scattered words
_MODES = ("6", "7", "11")
#: words that it must read, of all; it was made for scanned pages, and spells a letter wrong here and there
_READ = 0.85


def words(text: str) -> list[str]:
    return [w for w in re.findall(r"[A-Z0-9]+", text.upper()) if len(w) > 1]


def on_paper(face: Pixels) -> Image.Image:
    """Dark on white, whatever ink and paper are."""
    paper = np.median(face.reshape(-1, 3), axis=0)
    apart = np.abs(face.astype(np.float64) - paper).sum(axis=2)
    grey = 255.0 * (1.0 - np.clip(apart / max(1.0, float(np.percentile(apart, 99))), 0.0, 1.0))
    return Image.fromarray(np.pad(grey.astype(np.uint8), 30, constant_values=255))


def found_words(image: Image.Image, wanted: list[str], file: Path) -> list[str]:
    image.save(file)
    best: list[str] = []
    for mode in _MODES:
        done = subprocess.run(
            ["tesseract", str(file), "stdout", "--psm", mode], capture_output=True, text=True, check=True, timeout=60
        )
        got = words(done.stdout)
        best = max(best, [w for w in wanted if get_close_matches(w, got, 1, 0.7)], key=len)
    return best


def test_what_is_legible_by_measure_is_read(tmp_path: Path) -> None:
    wanted, read, missed = 0, 0, []
    for scene in ("clinic", "family_kitchen", "home_office"):
        for text, face in read_texts(scene):
            assert text.ok, text
            assert face is not None
            there = words(text.text)
            got = found_words(on_paper(face), there, tmp_path / "text.png")
            wanted, read = wanted + len(there), read + len(got)
            if len(got) < len(there):
                missed.append((text.thing, text.cap_px, there, got))
    assert wanted > 20
    assert read >= _READ * wanted, missed


def test_what_is_not_there_is_not_read(tmp_path: Path) -> None:
    blank = np.full((40, 120, 3), 200, np.uint8)
    assert found_words(on_paper(blank), ["USED"], tmp_path / "blank.png") == []
