"""`iwreplay show` and `iwreplay at`: an episode's timeline, and the world at one of its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, EpisodeArgument, JsonOption, StoreOption
from iwreplay.cli.output import note, print_json, print_table, say
from iwreplay.errors import UnknownNameError
from iwreplay.vocabulary import WEARER

if TYPE_CHECKING:
    from iwreplay.events import Event
    from iwreplay.store import Episode
    from iwreplay.world.state import WorldState

__all__ = ["add_to"]


def show(
    episode: Annotated[
        str | None,
        typer.Argument(
            help="Id of an episode, a unique beginning of it, or the path of a log; none lists the episodes.",
            metavar="EPISODE",
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also poses, frames, contacts and observations.")] = False,
    turn: Annotated[int | None, typer.Option("--turn", help="Only this turn.", min=0)] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show an episode as a readable timeline, or list the episodes of the store.

    A damaged log is shown as far as it is intact, and the exit code is 3.

    Example: iwreplay show G05-oracle --turn 3
    """
    from iwreplay.app.episodes import find_episode, list_episodes

    if episode is None:
        listed = list_episodes(store)
        if json:
            print_json(listed)
        else:
            names = ("episode", "task", "status", "end_reason", "turns", "actions", "events", "log_state")
            print_table(names, [[getattr(e, n) for n in names] for e in listed])
        return
    from iwreplay.cli.timeline import timeline
    from iwreplay.log import read_log

    found = find_episode(store, episode)
    with read_log(found.log) as log:
        events = iter(log) if turn is None else _of_turn(log, found, turn)
        try:
            if json:
                print_json([{"seq": seq, "event": e} for seq, e in events])
            else:
                for line in timeline(events, everything=everything):
                    say(line)
        finally:
            if log.state == "open":
                note(f"{found.id} has no end: its recorder is still at work, or was killed")


def _of_turn(log: Iterable[tuple[int, Event]], episode: Episode, turn: int) -> Iterator[tuple[int, Event]]:
    """The events of one turn. UnknownNameError when there was none."""
    last = 0
    for seq, event in log:
        last = max(last, event.turn)
        if event.turn == turn:
            yield seq, event
    if turn > last:
        raise UnknownNameError("turn", str(turn), hint=f"{episode.id} has turns 0 to {last}.")


def at(
    episode: EpisodeArgument,
    *,
    seq: Annotated[int, typer.Option("--seq", help="Number of the event after which to look.", min=0)],
    thing: Annotated[
        list[str] | None, typer.Option("--thing", help="Only these things (repeat).", metavar="ID")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show the world as it was after one event: folded from the log, without physics.

    Example: iwreplay at G05-oracle --seq 120 --thing wearer
    """
    from iwreplay.app.episodes import find_episode, world_at

    found = find_episode(store, episode)
    state = world_at(found, seq=seq)
    wanted = tuple(thing or state.attrs)
    unknown = [t for t in wanted if t not in state.attrs]
    if unknown:
        raise UnknownNameError("thing", unknown[0], known=tuple(state.attrs))
    if json:
        print_json({"episode": found.id, "seq": seq, **_described(state, wanted)})
        return
    say(f"{found.id} after event {seq}: {state.sim_time_s:.2f} s, turn {state.turn}, {state.phase}")
    rows: list[tuple[str, str, str]] = []
    for name in wanted:
        pose = state.poses.get(name)
        place = "" if pose is None else f"{pose[0]:.3f} {pose[1]:.3f} {pose[2]:.3f}"
        found_attrs = _attributes(state, name, every=bool(thing))
        # things that were asked for get a line an attribute: nothing is cut off
        lines = found_attrs if thing else ["  ".join(found_attrs)]
        rows.extend((name if i == 0 else "", place if i == 0 else "", text) for i, text in enumerate(lines or [""]))
    print_table(("thing", "x y z (m)", "attributes"), rows)


def _attributes(state: WorldState, name: str, *, every: bool) -> list[str]:
    """Attributes in words. Unless `every`, what is false, empty or usual is left out if it was so from the start."""
    usual = {WEARER: {}, **{t.id: t.attrs for t in state.scene.things}}[name]
    shown = []
    for key, value in sorted(state.attrs[name].items()):
        plain = value in (None, False, "") or (key == "exists" and value is True)
        if every or not plain or (key in usual and value != usual[key]):
            text = {True: "yes", False: "no", None: "-"}[value] if isinstance(value, bool | None) else value
            shown.append(f"{key}={text}")
    return shown


def _described(state: WorldState, wanted: tuple[str, ...]) -> dict[str, object]:
    return {
        "sim_time_s": state.sim_time_s,
        "turn": state.turn,
        "phase": state.phase,
        "step": state.step,
        "things": {t: {"pose": state.poses.get(t), "attrs": state.attrs[t]} for t in wanted},
        "joints": {j: v for j, v in state.joints.items() if j.split(".", 1)[0] in wanted},
        "body": state.body,
    }


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(show)
    app.command()(at)
