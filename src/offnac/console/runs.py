"""What was trained, searched or reproduced, in lines and tables."""

from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from offnac.console import screen
from offnac.console.screen import line, new_table, short, warn
from offnac.evaluation import statistics


def show_training(result: dict[str, Any], out: Path) -> None:
    line(f"{result['algorithm']} on {result['environment']}, preset {result['preset']}")
    table = new_table("seed", "train steps", "best average", "episode", "test of best", "test of final")
    for run in result["runs"]:
        table.add_row(
            str(run["seed"]),
            f"{run['train_steps']:,}",
            short(run["best_average"]),
            str(run["best_episode"]),
            *(f"{short(run[test]['mean'])} ± {short(run[test]['se'])}" for test in ("test", "final_test")),
        )
    screen.OUT.print(table)
    tests = {
        name: [run[test]["mean"] for run in result["runs"]]
        for name, test in (("best checkpoint", "test"), ("final policy", "final_test"))
    }
    # An interval from two seeds would promise what two numbers cannot tell.
    if len(result["runs"]) == 2:
        for name, (one, other) in tests.items():
            line(f"{name}: {short(one)} and {short(other)}")
    elif len(result["runs"]) > 2:
        table = new_table("across seeds", "interquartile mean", "median", "best", "worst")
        for name, means in tests.items():
            summary = statistics.across_seeds(means)
            interval = escape(f"[{short(summary['low'])}, {short(summary['high'])}]")
            table.add_row(
                name,
                f"{short(summary['iqm'])} {interval}",
                *(short(summary[number]) for number in ("median", "best", "worst")),
            )
        screen.OUT.print(table)
    if diverged := [str(run["seed"]) for run in result["runs"] if run.get("diverged")]:
        seeds = ", ".join(diverged)
        warn([f"training diverged for seed {seeds}: θ is no longer finite; try smaller rates"])
    line(f"policies in {out}/seed-*/best and /final")
    if result["algorithm"].startswith("off"):
        line(
            "the best checkpoint was chosen by running the learned policy in the simulator; "
            "the final policy needed none"
        )


def show_evaluation(result: dict[str, Any]) -> None:
    quantiles = result["quantiles"]
    line(f"{result['episodes']:,} episodes of at most {result['max_steps']:,} steps")
    table = new_table("mean ± SE", "SD", "min", "25%", "median", "75%", "max")
    table.add_row(
        f"{result['mean']:.2f} ± {result['se']:.2f}",
        f"{result['sd']:.2f}",
        *(short(quantiles[q]) for q in ("0", "0.25", "0.5", "0.75", "1")),
    )
    screen.OUT.print(table)


def show_tuning(result: dict[str, Any]) -> None:
    best, first, check = result["best"], result["first"], result["check"]
    failed = f" ({result['failed']} failed)" if result["failed"] else ""
    line(
        f"{result['algorithm']} on {result['source']}: {result['trials']} trials{failed}, "
        f"{result['seconds']:.0f} s; {result['unit']}"
    )
    table = new_table("setting", "as it was", f"best (trial {best['number']})")
    for name, value in best["settings"].items():
        table.add_row(
            name,
            *(
                f"{one:.3g}" if isinstance(one, float) else escape(str(one))
                for one in (first["settings"][name], value)
            ),
        )
    table.add_section()
    table.add_row("value in the search", short(first["value"]), short(best["value"]))
    if check is not None:
        seeds = f"{check['first_seed']} to {check['first_seed'] + check['seeds'] - 1}"
        table.add_row(f"on fresh seeds, {seeds}", *(short(check[one]["value"]) for one in ("first", "best")))
    screen.OUT.print(table)
    line(
        f"settings in {result['settings']}, for offnac {result['command']} --settings; "
        f"page in {result['page']}"
    )


def show_reproduction(summary: dict[str, Any], out: Path) -> None:
    names = ("cell and settings", "best checkpoint", "worst", "final", "verdict")
    table = Table(*names, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    before = None
    for cell in summary["cells"]:
        if cell["cell"] != before:
            if before is not None:
                table.add_section()
            table.add_row(cell["cell"], f"the paper: {cell['paper']['mean']:.2f} ± {cell['paper']['sd']:.2f}")
        before = cell["cell"]
        test = cell["test"]
        # One seed is no distribution.
        interval = escape(f" [{short(test['low'])}, {short(test['high'])}]") if test["seeds"] > 1 else ""
        table.add_row(
            f"  {cell['preset']}",
            f"{short(test['iqm'])}{interval}",
            short(test["worst"]),
            short(cell["final_test"]["iqm"]),
            ("meets" if cell["meets"] else "below") + ("" if cell["sure"] else "?"),
        )
    screen.OUT.print(table)
    for row in summary["improvement"]:
        task = row["environment"] + ("" if row["lam"] is None else ", TD(λ)")
        interval = escape(f"[{row['low']:.2f}, {row['high']:.2f}]")
        screen.OUT.print(
            f"{task}, preset {row['preset']}: P({row['pair']}) = {row['probability']:.2f} {interval}",
            highlight=False,
        )
    screen.OUT.print(
        "ours: interquartile mean over seeds of the test return, with its 95% interval; the verdict is on "
        "the best checkpoint (off-policy it is chosen by running the learned policy in the simulator), with "
        f"a question mark where the interval is of two minds\neverything is in {out}",
        highlight=False,
        soft_wrap=True,
    )
