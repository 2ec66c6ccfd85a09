"""TensorBoard: event files in the run's folder, one folder of them for each seed."""

import json
import shutil

from offnac.tracking.tracker import Seed


class TensorBoard:
    package = "tensorboardX"
    first = 0

    def __init__(self, seed: Seed) -> None:
        from tensorboardX import SummaryWriter

        folder = seed.out / "tensorboard" / seed.name
        # Event files only ever grow. A resumed run writes its own from the beginning, so that nothing is
        # there twice, and nothing that a killed run told but did not save.
        shutil.rmtree(folder, ignore_errors=True)
        self.writer = SummaryWriter(str(folder))
        self.writer.add_text("run", f"```\n{json.dumps(seed.about, indent=1, ensure_ascii=False)}\n```")
        self.last = 0

    def write(self, step: int, numbers: dict[str, float]) -> None:
        for name, number in numbers.items():
            self.writer.add_scalar(name, number, step)
        self.last = step

    def close(self, result: dict[str, float]) -> None:
        self.write(self.last, result)
        self.writer.close()
