"""What the log alone can tell, and how fast: ratio estimators in rows per second, off-policy values in
seconds.

CartPole under uniform behaviour, and a policy that balances now and then. A ratio's update is timed inside
one compiled loop, over as many rows as ``learn`` gives it. Writes ``results/bench/estimators.json``; a few
minutes.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import jax.numpy as jnp
from harness import SCRATCH, Results, Row, clock, in_turn, ratio, seconds, spread
from ope import pushing

import offnac
from offnac import Log, Policy
from offnac.presets.from_log import DEFAULT
from offnac.ratios import Fourier, Kernel, LeastSquares, RatioData
from offnac.schedules import Clock

TASK, SHARPNESS, GAMMA = "CartPole-v1", 1.0, 0.99
ESTIMATORS: dict[str, Any] = {
    "kernel, direct": Kernel("direct"),
    "kernel, stationary": Kernel("stationary"),
    "kernel, discounted": Kernel("discounted"),
    "least squares, direct": LeastSquares("direct", Fourier(64)),
    "least squares, stationary": LeastSquares("stationary", Fourier(64)),
}
BASE = "kernel, direct"
UPDATES = 20


def log_of(rows: int) -> Path:
    """A log of uniform behaviour, collected once."""
    path = SCRATCH / f"cartpole-{rows}.parquet"
    if not path.exists():
        SCRATCH.mkdir(parents=True, exist_ok=True)
        offnac.collect(TASK, steps=rows, out=path, first_seed=0)
    return path


def updating(estimator: Any, log: Log, policy: Policy) -> Callable[[], float]:
    """Rows per second of an estimator's updates, each on the next rows of the log."""
    rows = DEFAULT.ratio_rows
    columns = jax.tree.map(lambda column: jnp.asarray(column[: rows * UPDATES]), log.rows)
    softmax = policy.acting().policy
    initial = jnp.asarray(log.rows.observation[log.starts[:256]])
    state = estimator.init(jax.random.key(0), log.spec)

    @jax.jit
    def loop(state: Any) -> Any:
        def update(i: Any, state: Any) -> Any:
            batch = jax.tree.map(lambda column: jax.lax.dynamic_slice_in_dim(column, i * rows, rows), columns)
            rho = softmax.probability_ratio(policy.theta, batch)
            data = RatioData(batch, rho, initial, jnp.ones(rows))
            return estimator.update(state, data, GAMMA, jax.random.key(i), Clock.start())[0]

        return jax.lax.fori_loop(0, UPDATES, update, state)

    def measure() -> float:
        began = clock()
        jax.block_until_ready(loop(state))
        return rows * UPDATES / (clock() - began)

    return measure


def ratios(repeats: int) -> Row:
    log = offnac.read_log(log_of(DEFAULT.ratio_rows * UPDATES))
    policy = pushing(TASK, log.spec, SHARPNESS)
    found = in_turn({name: updating(one, log, policy) for name, one in ESTIMATORS.items()}, repeats)
    return {
        "rows": DEFAULT.ratio_rows,
        "repeats": repeats,
        "rows_per_second": {name: spread(rates) for name, rates in found.items()},
        "times_base": {name: ratio(rates, found[BASE]) for name, rates in found.items()},
    }


def values(rows: int, repeats: int) -> Row:
    """Reading a log and evaluating a policy on it, in turn."""
    path = log_of(rows)
    log = offnac.read_log(path)
    policy = pushing(TASK, log.spec, SHARPNESS)
    contenders = {
        "read": partial(seconds, partial(offnac.read_log, path)),
        "ope": partial(seconds, partial(offnac.ope, policy, log, gamma=GAMMA)),
    }
    found = in_turn(contenders, repeats)
    return {
        "repeats": repeats,
        "seconds": {name: spread(times) for name, times in found.items()},
        "times_reading": ratio(found["ope"], found["read"]),
    }


def lines(rows: list[Row]) -> list[list[str]]:
    shown = []
    for row in rows:
        if "seconds" in row:
            took, reading = (f"{row['seconds'][name]['median']:.2f} s" for name in ("ope", "read"))
            beside = f"{row['times_reading']:.0f}× reading the log ({reading})"
            shown.append([row["what"], f"{row['rows']:,}", took, beside])
            continue
        for name, rate in row["rows_per_second"].items():
            beside = f"{row['times_base'][name]:.1f}× {BASE}"
            shown.append([name, f"{row['rows']:,}", f"{rate['median']:,.0f} rows/s", beside])
    return shown


def main() -> None:
    given = harness.arguments(__doc__, rows=(1_000_000, "rows of the log for off-policy evaluation"))
    about = (
        "Rows per second of the ratio estimators' updates, as many rows at a time as `learn` gives them, "
        "and seconds of `ope` with all its estimators and intervals, on a CartPole log of uniform "
        "behaviour."
    )
    harness.one_core()
    results = Results("estimators", "Ratios and off-policy values", about, given)
    columns = ["what", "rows", "measured", "taken in turn with"]
    results.measure({"what": "ratio updates"}, partial(ratios, given.repeats))
    results.write_table(columns, lines(results.rows))
    results.measure({"what": "ope", "rows": given.rows}, partial(values, given.rows, given.repeats))
    results.write_table(columns, lines(results.rows))


if __name__ == "__main__":
    main()
