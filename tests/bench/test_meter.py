"""One budget and one rate for all workers of a run."""

from __future__ import annotations

import threading

import msgspec
import pytest

from iwreplay.app.engines import MeterServer
from iwreplay.ports import ModelReply
from recorder.benchmark import Charged, RunMeter
from recorder.benchmark.meter import RemoteMeter, provider_of
from recorder.models.metering import RUN_BUDGET, Budget, BudgetSpentError, Spent


def charged(cost: float | None = 0.25, tokens: int | None = 100) -> Charged:
    return Charged(model="lab/m", input_tokens=tokens, output_tokens=0, cost_usd=cost)


def reply() -> ModelReply:
    return ModelReply(text="", input_tokens=60, output_tokens=40, cost_usd=0.25, finish="stop", retries=0)


def test_calls_to_a_provider_are_spread_over_the_minute() -> None:
    now = [100.0]
    kept: list[Charged] = []
    meter = RunMeter(Budget(), per_minute={"lab": 30.0}, spent=Spent(), keep=kept.append, now=lambda: now[0])
    assert [meter.reserve("lab/m")[0] for _ in range(3)] == [0.0, 2.0, 4.0]
    assert meter.reserve("other/m") == (0.0, None)
    now[0] = 103.0
    assert meter.reserve("lab/n")[0] == 3.0
    now[0] = 200.0
    assert meter.reserve("lab/m")[0] == 0.0


def test_what_was_spent_before_counts() -> None:
    meter = RunMeter(Budget(cost_usd=1.0), per_minute={}, spent=Spent(cost_usd=0.75), keep=lambda c: None)
    assert meter.used_up() is None
    meter.charge(charged())
    assert meter.used_up() == "$1.0000 of $1.0000"
    assert meter.reserve("lab/m") == (0.0, "$1.0000 of $1.0000")


def test_tokens_are_limited_where_nobody_knows_the_price() -> None:
    meter = RunMeter(Budget(tokens=150), per_minute={}, spent=Spent(), keep=lambda c: None)
    meter.charge(charged(cost=None))
    assert (meter.used_up(), meter.spent.unpriced) == (None, 1)
    meter.charge(charged(cost=None, tokens=None))
    meter.charge(charged(cost=None))
    assert meter.used_up() == "200 of 150 tokens"


def test_a_charge_that_can_not_be_kept_does_not_count_as_kept() -> None:
    def refuse(charged: Charged) -> None:
        raise OSError("disk full")

    meter = RunMeter(Budget(), per_minute={}, spent=Spent(), keep=refuse)
    with pytest.raises(OSError, match="disk full"):
        meter.charge(charged())
    assert meter.spent == Spent()


def test_a_worker_waits_and_is_refused_where_it_is() -> None:
    waits: list[float] = []
    meter = RunMeter(Budget(tokens=100), per_minute={"lab": 60.0}, spent=Spent(), keep=lambda c: None, now=lambda: 0.0)
    remote = RemoteMeter(meter, wait=waits.append)
    remote.admit("lab/m")
    remote.admit("lab/m")
    assert waits == [1.0]
    remote.charge("lab/m", reply())
    with pytest.raises(BudgetSpentError, match="the budget of this run is spent") as raised:
        remote.admit("lab/m")
    assert raised.value.code == RUN_BUDGET


def test_workers_elsewhere_count_in_the_process_that_leads() -> None:
    kept: list[Charged] = []
    meter = RunMeter(Budget(tokens=4000), per_minute={}, spent=Spent(), keep=kept.append)
    server = MeterServer(meter)
    try:

        def work() -> None:
            for _ in range(10):
                server.remote.admit("lab/m")
                server.remote.charge("lab/m", reply())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (meter.spent.calls, meter.spent.tokens, len(kept)) == (40, 4000, 40)
        with pytest.raises(BudgetSpentError):
            server.remote.admit("lab/m")
    finally:
        server.close()


def test_an_error_of_the_leader_is_raised_by_the_worker() -> None:
    def refuse(charged: Charged) -> None:
        raise OSError(28, "disk full")

    server = MeterServer(RunMeter(Budget(), per_minute={}, spent=Spent(), keep=refuse))
    try:
        with pytest.raises(OSError, match="disk full"):
            server.remote.charge("lab/m", reply())
    finally:
        server.close()


def test_a_provider_is_what_stands_before_the_slash() -> None:
    assert provider_of("openai/gpt-5.5") == "openai"
    assert provider_of("bedrock/us/claude") == "bedrock"


def test_a_charge_says_as_much_as_a_reply() -> None:
    assert {f.name for f in msgspec.structs.fields(Charged)} - {"model"} == {
        "input_tokens", "output_tokens", "cost_usd",
    }  # fmt: skip
