"""Kinds are told by the beginning of a line: exactly those that begin as their kind does are passed over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from iwreplay.canonical import canonical_bytes, without_values
from iwreplay.events import EVENT_TYPES
from iwreplay.log.heads import rows_of
from tests.log.samples import every_kind

LINES = {type(e): canonical_bytes(without_values(e)) + b"\n" for e in every_kind()}
TAGS = {t: f'{{"kind":"{t.__struct_config__.tag}","sim_time_s":'.encode() for t in EVENT_TYPES}

#: good lines, lines with another byte somewhere in their beginning, and short ones
lines = st.one_of(
    st.sampled_from([*LINES.values()]),
    st.builds(
        lambda line, at, byte: line[:at] + bytes([byte]) + line[at + 1 :],
        st.sampled_from([*LINES.values()]),
        st.integers(0, 45),
        st.integers(32, 126),
    ),
    st.sampled_from([b"\n", b"{}\n", b'{"kind":\n', b'{"kind":"fault"}\n']),
)


def test_every_kind_has_a_sample() -> None:
    assert set(LINES) == set(EVENT_TYPES)


@given(log=st.lists(lines, max_size=60), kinds=st.sets(st.sampled_from(EVENT_TYPES)))
def test_as_comparing_each_line_would_tell(log: list[bytes], kinds: set[type]) -> None:
    begins, at = [], 0
    for line in log:
        begins.append(at)
        at += len(line)
    got = rows_of(kinds, b"".join(log), begins)
    head = 9 + max(len(str(t.__struct_config__.tag)) for t in EVENT_TYPES) + 1
    passed = {TAGS[t][:head] for t in EVENT_TYPES if t not in kinds}
    whole = b"".join(log)
    assert got == [i for i, b in enumerate(begins) if whole[b : b + head] not in passed]


@given(kinds=st.sets(st.sampled_from(EVENT_TYPES)))
def test_each_kind_is_found(kinds: set[type]) -> None:
    every = list(LINES.items())
    begins = [sum(len(line) for _, line in every[:i]) for i in range(len(every))]
    rows = rows_of(kinds, b"".join(line for _, line in every), begins)
    assert rows == [i for i, (t, _) in enumerate(every) if t in kinds]
