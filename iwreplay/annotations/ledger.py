"""Records folded: which of them stand. The order in which they came says nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iwreplay.annotations.model import Adjudication, Label, Record, Statement, Validity, record_id

__all__ = ["Ledger"]


class Ledger:
    """A set of records. The same records in any order, and any of them twice, are the same ledger."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        #: by id
        self.records: dict[str, Record] = {record_id(r): r for r in records}
        #: ids of records that another one takes the place of
        self.superseded: frozenset[str] = frozenset(s for r in self.records.values() for s in r.supersedes)
        self._depths = _depths(self.records)
        self._about: dict[str, list[str]] = {}
        for name, record in self.records.items():
            self._about.setdefault(record.root_hash, []).append(name)

    @property
    def root_hashes(self) -> tuple[str, ...]:
        """Of the logs that there are records about, sorted."""
        return tuple(sorted(self._about))

    @property
    def annotators(self) -> tuple[str, ...]:
        """Everybody who said anything, sorted."""
        return tuple(sorted({r.annotator for r in self.records.values()}))

    def about(self, root_hash: str) -> tuple[str, ...]:
        """Ids of all records about a log: by annotator, each after those that it supersedes."""
        names = self._about.get(root_hash, [])
        return tuple(sorted(names, key=lambda n: (self.records[n].annotator, self._depths[n], n)))

    def standing(self, root_hash: str) -> dict[str, dict[str, Statement]]:
        """What each annotator says of a log at present: annotator -> id -> statement. It is one statement as a rule;
        more when records were merged that do not know of each other."""
        found: dict[str, dict[str, Statement]] = {}
        for name in self.about(root_hash):
            record = self.records[name]
            if name not in self.superseded and not isinstance(record, Adjudication):
                found.setdefault(record.annotator, {})[name] = record
        return found

    def first(self, root_hash: str) -> dict[str, dict[str, Statement]]:
        """What each annotator said of a log first: labels and statements of invalidity that take the place of none."""
        found: dict[str, dict[str, Statement]] = {}
        judged: set[str] = set()
        for name in self.about(root_hash):
            record = self.records[name]
            later = not judged.isdisjoint(record.supersedes)
            judges = isinstance(record, Label) or (isinstance(record, Validity) and not record.valid)
            if judges or later:
                judged.add(name)
            if judges and not later and not isinstance(record, Adjudication):
                found.setdefault(record.annotator, {})[name] = record
        return found

    def adjudications(self, root_hash: str) -> dict[str, Adjudication]:
        """The adjudications of a log that stand: id -> adjudication; one as a rule."""
        return {
            name: record
            for name in self.about(root_hash)
            if name not in self.superseded and isinstance(record := self.records[name], Adjudication)
        }


def _depths(records: Mapping[str, Record]) -> dict[str, int]:
    """Of each record: how many are in the longest chain that it supersedes. Ids are hashes, so there is no cycle."""
    depths: dict[str, int] = {}
    for name in records:
        todo = [name]
        while todo:
            below = [s for s in records[todo[-1]].supersedes if s in records]
            unknown = [s for s in below if s not in depths]
            todo += unknown
            if not unknown:
                depths[todo.pop()] = 1 + max((depths[s] for s in below), default=-1)
    return depths
