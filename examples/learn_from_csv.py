"""From a table of past decisions to a policy, what it is worth, and whether the table can bear it.

python examples/learn_from_csv.py
"""

from pathlib import Path
from typing import Any

import clinic  # only to look at the answer in the end: nothing is learned from it

import offnac


def main(out: Path = Path("out/example-csv"), iterations: int | None = None) -> dict[str, Any]:
    log = offnac.read_log(
        clinic.RECORDS,
        episode="patient",
        step="visit",
        observation=("age", "bp", "marker"),
        action="dose",
        actions=clinic.DOSES,
        reward="gain",
        terminated="died",
        truncated="lost",
    )
    earned = log.returns().mean()
    print(f"{len(log)} visits of {log.episodes} patients, who earned {earned:.2f} each")

    learned = offnac.learn(log, out=out, iterations=iterations)
    policy = offnac.load_policy(learned["policy"])
    estimate = learned["ope"]["estimators"][learned["ope"]["recommended"]]["undiscounted"]
    print(f"chosen because {learned['selected']['reason']}")
    print(
        f"worth {estimate['value']:.2f} an episode, between {estimate['low']:.2f} and {estimate['high']:.2f}"
    )
    print(f"{learned['verdict']}: {'; '.join(learned['reasons'])}")

    # Here, and only because this clinic is invented, there is a simulator to ask.
    truth = offnac.evaluate(policy, "Clinic-v0", episodes=200)["mean"]
    print(f"in truth worth {truth:.2f}")
    return {"earned": earned, "truth": truth, "verdict": learned["verdict"]}


if __name__ == "__main__":
    main()
