"""One damaged place of a sealed log costs nothing."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from iwreplay.log import LostRange, check, read_log, recover
from iwreplay.log.format import PARITY_KEY, ParityMeta
from iwreplay.log.parity import mended, parity_of
from iwreplay.log.scan import seal_header
from tests.log.samples import long_episode, write

EVENTS = long_episode(900)
END = (LostRange(first=900, last=None),)
GOLDEN = Path(__file__).parents[2] / "episodes" / "golden" / "v1" / "sealed.arrows"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes, ParityMeta]:
    """Root hash, bytes and parity of a sealed log of 900 events, which are one batch."""
    path = tmp_path_factory.mktemp("sealed") / "log.arrows"
    root = write(path, EVENTS, commit_every=100, seal=True)
    data = path.read_bytes()
    header = seal_header(io.BytesIO(data))
    assert header is not None
    return root, data, msgspec.json.decode(header.custom[PARITY_KEY], type=ParityMeta)


def assert_whole(folder: Path, data: bytes, root: str, what: object, *, known: bool = True) -> None:
    """The damage is noticed, and a recovery has every event; it may not know that it has."""
    path, out = folder / "log.arrows", folder / "out.arrows"
    path.write_bytes(data)
    out.unlink(missing_ok=True)
    assert check(path).state in ("corrupt", "truncated"), what
    did = recover(path, out)
    assert (did.check.root_hash, did.check.events, did.recovered.kept) == (root, len(EVENTS), ((0, 899),)), what
    assert (did.check.complete, did.recovered.missing, did.recovered.lossless) == (
        known,
        () if known else END,
        known,
    ), what


def test_a_broken_byte_anywhere_loses_nothing(sealed: tuple[str, bytes, ParityMeta], tmp_path: Path) -> None:
    root, data, parity = sealed
    for i in [0, 4, 9, *Random(2).sample(range(parity.size), 25)]:
        broken = bytearray(data)
        broken[i] ^= 1 << (i % 8)
        assert_whole(tmp_path, bytes(broken), root, i)


def test_a_broken_seal_is_believed_when_it_states_the_root_hash(
    sealed: tuple[str, bytes, ParityMeta], tmp_path: Path
) -> None:
    root, data, parity = sealed
    text = data.index(b'{"size"', parity.size)
    states = data.index(root.encode(), parity.size)
    for i, known in ((len(data) - 1, True), (len(data) - 60, True), (text + 900, True), (states, False)):
        broken = bytearray(data)
        broken[i] ^= 1
        assert_whole(tmp_path, bytes(broken), root, i, known=known)


def test_a_broken_stretch_of_a_block_loses_nothing(sealed: tuple[str, bytes, ParityMeta], tmp_path: Path) -> None:
    root, data, parity = sealed
    assert parity.size / parity.block <= 64
    for at in Random(3).sample(range(parity.size - parity.block), 8):
        broken = bytearray(data)
        broken[at : at + parity.block] = bytes(parity.block)
        assert_whole(tmp_path, bytes(broken), root, at)


def test_the_statement_says_that_it_was_mended(sealed: tuple[str, bytes, ParityMeta], tmp_path: Path) -> None:
    _, data, parity = sealed
    broken = bytearray(data)
    broken[parity.size // 2] ^= 1
    (tmp_path / "log.arrows").write_bytes(bytes(broken))
    said = recover(tmp_path / "log.arrows", tmp_path / "out.arrows").recovered
    assert (said.state, said.reason) == ("corrupt", "a batch fails its checksum; mended with the parity in its seal")


def test_two_broken_blocks_of_one_half_are_more_than_parity_can_mend(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    write(path, long_episode(3000), commit_every=500, seal=True)
    data = bytearray(path.read_bytes())
    header = seal_header(io.BytesIO(bytes(data)))
    assert header is not None
    block = msgspec.json.decode(header.custom[PARITY_KEY], type=ParityMeta).block
    with read_log(path) as log:
        second = log._found.spans[1]
    at = second.offset + second.length // 3
    for i in (at, at + 2 * block):
        data[i] ^= 1
    assert mended(io.BytesIO(bytes(data))) is None
    path.write_bytes(bytes(data))
    said = recover(path, tmp_path / "out.arrows").recovered
    assert said.kept == ((0, 1023), (2048, 2999))


def test_a_log_that_was_sealed_without_parity_is_recovered_as_before(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    shutil.copyfile(GOLDEN, path)
    with read_log(path) as log:
        span = log._found.spans[-1]
    data = bytearray(path.read_bytes())
    data[span.offset + span.length - 50] ^= 1
    path.write_bytes(bytes(data))
    assert mended(io.BytesIO(bytes(data))) is None
    assert check(path).state == "corrupt"


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p | {"even": "no base64"},
        lambda p: p | {"odd": p["odd"][:8]},
        lambda p: p | {"block": 0},
        lambda p: p | {"sums": p["sums"][1:]},
        lambda p: p | {"sums": [s ^ 1 for s in p["sums"]]},
        lambda p: p | {"size": -1},
        lambda p: [],
    ],
)
def test_parity_that_makes_no_sense_mends_nothing(
    sealed: tuple[str, bytes, ParityMeta], change: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, data, parity = sealed
    header = seal_header(io.BytesIO(data))
    assert header is not None
    header.custom[PARITY_KEY] = msgspec.json.encode(change(msgspec.to_builtins(parity))).decode()
    monkeypatch.setattr("iwreplay.log.parity.seal_header", lambda _: header)
    broken = bytearray(data)
    broken[parity.size // 2] ^= 1
    assert mended(io.BytesIO(bytes(broken))) is None


def test_parity_is_of_the_bytes_alone() -> None:
    data = Random(4).randbytes(100_001)
    one, other = parity_of(io.BytesIO(data), len(data)), parity_of(io.BytesIO(data + b"more"), len(data))
    assert one == other
    assert (one.size, one.block, len(one.sums)) == (100_001, 2048, 49)
    assert parity_of(io.BytesIO(b""), 0).sums == ()
