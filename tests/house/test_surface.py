"""The public surface: what `__all__` of each package says, pinned. A change of it is a change of `surface.txt`."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("iwreplay", "recorder", "replayer", "scorers", "taskpacks")
PINNED: dict[str, list[str]] = {
    module: names.split()
    for module, _, names in (
        line.partition(":")
        for line in (ROOT / "tests" / "house" / "surface.txt").read_text(encoding="utf-8").splitlines()
    )
}


@pytest.mark.parametrize("module", PINNED)
def test_the_surface_is_the_pinned_one(module: str) -> None:
    found = resolve_name(module)
    assert sorted(found.__all__) == sorted(PINNED[module])
    for name in found.__all__:
        assert hasattr(found, name)


def test_every_package_is_pinned() -> None:
    """A package without a surface of its own (`iwreplay.scene` and so on) has that of the modules named here."""
    packages = {".".join(p.parent.relative_to(ROOT).parts) for top in TOPS for p in (ROOT / top).rglob("__init__.py")}
    modules = {f"iwreplay.{p.stem}" for p in (ROOT / "iwreplay").glob("*.py") if not p.stem.startswith("__")}
    unpinned = {name for name in packages | modules if not any(k == name or k.startswith(f"{name}.") for k in PINNED)}
    assert unpinned == set()
