"""A coarse closed mesh of polygons with joint weights, and its refinement to a smooth one (Catmull and Clark, 1978).

Scalar arithmetic in a fixed order with + - * / only: the refined mesh has the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iwreplay.pose import Vec3

__all__ = ["Cage", "Half", "Influences", "Tag"]

#: joint index -> share; the shares of a vertex add up to 1
Influences = Mapping[int, float]
#: (what a face is made of, the region of the body that it belongs to)
Tag = tuple[str, str]


@dataclass
class Cage:
    """Vertices and faces in the rest pose (SMPL axes, metres, origin in the pelvis joint)."""

    positions: list[Vec3] = field(default_factory=list)
    influences: list[Influences] = field(default_factory=list)
    #: counter-clockwise seen from outside
    faces: list[tuple[int, ...]] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)

    def vertex(self, p: Vec3, influences: Influences) -> int:
        """Adds a vertex and gives its number."""
        self.positions.append(p)
        self.influences.append(influences)
        return len(self.positions) - 1

    def face(self, corners: Sequence[int], tag: Tag) -> None:
        """Adds a polygon."""
        self.faces.append(tuple(corners))
        self.tags.append(tag)

    def refined(self) -> Cage:
        """Every polygon split into quadrilaterals at smoothed places; shares are smoothed by the same rule.

        The surface must be closed: every edge belongs to two faces. Vertices that belong to none are left out.
        """
        rows = [_Row(p, w) for p, w in zip(self.positions, self.influences, strict=True)]
        middles = [_mean([rows[v] for v in face]) for face in self.faces]
        edges: dict[tuple[int, int], list[int]] = {}
        around: list[list[int]] = [[] for _ in rows]
        for f, face in enumerate(self.faces):
            for a, b in zip(face, (*face[1:], face[0]), strict=True):
                edges.setdefault((min(a, b), max(a, b)), []).append(f)
                around[a].append(f)
        out = Cage()
        beside: list[list[_Row]] = [[] for _ in rows]
        for a, b in edges:
            half = _mean([rows[a], rows[b]])
            beside[a].append(half)
            beside[b].append(half)
        at_vertex: dict[int, int] = {}
        for v, row in enumerate(rows):
            if around[v]:
                n = float(len(around[v]))
                q, r = _mean([middles[f] for f in around[v]]), _mean(beside[v])
                at_vertex[v] = out._add(_mix([(q, 1.0 / n), (r, 2.0 / n), (row, (n - 3.0) / n)]))
        at_edge = {e: out._add(_mean([rows[e[0]], rows[e[1]], *(middles[f] for f in edges[e])])) for e in edges}
        at_face = [out._add(m) for m in middles]
        for f, face in enumerate(self.faces):
            for k, v in enumerate(face):
                after, before = face[(k + 1) % len(face)], face[k - 1]
                corners = (
                    at_vertex[v],
                    at_edge[min(v, after), max(v, after)],
                    at_face[f],
                    at_edge[min(v, before), max(v, before)],
                )
                out.face(corners, self.tags[f])
        return out

    def _add(self, row: _Row) -> int:
        return self.vertex(row.at, row.shares)


@dataclass(frozen=True)
class Half:
    """Builds the left half of a body, or with `sign` -1 the same for the right, mirrored."""

    cage: Cage
    sign: float

    @property
    def name(self) -> str:
        """Prefix of the joints of this side."""
        return "left" if self.sign > 0.0 else "right"

    def vertex(self, p: Vec3, influences: Influences) -> int:
        """A vertex given by its place on the left."""
        return self.cage.vertex((self.sign * p[0], p[1], p[2]), influences)

    def face(self, corners: Sequence[int], tag: Tag) -> None:
        """A polygon given as it runs on the left."""
        self.cage.face(corners if self.sign > 0.0 else tuple(reversed(corners)), tag)

    def bridge(self, a: Sequence[int], b: Sequence[int], tag: Tag) -> None:
        """Quadrilaterals between two rings. From b, ring a runs counter-clockwise."""
        n = len(a)
        for k in range(n):
            self.face((a[k], a[(k + 1) % n], b[(k + 1) % n], b[k]), tag)


@dataclass(frozen=True)
class _Row:
    at: Vec3
    shares: Influences


def _mean(rows: Sequence[_Row]) -> _Row:
    return _mix([(r, 1.0 / len(rows)) for r in rows])


def _mix(parts: Sequence[tuple[_Row, float]]) -> _Row:
    x = y = z = 0.0
    shares: dict[int, float] = {}
    for row, k in parts:
        x, y, z = x + k * row.at[0], y + k * row.at[1], z + k * row.at[2]
        for joint, share in row.shares.items():
            shares[joint] = shares.get(joint, 0.0) + k * share
    return _Row((x, y, z), shares)
