"""Errors come out of a worker process as they went in."""

from __future__ import annotations

import pickle

import pytest

from iwreplay import errors
from iwreplay.errors import IwreplayError
from recorder.assistants.lines import LinesError

RAISED: tuple[IwreplayError, ...] = (
    errors.UnknownNameError("task", "X", known=("G05", "P04")),
    errors.AmbiguousNameError("task", "X", fits=("X1", "X2")),
    errors.CheckError("no such thing", task="G05", check="served", path=(1, 2)),
    errors.LogCorruptError("a batch fails its checksum", path="log.arrows", seq=3, offset=7),
    errors.FormatTooNewError(3, 1, path="log.arrows"),
    errors.NotOpenedError("StateDelta", seq=0),
    errors.LogWriteError("no room"),
    errors.StoreDamagedError("not a marker"),
    errors.RemoteError("s3://b/x", "there is no bucket", hint="Make it."),
    errors.RemoteDamagedError("s3://b/x", "episodes/e/manifest.json", "cut", hint="Push it again."),
    errors.MissingLibraryError("pandas", "a DataFrame", way="pip install pandas"),
    LinesError("no such decision", name="x.txt", place="line 1", value="shout"),
)


@pytest.mark.parametrize("raised", RAISED, ids=lambda e: type(e).__name__)
def test_an_error_is_the_same_behind_a_process(raised: IwreplayError) -> None:
    came = pickle.loads(pickle.dumps(raised))
    assert type(came) is type(raised)
    assert (str(came), came.args, came.exit_code) == (str(raised), raised.args, raised.exit_code)
    assert vars(came) == vars(raised)
