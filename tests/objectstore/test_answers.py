"""An answer of the catalogue as an object: there whole, or not at all."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from iwreplay.app.catalogue import open_catalogue
from iwreplay.app.remoting import export_to
from iwreplay.errors import QueryError, RemoteError, StoreError
from iwreplay.remote import RemoteFiles, parse_address
from iwreplay.store import Store
from tests.objectstore.conftest import QUICK, Address, Run, objects
from tests.objectstore.proxy import Proxy

SQL = "SELECT episode, task, events FROM episodes ORDER BY 1"


def test_an_answer_is_written_to_an_object_store(run: Run, store: Store, address: Address, s3, bucket: str) -> None:
    there = address("answers/x.parquet")
    done = run("query", SQL, "--out", there, "--store", store.root)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"3 rows of 3 columns written to {there}\n"
    found = pq.read_table(io.BytesIO(objects(s3, bucket)["answers/x.parquet"]))
    with open_catalogue(store.root) as catalogue:
        assert found.to_pylist() == catalogue.arrow(SQL).to_pylist()
    before = objects(s3, bucket)
    done = run("query", "SELECT 1", "--out", there, "--store", store.root)
    assert (done.code, "is there already; with --replace" in done.err) == (2, True)
    assert objects(s3, bucket) == before
    assert run("query", "SELECT 1 AS one", "--out", there, "--replace", "--store", store.root, "--json").code == 0
    assert pq.read_table(io.BytesIO(objects(s3, bucket)["answers/x.parquet"])).to_pylist() == [{"one": 1}]


def test_what_can_not_be_written_leaves_nothing(store: Store, address: Address, proxy: Proxy, s3, bucket: str) -> None:
    with open_catalogue(store.root) as catalogue:
        catalogue.refresh()
        with pytest.raises(QueryError, match="its name must end in"):
            export_to(catalogue, SQL, address("a/x.txt"), patience=QUICK)
        with pytest.raises(QueryError, match="names no file in a bucket"):
            export_to(catalogue, SQL, "s3://bucket.parquet", patience=QUICK)
        with pytest.raises(QueryError, match="Conversion Error"):
            export_to(catalogue, "SELECT CAST('a' AS INTEGER)", address("a/x.csv"), patience=QUICK)
        proxy.always("lost", method="PUT")
        with pytest.raises(RemoteError, match="4 attempts failed"):
            export_to(catalogue, SQL, address("a/x.csv"), patience=QUICK)
    assert objects(s3, bucket) == {}


@pytest.mark.parametrize("size", [1_000, 12_000_000], ids=["one request", "in parts"])
@pytest.mark.parametrize("wrong", [("lost", 0), ("status", 500)], ids=str)
def test_a_large_object_gets_over_what_passes_and_is_there_whole(
    address: Address, proxy: Proxy, tmp_path: Path, size: int, wrong: tuple[str, int]
) -> None:
    source = tmp_path / "file"
    source.write_bytes(bytes(range(250)) * (size // 250))
    files = RemoteFiles(parse_address(address()), patience=QUICK)
    sha256 = hashlib.sha256(source.read_bytes()).hexdigest()
    proxy.always(*wrong, method="PUT", times=2)
    files.upload("x", source, size=size, sha256=sha256)
    files.fetch("x", tmp_path / "back", size=size, sha256=sha256)
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    proxy.always(*wrong, method="PUT")
    with pytest.raises(RemoteError, match="4 attempts failed"):
        files.upload("y", source, size=size, sha256=sha256)
    proxy.well()
    assert RemoteFiles(parse_address(address()), patience=QUICK).size("y") is None, "no part of it is there"


def test_a_file_that_changed_meanwhile_is_not_left_under_the_name_of_what_it_was(
    address: Address, tmp_path: Path
) -> None:
    source = tmp_path / "file"
    source.write_bytes(b"other bytes")
    files = RemoteFiles(parse_address(address()), patience=QUICK)
    with pytest.raises(StoreError, match="changed while it was sent"):
        files.upload("x", source, size=11, sha256="0" * 64)
    assert files.size("x") is None
