"""Does preset ``published`` give the distributions that the published configuration gives?

All four algorithms on CartPole and Acrobot, 16 seeds from 1000, against an
independent port's values (``results/published/reference.json``) by the
Mann-Whitney rank test. Writes ``results/published/distributions.json``.

    .venv/bin/python benchmarks/published.py          about 10 minutes on 2 cores
"""

import argparse
import json
import tempfile
from pathlib import Path

from scipy import stats

import offnac
from offnac import files
from offnac.evaluation import statistics
from offnac.provenance import now, versions

RESULTS = Path(__file__).parents[1] / "results" / "published"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULTS / "distributions.json")
    arguments = parser.parse_args()
    reference = json.loads((RESULTS / "reference.json").read_text())["values"]
    cells = []
    for environment, algorithms in reference.items():
        for algorithm, values in algorithms.items():
            with tempfile.TemporaryDirectory() as folder:
                result = offnac.train(
                    environment,
                    algorithm,
                    preset="published",
                    seeds=arguments.seeds,
                    first_seed=arguments.first_seed,
                    test_episodes=200,
                    out=Path(folder) / "run",
                )
            ours = [run["test"]["mean"] for run in result["runs"]]
            cell = {
                "environment": environment,
                "algorithm": algorithm,
                "p_value": float(stats.mannwhitneyu(ours, values).pvalue),
                "ours": statistics.across_seeds(ours),
                "reference": statistics.across_seeds(values),
                "values": ours,
                "train_steps": result["train_steps"],
                "seconds": result["seconds"],
            }
            cells.append(cell)
            print(
                f"{environment:12} {algorithm:7} median {cell['ours']['median']:8.1f} "
                f"reference {cell['reference']['median']:8.1f}  p = {cell['p_value']:.3f}",
                flush=True,
            )
    files.write_json(
        arguments.out,
        {
            "what": "test return (mean of 200 episodes of the best checkpoint) of each seed",
            "test": "two-sided Mann-Whitney rank test; compatible where p > 0.01",
            "first_seed": arguments.first_seed,
            "versions": versions(),
            "date": now(),
            "cells": cells,
        },
    )


if __name__ == "__main__":
    main()
