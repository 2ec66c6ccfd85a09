"""An invented clinic as a Gymnasium environment, and the table of past visits that its physicians left.

``python examples/clinic.py`` writes ``records.csv`` anew. The physicians dose by blood pressure alone and
never look at the marker, so a policy that does can be better than all of them.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

RECORDS = Path(__file__).with_name("records.csv")
DOSES = ("none", "low", "high")


class Clinic(gymnasium.Env):
    """A patient's visits: age, blood pressure and a marker are seen, a dose is chosen, well-being is earned.

    The marker creeps up with age and each dose brings it down; marker and dose both move the pressure. A
    marker or a pressure far out ends the story."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gymnasium.spaces.Discrete(len(DOSES))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.age = float(self.np_random.integers(30, 80))
        self.pressure = self.np_random.normal(135.0, 10.0)
        self.marker = self.np_random.uniform(0.5, 1.5)
        return self._seen(), {}

    def step(self, dose: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        noise = self.np_random.normal(size=2)
        self.marker = max(0.0, self.marker + 0.1 + 0.004 * (self.age - 30.0) - 0.3 * dose + 0.15 * noise[0])
        rest = 118.0 + 10.0 * self.marker - 9.0 * dose
        self.pressure += 0.5 * (rest - self.pressure) + 5.0 * noise[1]
        died = self.marker > 3.0 or not 85.0 < self.pressure < 180.0
        gain = 1.0 - 0.4 * self.marker - abs(self.pressure - 120.0) / 40.0 - 0.1 * dose
        return self._seen(), -5.0 if died else gain, died, False, {}

    def _seen(self) -> np.ndarray:
        return np.array([self.age, self.pressure, self.marker], np.float32)


gymnasium.register("Clinic-v0", entry_point=Clinic, max_episode_steps=24)


def physician(observation: np.ndarray, rng: np.random.Generator) -> int:
    """Doses by pressure alone, and not always the same."""
    preference = np.array([0.0, 0.5, 0.0]) + (observation[1] - 130.0) / 10.0 * np.array([-1.0, 0.0, 1.0])
    chances = np.exp(preference - preference.max())
    return int(rng.choice(len(DOSES), p=chances / chances.sum()))


def write_records(out: Path, patients: int = 120, seed: int = 0) -> None:
    """The table: one row a visit, a few patients lost from sight."""
    task, rng = gymnasium.make("Clinic-v0"), np.random.default_rng(seed)
    with out.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["patient", "visit", "age", "bp", "marker", "dose", "gain", "died", "lost"])
        for patient in range(patients):
            seen, _ = task.reset(seed=seed + patient)
            over, visit = False, 0
            while not over:
                dose = physician(seen, rng)
                after, gain, died, lost, _ = task.step(dose)
                lost = not died and (lost or rng.random() < 0.02)
                over = died or lost
                age, pressure, marker = (round(float(number), 2) for number in seen)
                words = [str(died).lower(), str(lost).lower()]
                table.writerow([patient, visit, age, pressure, marker, DOSES[dose], round(gain, 3), *words])
                seen, visit = after, visit + 1


if __name__ == "__main__":
    write_records(Path(sys.argv[1]) if len(sys.argv) > 1 else RECORDS)
