"""Writes the scenes that can be used into the data package: ``python -m tests.scene.make_proofs``, or ``make proofs``.

A scene whose proof still holds is not asked again. What can't be used is named, and has no proof; the exit code is 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from iwreplay.app.usable import PROOFS, proofs_in
from iwreplay.scene.library import load_library
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.usability import USABILITY_RULE, Usability, usability_digest
from recorder.simulators.mujoco_backend import MujocoSimulator

__all__ = ["FOLDER", "main"]

FOLDER = Path(__file__).resolve().parents[2] / "taskpacks"
_HEAD = f"""\
# Scenes whose rooms and floor can be walked to, and whose things, surfaces and interiors can be reached: what each was
# when that was found, so that loading need not ask again. `make proofs` writes it, after a change of a scene or class.
rule = {USABILITY_RULE}

[scenes]
"""


def main() -> int:
    known, library, bad = proofs_in(FOLDER).scenes, load_library(FOLDER / "objects"), 0
    # of scenes that are there
    proofs = {n: known[n] for n in scene_ids(FOLDER) if n in known}
    for name in scene_ids(FOLDER):
        scene = compile_scene(load_scene(name, root=FOLDER), library=library)
        digest = usability_digest(scene)
        if known.get(name) != digest:
            problems = tuple(Usability(scene, MujocoSimulator()).problems())
            for p in problems:
                sys.stderr.write(f"{name}: {p}\n")
            proofs.pop(name, None)
            if problems:
                bad += 1
            else:
                proofs[name] = digest
            _write(proofs)
    _write(proofs)
    return 1 if bad else 0


def _write(proofs: dict[str, str]) -> None:
    lines = "".join(f'{n} = "{proofs[n]}"\n' for n in sorted(proofs))
    (FOLDER / PROOFS).write_text(_HEAD + lines, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
