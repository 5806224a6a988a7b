"""Names on maps: none over another, none outside, none lost; and maps that show them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.body import root_of, standing
from iwreplay.events import EpisodeConfig
from iwreplay.frames.floorplan import draw_map, map_size
from iwreplay.frames.labels import Label, place_labels
from iwreplay.frames.maker import FrameMaker
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen

LABELS = st.builds(
    Label,
    text=st.text(max_size=5),
    at=st.tuples(st.integers(-20, 420), st.integers(-20, 320)),
    width=st.integers(5, 120),
    height=st.integers(5, 30),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(LABELS, max_size=25))
def test_no_label_lies_over_another_or_outside(labels: list[Label]) -> None:
    placed, left = place_labels(labels, within=(0, 0, 400, 300))
    assert len(placed) + len(left) == len(labels)
    for p in placed:
        x0, y0, x1, y1 = p.box
        assert (x1 - x0, y1 - y0) == (p.label.width, p.label.height)
        assert 0 <= x0 < x1 <= 400
        assert 0 <= y0 < y1 <= 300
    for a, b in combinations([p.box for p in placed], 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_a_label_alone_stays_on_its_point_and_a_second_one_is_led() -> None:
    one = Label("a", (100, 100), 40, 20)
    placed, left = place_labels([one, one], within=(0, 0, 400, 300))
    assert left == []
    assert placed[0].box == (80, 90, 120, 110)
    assert [p.led for p in placed] == [False, True] or placed[1].box[1] in (80, 101, 112)


def test_what_has_no_room_is_given_back() -> None:
    wide = Label("wide", (50, 50), 500, 20)
    assert place_labels([wide], within=(0, 0, 400, 300)) == ([], [wide])


CONFIG = EpisodeConfig(frame_width=160, frame_height=120, max_turns=1, max_actions=1)


def test_a_map_is_the_same_each_time_and_shows_names_way_and_wearer() -> None:
    scene = kitchen()
    state = WorldState(scene)
    state.body = standing(2.0, 0.6, 1.57)
    names = {t.id: t.name for t in scene.things}
    maker = FrameMaker(scene, config=CONFIG, whole_body=True)

    def drawn(**more: object) -> np.ndarray:
        return draw_map(maker, state, title="kitchen", names=names, **more)  # type: ignore[arg-type]

    plain = drawn()
    assert plain.shape[1] == map_size(scene)[0]
    assert (plain == drawn()).all()
    walked = drawn(way=[(1.0, 0.6), (3.0, 0.6)], wearer=root_of(state.body))
    assert ((walked != plain).any(axis=2) & (walked == (210, 0, 150)).all(axis=2)).sum() > 300
    state.attrs["mug_2"]["parent"] = "in:cabinet_1.main"
    noted = drawn()
    assert noted.shape[0] > plain.shape[0], "what is inside of something is listed below"
    assert drawn(size=(300, 200)).shape[1] == 300
