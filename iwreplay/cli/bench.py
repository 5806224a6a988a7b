"""`iwreplay bench`: whole benchmark runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from iwreplay.cli.options import (
    DEFAULT_STORE,
    AddressOption,
    EngineOption,
    JsonOption,
    MaxCostOption,
    MaxTokensOption,
    StoreOption,
)
from iwreplay.cli.output import counted, is_terminal, note, print_json, print_table, say, stages
from iwreplay.cli.secrets import secrets
from iwreplay.errors import ParticipantError

if TYPE_CHECKING:
    from iwreplay.app.benching import BenchOptions, RunState, Spent

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Whole benchmark runs: begin, go on, look.")

_INTERRUPTED = 130
ParallelOption = Annotated[int, typer.Option("--parallel", "-p", help="Episodes played at a time.", min=1)]
RunCostOption = Annotated[
    float | None,
    typer.Option("--run-cost", help="US dollars that the models of the whole run may take.", min=0.0, metavar="USD"),
]
RunTokensOption = Annotated[
    int | None, typer.Option("--run-tokens", help="Tokens that the models of the whole run may take.", min=1)
]
RateOption = Annotated[
    list[str] | None,
    typer.Option("--rate", help="Calls a minute to a provider: openai=60. Can be given several times.", metavar="P=N"),
]
RetryOption = Annotated[bool, typer.Option("--retry-faults", help="Play episodes again that ended with a fault.")]
RunArgument = Annotated[str, typer.Argument(help="Name of a run.", metavar="RUN")]


@app.command(name="run")
def bench_run(
    *,
    assistants: Annotated[
        str, typer.Option("--assistants", help="Names with commas between, as of `iwreplay run`.", metavar="A,B")
    ],
    humans: Annotated[str, typer.Option("--humans", help="Names with commas between.", metavar="H")] = "literal",
    tasks: Annotated[
        str, typer.Option("--tasks", help="Ids, beginnings of ids or files with commas between.", metavar="T,U")
    ] = "all",
    seeds: Annotated[str, typer.Option("--seeds", help="Numbers with commas between.", metavar="N,M")] = "0",
    run: Annotated[str, typer.Option("--run", help="Name of the run.", metavar="NAME")] = "bench",
    frames: Annotated[
        bool,
        typer.Option(
            "--frames/--no-frames",
            help="Draw frames and log their hashes, or only what is visible. Hosted models and persons need them, but "
            "for a model as the Human of Accessibility.",
        ),
    ] = True,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    run_cost: RunCostOption = None,
    run_tokens: RunTokensOption = None,
    rate: RateOption = None,
    parallel: ParallelOption = 1,
    engine: EngineOption = "local",
    ray_address: AddressOption = None,
    retry_faults: RetryOption = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Play every task with every Assistant and every Human.

    The plan is written down before the first episode. However the run is stopped (Ctrl-C, kill -9, a spent budget),
    the same command, or `iwreplay bench resume NAME`, goes on with it: episodes that are whole are not played again,
    those that were broken off are, and none counts twice. A setting of a hosted model is written after a semicolon
    here: model:openai/NAME;memory=on.

    Exit code 1 when an episode is not valid or a budget is spent, 130 after Ctrl-C.

    Example: iwreplay bench run --assistants oracle,silent --tasks G05,V06 --parallel 2

    Example: iwreplay bench run --run gpt --assistants "model:openai/gpt-5.5;memory=on" --tasks V06 --rate openai=60
    """
    from iwreplay.app.benching import known_plan, plan_run, play_run

    options = _options(
        run=(run_cost, run_tokens),
        episode=(max_cost, max_tokens),
        rate=rate,
        parallel=parallel,
        engine=engine,
        ray_address=ray_address,
        retry_faults=retry_faults,
    )

    def play(telling: Telling) -> RunState:
        plan = plan_run(
            assistants=_names(assistants),
            humans=_names(humans),
            tasks=_names(tasks),
            seeds=tuple(_seed(s) for s in _names(seeds)),
            frames=frames,
            secrets=secrets(),
            known=known_plan(store, run),
            progress=telling.looking,
        )
        return play_run(store, run, plan=plan, options=options, progress=telling.standing, looking=telling.looking)

    _play(play, run, store=store, json=json)


@app.command()
def resume(
    run: RunArgument,
    *,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    run_cost: RunCostOption = None,
    run_tokens: RunTokensOption = None,
    rate: RateOption = None,
    parallel: ParallelOption = 1,
    engine: EngineOption = "local",
    ray_address: AddressOption = None,
    retry_faults: RetryOption = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Go on with a run as it was planned.

    Budgets and rates stay as they were said last; those that are given here are in their place. How many are played at
    a time may be another number than before. What was spent before counts.

    Example: iwreplay bench resume bench --run-cost 100
    """
    from iwreplay.app.benching import play_run

    options = _options(
        run=(run_cost, run_tokens),
        episode=(max_cost, max_tokens),
        rate=rate,
        parallel=parallel,
        engine=engine,
        ray_address=ray_address,
        retry_faults=retry_faults,
    )

    def play(telling: Telling) -> RunState:
        return play_run(store, run, plan=None, options=options, progress=telling.standing, looking=telling.looking)

    _play(play, run, store=store, json=json)


@app.command()
def show(run: RunArgument, *, store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Show where a run stands: pass by family, faults, what it took.

    Example: iwreplay bench show bench
    """
    from iwreplay.app.benching import run_state

    state = run_state(store, run)
    _print(state, json=json)
    if not json:
        _note_faults(state, store)


@app.command(name="list")
def list_of_runs(*, store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """List the runs of a store.

    Example: iwreplay bench list --json
    """
    from iwreplay.app.benching import list_runs

    runs = list_runs(store)
    if json:
        print_json(runs)
    else:
        rows = [(r.run, r.planned, r.ended, r.valid, r.passed, r.spent.tokens, _usd(r.spent)) for r in runs]
        print_table(("run", "planned", "ended", "valid", "passed", "tokens", "cost_usd"), rows)


def _options(
    *,
    run: tuple[float | None, int | None],
    episode: tuple[float | None, int | None],
    rate: list[str] | None,
    **more: Any,
) -> BenchOptions:
    """What the options say; `run` and `episode`: US dollars and tokens of each."""
    from iwreplay.app.benching import BenchOptions, Budget, Limits

    return BenchOptions(
        limits=Limits(
            run=Budget(cost_usd=run[0], tokens=run[1]),
            episode=Budget(cost_usd=episode[0], tokens=episode[1]),
            per_minute=_rates(rate or []),
        ),
        secrets=secrets(),
        **more,
    )


def _play(play: Callable[[Telling], RunState], run: str, *, store: Path, json: bool) -> None:
    from iwreplay.app.benching import RunStopped

    stopped: RunStopped | None = None
    try:
        with _telling(run) as telling:
            state = play(telling)
    except RunStopped as e:
        state, stopped = e.state, e
    _print(state, json=json)
    for fault in state.faults:
        note(f"not valid: {fault}")
    _note_faults(state, store)
    if stopped is None:
        raise typer.Exit(1 if state.faults else 0)
    more = f" {stopped.raised}" if stopped.raised else ""
    note(f"{stopped.why}; go on with: {_resume(run, store)}{more}")
    if stopped.why == "interrupted":
        # said already
        sys.exit(_INTERRUPTED)
    raise typer.Exit(1)


class Telling(NamedTuple):
    """Who hears how things stand."""

    #: tasks that were looked at, of so many
    looking: Callable[[int, int], None]
    standing: Callable[[RunState], None]


@contextmanager
def _telling(run: str) -> Iterator[Telling]:
    """On a terminal a bar; elsewhere lines on stderr, one for each episode that ended."""
    if is_terminal(sys.stderr):
        with stages(run) as tell:
            yield Telling(
                looking=lambda done, of: tell(done, of, "tasks looked at"),
                standing=lambda s: tell(s.ended, s.planned, f"{s.passed} of {s.valid} passed{_cost(s)}"),
            )
        return
    told: set[object] = set()

    def once(key: object, line: str) -> None:
        if key not in told:
            told.add(key)
            note(line)

    yield Telling(
        looking=lambda done, of: once("looking", f"{run}: looking at {counted(of, 'task')}"),
        standing=lambda s: once(
            s.ended, f"{run}: {s.ended} of {s.planned} done, {s.passed} of {s.valid} passed{_cost(s)}"
        ),
    )


def _cost(state: RunState) -> str:
    cost = _usd(state.spent, decimals=2)
    return f", {cost} dollars" if state.spent.calls and cost is not None else ""


def _usd(spent: Spent, *, decimals: int = 4) -> str | None:
    """US dollars as they are known: None when they are of no call, "at least" when of some."""
    if spent.cost_usd is None:
        return None
    known = f"{spent.cost_usd:.{decimals}f}"
    return f"at least {known}" if spent.unpriced else known


def _resume(run: str, store: Path) -> str:
    return f"iwreplay bench resume {run}{'' if store == DEFAULT_STORE else f' --store {shlex.quote(str(store))}'}"


def _note_faults(state: RunState, store: Path) -> None:
    if state.faults:
        note(
            f"{counted(len(state.faults), 'episode')} ended with a fault; to play them again: "
            f"{_resume(state.run, store)} --retry-faults"
        )


def _print(state: RunState, *, json: bool) -> None:
    if json:
        print_json(state)
        return
    say(f"Run {state.run}: {state.ended} of {counted(state.planned, 'episode')} done, {state.valid} of them valid.")
    families = [*state.pairs[0].by_family] if state.pairs else []
    letters = [f[0].upper() if f != "prevention" else "V" for f in families]
    columns = ("assistant", "human", "valid", "passed", *letters, "average", "mcr", "tokens", "usd")
    rows = [
        (
            p.assistant, p.human, p.valid, p.passed, *(_percent(p.by_family[f]) for f in families),
            _percent(p.average), _percent(p.mcr), p.spent.tokens, _usd(p.spent),
        )
        for p in state.pairs
    ]  # fmt: skip
    print_table(columns, rows, whole=2)
    say(
        f"{', '.join(f'{x} {f}' for x, f in zip(letters, families, strict=True))}: passed in percent of valid episodes;"
    )
    say("average: the mean of the six families; mcr: mean share of the objectives, in percent.")
    for p in state.pairs:
        if p.unheard.silenced_turns or p.unheard.malformed_calls or p.unheard.refused_calls:
            say(f"{p.assistant} with {p.human}: {p.unheard}; what was answered: iwreplay show EPISODE")
    if state.spent.calls:
        price = "at a price that is not known" if state.spent.cost_usd is None else f"{_usd(state.spent)} US dollars"
        unpriced = f" ({state.spent.unpriced} of them at a price that is not known)" if state.spent.unpriced else ""
        say(
            f"{counted(state.spent.calls, 'call')} to models, {state.spent.tokens} tokens, {price}"
            f"{unpriced if state.spent.cost_usd is not None else ''}. Episodes that were broken off are in it."
        )
    limits = [*_limits(state)]
    if limits:
        say(f"Limits: {', '.join(limits)}.")


def _limits(state: RunState) -> Iterator[str]:
    for whose, budget in (("the run", state.limits.run), ("each episode", state.limits.episode)):
        if budget.cost_usd is not None:
            yield f"{budget.cost_usd:g} US dollars for {whose}"
        if budget.tokens is not None:
            yield f"{budget.tokens} tokens for {whose}"
    for provider, rate in state.limits.per_minute.items():
        yield f"{rate:g} calls a minute to {provider}"


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100.0 * share, 1)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise ParticipantError(f"seed {text!r} is not a whole number from 0")
    return int(text)


def _rates(given: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for rate in given:
        provider, _, number = rate.partition("=")
        try:
            found[provider.strip()] = float(number)
        except ValueError:
            found[provider.strip()] = 0.0
        if not (provider.strip() and 0.0 < found[provider.strip()] <= 1e6):
            raise ParticipantError(f"--rate {rate}: it is PROVIDER=CALLS A MINUTE, such as openai=60")
    return found
