"""Train on a Gymnasium environment of your own: register it, and give its id.

    python examples/train_custom_environment.py

On the command line the module comes before the id, and must be importable:

    PYTHONPATH=examples offnac train clinic:Clinic-v0 --algorithm nac --preset robust --out out/clinic
"""

from pathlib import Path
from typing import Any

import clinic  # noqa: F401 (registers Clinic-v0)

import offnac


def main(out: Path = Path("out/example-custom"), episodes: int = 300) -> dict[str, Any]:
    result = offnac.train("Clinic-v0", "nac", preset="robust", episodes=episodes, test_episodes=100, out=out)
    run = result["runs"][0]
    print(f"the final policy earns {run['final_test']['mean']:.2f} an episode")
    return run


if __name__ == "__main__":
    main()
