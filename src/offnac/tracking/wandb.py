"""Weights & Biases: a run for each seed, those of a folder in one group.

Project, entity and mode are the package's own business: WANDB_PROJECT, WANDB_ENTITY, WANDB_MODE=offline.
"""

import os
import uuid

from offnac import files
from offnac.errors import UserError
from offnac.tracking.tracker import Seed


class WeightsAndBiases:
    package = "wandb"

    def __init__(self, seed: Seed) -> None:
        import wandb

        try:
            self.run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", "offnac"),
                group=seed.out.resolve().name,
                name=f"{seed.out.resolve().name}/{seed.name}",
                id=_identity(seed),
                resume="allow",
                reinit="create_new",
                dir=str(seed.out),
                config=seed.about,
                settings=wandb.Settings(silent=True),
            )
        except wandb.Error as error:
            said = " ".join(str(error).split()).rstrip(".")
            raise UserError(
                f"Weights & Biases could not be reached ({said}); log in with: wandb login, or keep "
                "everything here with WANDB_MODE=offline, and run it again with --resume"
            ) from error
        self.first = int(self.run.starting_step)

    def write(self, step: int, numbers: dict[str, float]) -> None:
        self.run.log(numbers, step=step)

    def close(self, result: dict[str, float]) -> None:
        self.run.summary.update(result)
        self.run.finish(exit_code=0 if result else 1)


def _identity(seed: Seed) -> str:
    """Drawn once and kept, so that a resumed run goes on in its own place."""
    path = seed.out / seed.name / "wandb.json"
    if not path.exists():
        files.write_json(path, {"id": uuid.uuid4().hex[:12]})
    return str(files.read_json(path)["id"])
