"""`iwreplay bench`: whole benchmark runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

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
from iwreplay.cli.output import counted, note, print_json, print_table, say, stages
from iwreplay.cli.secrets import secrets
from iwreplay.errors import ParticipantError

if TYPE_CHECKING:
    from iwreplay.app.benching import BenchOptions, RunState

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Whole benchmark runs: begin, go on, look.")

ParallelOption = Annotated[int, typer.Option("--parallel", "-p", help="Episodes played at a time.", min=1)]
RunCostOption = Annotated[
    float | None,
    typer.Option("--run-cost", help="US dollars that the models of the whole run may take.", min=0.0, metavar="USD"),
]
RunTokensOption = Annotated[
    int | None, typer.Option("--run-tokens", help="Tokens that the models of the whole run may take.", min=0)
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
        bool, typer.Option("--frames/--no-frames", help="Draw frames and log their hashes, or only what is visible.")
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
    from iwreplay.app.benching import plan_run, play_run

    options = _options(
        run=(run_cost, run_tokens),
        episode=(max_cost, max_tokens),
        rate=rate,
        parallel=parallel,
        engine=engine,
        ray_address=ray_address,
        retry_faults=retry_faults,
    )
    plan = plan_run(
        assistants=_names(assistants),
        humans=_names(humans),
        tasks=_names(tasks),
        seeds=tuple(_seed(s) for s in _names(seeds)),
        frames=frames,
        secrets=secrets(),
    )
    _play(lambda tell: play_run(store, run, plan=plan, options=options, progress=tell), run, json=json)


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

    Budgets, rates and how many are played at a time may be others than before. What was spent before counts.

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
    _play(lambda tell: play_run(store, run, plan=None, options=options, progress=tell), run, json=json)


@app.command()
def show(run: RunArgument, *, store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Show where a run stands: pass by family, faults, what it took.

    Example: iwreplay bench show bench
    """
    from iwreplay.app.benching import run_state

    _print(run_state(store, run), json=json)


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
        rows = [(r.run, r.planned, r.ended, r.valid, r.passed, r.spent.tokens, r.spent.cost_usd) for r in runs]
        print_table(("run", "planned", "ended", "valid", "passed", "tokens", "cost_usd"), rows)


def _options(
    *,
    run: tuple[float | None, int | None],
    episode: tuple[float | None, int | None],
    rate: list[str] | None,
    **more: Any,
) -> BenchOptions:
    """What the options say; `run` and `episode`: US dollars and tokens of each."""
    from iwreplay.app.benching import BenchOptions, Budget

    return BenchOptions(
        budget=Budget(cost_usd=run[0], tokens=run[1]),
        episode_budget=Budget(cost_usd=episode[0], tokens=episode[1]),
        per_minute=_rates(rate or []),
        secrets=secrets(),
        **more,
    )


def _play(play: Callable[[Callable[[RunState], None]], RunState], run: str, *, json: bool) -> None:
    from iwreplay.app.benching import RunStopped

    stopped = None
    try:
        with _progress(run) as tell:
            state = play(tell)
    except RunStopped as e:
        state, stopped = e.state, e.why
    _print(state, json=json)
    for fault in state.faults:
        note(f"not valid: {fault}")
    if stopped is not None:
        note(f"{stopped}; go on with: iwreplay bench resume {run}")
    if stopped == "interrupted":
        raise KeyboardInterrupt
    if stopped is not None or state.faults:
        raise typer.Exit(1)


@contextmanager
def _progress(run: str) -> Iterator[Callable[[RunState], None]]:
    with stages(run) as tell:
        yield lambda s: tell(s.ended, s.planned, f"{s.passed} of {s.valid} passed{_cost(s)}")


def _cost(state: RunState) -> str:
    return f", ${state.spent.cost_usd:.2f}" if state.spent.calls else ""


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
            _percent(p.average), _percent(p.mcr), p.tokens, p.cost_usd,
        )
        for p in state.pairs
    ]  # fmt: skip
    print_table(columns, rows)
    say(
        f"{', '.join(f'{x} {f}' for x, f in zip(letters, families, strict=True))}: passed in percent of valid episodes;"
    )
    say("average: the mean of the six families; mcr: mean share of the objectives, in percent.")
    if state.spent.calls:
        unpriced = f"; the price of {state.spent.unpriced} of them is not known" if state.spent.unpriced else ""
        say(
            f"{counted(state.spent.calls, 'call')} to models, {state.spent.tokens} tokens, "
            f"${state.spent.cost_usd:.4f}{unpriced}. Episodes that were broken off are in it."
        )


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
