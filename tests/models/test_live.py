"""A real provider plays one episode; only when it is asked for, by naming a model whose key is in the environment:

IWREPLAY_LIVE_MODEL=openai/NAME python -m pytest -m live
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from iwreplay.app.auditing import audit_episodes
from tests.bench.test_runs import finished

MODEL = os.environ.get("IWREPLAY_LIVE_MODEL", "")


@pytest.mark.live
@pytest.mark.skipif(not MODEL, reason="name a model with IWREPLAY_LIVE_MODEL")
def test_a_provider_plays_an_episode(tmp_path: Path) -> None:
    name = f"model:{MODEL}"
    code, out, err = finished(
        tmp_path, "run", "F19", "--assistant", f"{name};memory=on", "--human", name, "--json", group=""
    )
    assert code == 0, err
    assert json.loads(out)[0]["spent"]["calls"] > 0
    (audited,) = audit_episodes(tmp_path)
    assert [s for s in audited.statements if s.finding == "broken"] == []
