"""Write the pages that show results, from the result files alone: ``make docs``."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"


def provenance(result: dict[str, Any]) -> str:
    names = ("offnac", "jax", "gymnax", "gymnasium", "python")
    versions = ", ".join(f"{name} {result['versions'][name]}" for name in names if name in result["versions"])
    return f"Measured {result['date'][:10]} with {versions}."


def published() -> str:
    result = json.loads((RESULTS / "published" / "distributions.json").read_text())
    rows = [
        "| task | algorithm | seeds | IQM [95% interval] | median | best | worst | reference: median | best | worst | p |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in result["cells"]:
        ours, reference = cell["ours"], cell["reference"]
        rows.append(
            f"| {cell['environment']} | {cell['algorithm']} | {ours['seeds']} "
            f"| {ours['iqm']:.1f} [{ours['low']:.1f}, {ours['high']:.1f}] "
            f"| {ours['median']:.1f} | {ours['best']:.1f} | {ours['worst']:.1f} "
            f"| {reference['median']:.1f} | {reference['best']:.1f} | {reference['worst']:.1f} "
            f"| {cell['p_value']:.2f} |"
        )
    compatible = sum(cell["p_value"] > 0.01 for cell in result["cells"])
    seeds = result["cells"][0]["ours"]["seeds"]
    first = result["first_seed"]
    return "\n".join(
        [
            "# The published settings, across seeds",
            "",
            "Preset `published` against an independent port of the published configuration: test return (mean of 200",
            "episodes of the best checkpoint by running average) of each seed, by the two-sided Mann-Whitney rank test.",
            f"Seeds {first} to {first + seeds - 1}; the reference has 16 or 24 seeds a cell.",
            "",
            *rows,
            "",
            f"{compatible} of {len(result['cells'])} cells are compatible (p > 0.01). The best checkpoint off-policy is",
            "chosen by running the learned policy in the simulator.",
            "",
            f"{provenance(result)} Regenerate with `make published docs`; the values of every seed are in",
            "[results/published/distributions.json](../results/published/distributions.json).",
            "",
        ]
    )


def speed() -> str:
    result = json.loads((RESULTS / "bench" / "speed.json").read_text())
    rows = [
        "| task | algorithm | training steps/s, median | lowest | highest | first call, seconds |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        rows.append(
            f"| {row['environment']} | {row['algorithm']} | {row['steps_per_second']:,.0f} | {row['lowest']:,.0f} "
            f"| {row['highest']:,.0f} | {row['first_call_seconds']:.1f} |"
        )
    return "\n".join(
        [
            "# Speed",
            "",
            "Training steps per second on one core, preset `published`, once compiled. Whole episodes as `train` runs them:",
            "off-policy the ratio updates and the evaluation episodes are in the time, but only training steps are counted.",
            "",
            *rows,
            "",
            f"{provenance(result)} Regenerate with `make bench docs`; [results/bench/speed.json](../results/bench/speed.json).",
            "",
        ]
    )


PAGES = {"published.md": published, "speed.md": speed}


def main() -> None:
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page())


if __name__ == "__main__":
    main()
