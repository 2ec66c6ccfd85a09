"""How the cost grows: with seeds, with rows of a log, and with the actor's parameters for each solver of x.

Seeds: ``train`` on one core, tests and files included. Rows: reading a log, and what ``learn`` does before
its first iteration (an iteration itself does not depend on the rows); ``ope`` as far as --most-ope-rows.
Parameters: one natural direction over a batch. Fits cost ∝ sizeᵖ and draws ``growth.png`` and ``growth.svg``
beside ``results/bench/growth.json``; about five minutes.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import jax.numpy as jnp
from estimators import GAMMA, SHARPNESS, TASK, log_of
from harness import Results, Row, clock, exponent, in_turn, seconds, spread
from ope import pushing

import offnac
from offnac import Log, environments, files, presets
from offnac.directions import Iterative, Ridge
from offnac.directions.ridge import MATRIX_LIMIT
from offnac.experiments.figures import KINDS, STYLE
from offnac.networks import MLP
from offnac.optimisers import Adam
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock, Constant
from offnac.training.from_log.data import load
from offnac.training.from_log.split import split
from offnac.training.from_log.units import units
from offnac.training.stream import train_seeds
from offnac.transition import Transition

SEEDS = (1, 2, 4, 8, 16, 32, 64)
EPISODES = 50
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
HIDDEN = (8, 27, 83, 264, 833, 2635, 8333)
INPUTS, ACTIONS, BATCH = 8, 4, 1024
SOLVERS: dict[str, Any] = {
    "iterative": Iterative(Adam(Constant(1e-3))),
    "ridge, samples": Ridge(solver="sample"),
    "ridge, parameters": Ridge(solver="parameter"),
    "ridge, conjugate gradients": Ridge(solver="conjugate"),
}
LONG_ENOUGH = 0.1
COLUMNS = ("against", "what", "sizes", "seconds", "power")


def over_seeds(count: int) -> dict[str, Callable[[], float]]:
    return {"train": partial(training, count)}


def training(count: int) -> float:
    """Seconds of a whole ``train`` of so many seeds."""
    environment = environments.make(TASK)
    experiment = presets.experiment("published", "nac", environment.spec, episodes=EPISODES)
    with tempfile.TemporaryDirectory() as out:
        began = clock()
        train_seeds(environment, experiment, range(count), Path(out), test_episodes=1)
        return clock() - began


def preparing(log: Log) -> None:
    """What ``learn`` does with a log before its first iteration."""
    seen, held_out = split(log)
    for part in (seen, held_out):
        jax.block_until_ready(load(part, units(log), 1.0 / (1.0 - GAMMA)))


def over_rows(rows: int, most_ope_rows: int) -> dict[str, Callable[[], float]]:
    path = log_of(rows)
    log = offnac.read_log(path)
    work: dict[str, Callable[[], object]] = {
        "read": partial(offnac.read_log, path),
        "prepare": partial(preparing, log),
    }
    if rows <= most_ope_rows:
        work["ope"] = partial(offnac.ope, pushing(TASK, log.spec, SHARPNESS), log, gamma=GAMMA)
    return {name: partial(seconds, one) for name, one in work.items()}


def over_parameters(hidden: int) -> dict[str, Callable[[], float]]:
    """Seconds of one natural direction by each solver that has room for its matrix."""
    policy = SoftmaxPolicy(MLP(INPUTS, (hidden,), ACTIONS, bias=False))
    theta = policy.init(jax.random.key(0))
    observation = jax.random.normal(jax.random.key(1), (BATCH, INPUTS))
    action = jax.random.randint(jax.random.key(2), (BATCH,), 0, ACTIONS)
    ones, no = jnp.ones(BATCH), jnp.zeros(BATCH, bool)
    batch = Transition(observation, action, ones, observation, no, no, ones / ACTIONS, jnp.zeros(BATCH, int))
    delta = jax.random.normal(jax.random.key(3), (BATCH,))

    def timed(solver: Any) -> Callable[[], float]:
        state = solver.init(jax.random.key(4), theta)

        # Everything as an argument: of constants the compiler would work out parts beforehand.
        @jax.jit
        def solve(state: Any, theta: Any, batch: Transition, weight: Any, delta: Any) -> Any:
            return solver.update(state, policy, theta, batch, weight, delta, Clock.start())

        def measure() -> float:
            times, began = 0, clock()
            while (took := clock() - began) < LONG_ENOUGH:
                jax.block_until_ready(solve(state, theta, batch, ones, delta))
                times += 1
            return took / times

        return measure

    fits = {
        name: solver
        for name, solver in SOLVERS.items()
        if name != "ridge, parameters" or theta.size <= MATRIX_LIMIT
    }
    return {name: timed(solver) for name, solver in fits.items()}


def measure(contenders: Callable[[], dict[str, Callable[[], float]]], repeats: int) -> Row:
    return {"seconds": {name: spread(times) for name, times in in_turn(contenders(), repeats).items()}}


def fits(rows: list[Row]) -> list[dict[str, Any]]:
    """A curve, and the exponent fitted to all of it, for everything that was measured at several sizes."""
    curves: dict[tuple[str, str], dict[float, float]] = {}
    for row in rows:
        for name, took in row["seconds"].items():
            curves.setdefault((row["against"], name), {})[row["size"]] = took["median"]
    found = []
    for (against, name), curve in curves.items():
        sizes = sorted(curve)
        costs = [curve[size] for size in sizes]
        power = exponent(sizes, costs) if len(sizes) > 1 else None
        last = exponent(sizes[-2:], costs[-2:]) if len(sizes) > 1 else None
        found.append(
            {
                "against": against,
                "what": name,
                "sizes": sizes,
                "seconds": costs,
                "exponent": power,
                "exponent_at_the_end": last,
            }
        )
    return found


def draw(curves: list[dict[str, Any]], folder: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    labels = {"seeds": "seeds", "rows": "rows of the log", "parameters": "the actor's parameters"}
    measured = {curve["against"] for curve in curves}
    panels = {against: label for against, label in labels.items() if against in measured}
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.0 * len(panels), 4.4), layout="constrained")
        for axes, (against, label) in zip(
            figure.subplots(1, len(panels), squeeze=False).flat, panels.items(), strict=True
        ):
            for curve, marker in zip(
                [one for one in curves if one["against"] == against], "os^D", strict=False
            ):
                power = "" if curve["exponent"] is None else f", power {curve['exponent']:.2f}"
                axes.plot(curve["sizes"], curve["seconds"], marker=marker, label=curve["what"] + power)
            axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds, one core")
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0))  # above: curves fill the panel
        for kind, metadata in KINDS.items():
            with files.replacing(folder / f"growth.{kind}") as temporary:
                figure.savefig(temporary, format=kind, dpi=150, metadata=metadata)


def main() -> None:
    given = harness.arguments(
        __doc__,
        most_rows=(ROWS[-1], "rows of the largest log"),
        most_ope_rows=(100_000, "rows of the largest log that ope is given"),
    )
    about = (
        "Seconds on one core against size, and the power p of cost ∝ sizeᵖ fitted to all sizes (in "
        "brackets: between the last two). Seeds: `train` on CartPole, 50 episodes each. Rows: reading a "
        "CartPole log, what `learn` does before its first iteration, `ope`. Parameters: one natural "
        "direction over 1024 rows by each solver."
    )
    harness.one_core()
    results = Results("growth", "Growth", about, given)

    def at(against: str, size: int, contenders: Callable[[], dict[str, Callable[[], float]]]) -> None:
        repeats = given.repeats if size < 1_000_000 else 1
        results.measure({"against": against, "size": size}, partial(measure, contenders, repeats))
        curves = fits(results.rows)
        results.write_table(COLUMNS, lines(curves), curves=curves, picture="growth.png")

    for count in SEEDS:
        at("seeds", count, partial(over_seeds, count))
    for hidden in HIDDEN:
        at("parameters", hidden * (INPUTS + ACTIONS), partial(over_parameters, hidden))
    for rows in (rows for rows in ROWS if rows <= given.most_rows):
        at("rows", rows, partial(over_rows, rows, given.most_ope_rows))
    draw(fits(results.rows), given.out)


def lines(curves: list[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for curve in curves:
        span = f"{curve['sizes'][0]:,} to {curve['sizes'][-1]:,}"
        power = (
            ""
            if curve["exponent"] is None
            else f"{curve['exponent']:.2f} ({curve['exponent_at_the_end']:.2f})"
        )
        took = f"{curve['seconds'][0]:.2g} to {curve['seconds'][-1]:.3g}"
        rows.append([curve["against"], curve["what"], span, took, power])
    return rows


if __name__ == "__main__":
    main()
