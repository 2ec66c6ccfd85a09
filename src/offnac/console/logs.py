"""What was found in a log or learned from it, in lines and tables."""

from typing import Any

from rich.markup import escape

from offnac.console import screen
from offnac.console.screen import line, new_table, short


def show_log(result: dict[str, Any]) -> None:
    line(
        f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes of {result['behaviour']} "
        f"behaviour in {result['environment']}, mean return {result['mean_return']:.2f}"
    )


def show_conversion(result: dict[str, Any]) -> None:
    line(f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes ({result['format']})")


def show_audit(result: dict[str, Any]) -> None:
    line(
        f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes "
        f"({result['terminated']:.0%} end with the task), {result['observation_size']} observations, "
        f"{result['actions']} actions"
    )
    table = new_table("an episode's", "mean", "SD", "min", "25%", "median", "75%", "max")
    for name in ("lengths", "returns"):
        numbers = result[name]
        quantiles = (numbers["quantiles"][q] for q in ("0", "0.25", "0.5", "0.75", "1"))
        table.add_row(name[:-1], *map(short, (numbers["mean"], numbers["sd"], *quantiles)))
    screen.OUT.print(table)
    use = ", ".join(f"{one['name']} {one['share']:.1%}" for one in result["action_use"][:12])
    line(f"actions taken: {use}{', …' * (len(result['action_use']) > 12)}")
    behaviour = result["behaviour"]
    line(
        f"behaviour: probabilities {behaviour['source']}, as free as a choice among "
        f"{behaviour['actions_tried']:.1f} actions"
    )
    if result["policy"] is None:
        return
    numbers, support = result["policy"], result["policy"]["support"]
    size, tails = numbers["effective_sample_size"], numbers["tails"]
    table = new_table("weights of the policy", "effective share", "99%", "largest", "in the top 1%")
    for name, label in (("rho", "ρ = π/μ"), ("w_rho", "wρ")):
        tail = tails[name]
        shares = f"{size[name]:.1%}", f"{tail['top_percent']:.1%}"
        table.add_row(label, shares[0], f"{tail['p99']:.2f}", f"{tail['largest']:.2f}", shares[1])
    screen.OUT.print(table)
    line(
        f"effective: {size['rows']:,.0f} rows, {size['episodes']:,.1f} episodes; barely held of the policy's "
        f"weight: {support['states']:.1%} by its states, {support['actions']:.1%} by its actions; later than "
        f"logged episodes last: {support['late']:.1%}"
    )
    line(f"\nverdict: {result['verdict']}")
    for reason in result["reasons"]:
        line(f"- {reason}")


def show_ope(result: dict[str, Any]) -> None:
    line(f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes")
    table = new_table(
        "95% intervals", f"value, γ = {result['gamma']:g}", f"return within {result['max_steps']:,} steps"
    )
    rows = {**result["estimators"], "the behaviour's own": result["behaviour"]}
    for name, row in rows.items():
        mark = "*" if name == result["recommended"] else " "
        both = (map(short, (one["value"], one["low"], one["high"])) for one in (row, row["undiscounted"]))
        cells = (f"{value} {escape(f'[{low}, {high}]')}" for value, low, high in both)
        table.add_row(f"{mark} {name.replace('_', ' ')}", *cells)
    screen.OUT.print(table)
    line(
        f"effective: {result['effective_sample_size']:,.0f} rows by wρ, "
        f"{result['effective_episodes']:,.1f} whole episodes by Π ρ"
    )
    line(f"\n* recommended: {result['recommended'].replace('_', ' ')}, for {result['reason']}")


def show_learning(result: dict[str, Any]) -> None:
    selected = result["selected"]
    line(
        f"{result['algorithm']} from {result['rows']:,} rows, {result['episodes']:,} episodes "
        f"({result['behaviour']} probabilities), {result['seconds']:.0f} s"
    )
    table = new_table("seed", "iteration", "value ± SE", "effective sample", "highest value", "at")
    for run in result["runs"]:
        chosen = run["selected"]
        table.add_row(
            str(run["seed"]),
            f"{chosen['iteration']}/{chosen['of']}",
            f"{short(chosen['value'])} ± {short(chosen['standard_error'])}",
            f"{chosen['effective_sample_size']:.0%}",
            short(chosen["best"]["value"]),
            str(chosen["best"]["iteration"]),
        )
    screen.OUT.print(table)
    line(f"selected: seed {selected['seed']}, iteration {selected['iteration']}: {selected['reason']}")
    values = result["ope"]
    name = values["recommended"]
    ours, theirs = values["estimators"][name], values["behaviour"]
    line(
        f"value on the {values['held_out_episodes']:,} held-out episodes, {name.replace('_', ' ')}: "
        f"{short(ours['value'])} [{short(ours['low'])}, {short(ours['high'])}]; "
        f"the behaviour's {short(theirs['value'])} [{short(theirs['low'])}, {short(theirs['high'])}]"
    )
    line(f"verdict: {result['verdict']}")
    for reason in result["reasons"]:
        line(f"- {reason}")
    line(f"policy in {result['policy']}")
