"""What offnac's speed was to reach, and what the benchmark's result files say of it."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Result = dict[str, Any]
ALGORITHMS = ("ac", "nac", "offac", "offnac")
CLASSIC = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0")


class Aim(NamedTuple):
    """A line of the table: what was aimed at, what was found, and whether that meets it."""

    what: str
    asked: str
    found: str
    met: bool


def _online(result: Result) -> Iterator[Aim]:
    rows = {row["environment"]: row for row in result["rows"]}
    asked = {("CartPole-v1", "nac"): 80_000, ("CartPole-v1", "offnac"): 20_000}
    asked[("MountainCar-v0", "offnac")] = 80_000
    asked |= {("LunarLander-v3", name): 6_000 for name in ALGORITHMS}
    for (task, name), least in asked.items():
        if task in rows:
            rate = rows[task]["steps_per_second"][name]["median"]
            yield Aim(f"{task} {name}, training steps/s", f"≥ {least:,}", f"{rate:,.0f}", rate >= least)
    for task in CLASSIC:
        gains = rows.get(task, {}).get("times_a2c", {})
        for what, names in {"on-policy": ALGORITHMS[:2], "off-policy": ALGORITHMS[2:]}.items():
            if gains:
                least = min(gains[name] for name in names)
                yield Aim(f"{task} {what}, times SB3's A2C", "≥ 40", f"{least:.0f}", least >= 40)


def _cores(result: Result) -> Iterator[Aim]:
    for row in result["rows"]:
        gain = row["times_one_core"]
        what = f"two cores over {row['seeds']} seeds, {row['algorithm']}"
        yield Aim(what, "≥ 1.8 times one", f"{gain:.2f}", gain >= 1.8)


def _growth(result: Result) -> Iterator[Aim]:
    for curve in result["curves"]:
        if curve["against"] in ("seeds", "rows") and curve["exponent"] is not None:
            span = f"{curve['sizes'][0]:,} to {curve['sizes'][-1]:,}"
            what = f"growth of {curve['what']} with {curve['against']}, {span}"
            yield Aim(what, "power ≤ 1.05", f"{curve['exponent']:.2f}", curve["exponent"] <= 1.05)


def _startup(result: Result) -> Iterator[Aim]:
    for row in result["rows"]:
        if "rounds" in row:
            compiled = sum(one["compiled"] for one in row["rounds"][1].values())
            yield Aim("programs compiled at the second start", "0", f"{compiled}", compiled == 0)
        else:
            took = row["seconds"]["help"]["median"]
            yield Aim("offnac --help", "< 0.5 s", f"{took:.2f} s", took < 0.5)


def _log_learners(result: Result) -> Iterator[Aim]:
    tasks: dict[str, list[Result]] = {}
    for row in result["rows"]:
        tasks.setdefault(row["environment"], []).append(row)
    for task, rows in tasks.items():
        ours = next((row for row in rows if row["learner"] == "offnac learn"), None)
        if ours is None:
            continue
        theirs = [row for row in rows if row["learner"].startswith("d3rlpy")]
        what = f"{task} from a log: to the paper's return ({ours['goal']:g})"
        if not theirs:
            yield Aim(what, "sooner than d3rlpy's learners", f"{_seconds(ours)}; theirs not measured", False)
            continue
        first = min(theirs, key=_until_good)
        yield Aim(
            what,
            f"sooner than each of {len(theirs)} d3rlpy learners",
            f"{_seconds(ours)}; theirs {_seconds(first)}",
            _until_good(ours) < _until_good(first),
        )
        best = max(theirs, key=lambda row: row["last"])
        yield Aim(
            f"{task} from a log: the last policy",
            f"better than each of {len(theirs)} d3rlpy learners'",
            f"{ours['last']:.1f}; {best['learner']} {best['last']:.1f}",
            ours["last"] > best["last"],
        )


def _gpu(result: Result) -> Iterator[Aim]:
    """At each number of seeds the fastest program; the slowest of these must do."""
    fastest: dict[int, float] = {}
    for row in result["rows"]:
        if (row["task"], row["algorithm"]) == ("CartPole-v1", "nac") and 132 <= row["seeds"] <= 8448:
            rate = row["steps_per_second"]["median"]
            fastest[row["seeds"]] = max(rate, fastest.get(row["seeds"], 0.0))
    if fastest:
        what = f"CartPole-v1 nac on a GPU, {min(fastest):,} to {max(fastest):,} seeds, training steps/s"
        least = min(fastest.values())
        yield Aim(what, "≥ 40 M", f"{least / 1e6:.1f} M", least >= 40e6)


def _until_good(row: Result) -> float:
    return float("inf") if row["seconds_to_goal"] is None else row["seconds_to_goal"]


def _seconds(row: Result) -> str:
    return "never" if row["seconds_to_goal"] is None else f"{row['seconds_to_goal']:.1f} s"


AIMS: dict[str, Callable[[Result], Iterator[Aim]]] = {
    "online": _online,
    "cores": _cores,
    "gpu": _gpu,
    "log_learners": _log_learners,
    "growth": _growth,
    "startup": _startup,
}


def aims(found: dict[str, Result]) -> list[Aim]:
    """All that the result files tell of, by part."""
    return [aim for part, told in AIMS.items() if part in found for aim in told(found[part])]
