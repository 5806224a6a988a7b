"""Ids become names of prims, and come back."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st
from pxr import Sdf

from iwreplay.usd import id_of_prim, prim_name

_AWKWARD = st.text(alphabet=st.sampled_from("_u013af -é.A/"), max_size=12)


@given(st.one_of(_AWKWARD, st.text(max_size=12)))
@example("")
@example("_u_")
@example("_u31_")
@example("_u5f_u31_")
def test_every_id_comes_back(name: str) -> None:
    made = prim_name(name)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", made)
    assert Sdf.Path.IsValidIdentifier(made)
    assert id_of_prim(made) == name


def test_plain_ids_stay_as_they_are() -> None:
    for name in ("mug_1", "shelf_unit_2_top", "_x", "A9"):
        assert prim_name(name) == name
    assert prim_name("1 mug") == "_u31__u20_mug"
