"""What training leaves on disk for one seed.

``checkpoint.safetensors``  the run between two episodes, for ``--resume``
``episodes.parquet``        one row per training episode
``best/``, ``final/``       policies
``result.json``             the seed's result, once it is there the seed is finished
"""

from pathlib import Path
from threading import Event
from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from offnac import files
from offnac.environments import HostEnvironment
from offnac.environments.environment import Environment
from offnac.evaluation import rollout, statistics
from offnac.networks import Parameters
from offnac.saved_policy import Policy
from offnac.training import checkpoint
from offnac.training.checkpoint import Columns
from offnac.training.protocol import Experiment, Run
from offnac.transition import Spec


class SeedFolder:
    def __init__(self, out: Path, seed: int) -> None:
        self.seed = seed
        self.path = out / f"seed-{seed}"

    def is_finished(self) -> bool:
        return (self.path / "result.json").exists()

    def result(self) -> dict[str, Any] | None:
        """The seed's result if it is finished."""
        return files.read_json(self.path / "result.json") if self.is_finished() else None

    def episodes(self) -> int:
        """How many are trained and saved."""
        return checkpoint.rows(self.path / "checkpoint.safetensors")

    def load(self, template: Run) -> tuple[Run, Columns]:
        """The run where it stopped, or ``template`` where it never began."""
        path = self.path / "checkpoint.safetensors"
        if not path.exists():
            return template, checkpoint.no_records()
        if checkpoint.holds(path, template):
            return checkpoint.load(path, template)
        # Trained, but stopped before its test: nothing more is learned, and the memory was left out.
        run, records = checkpoint.load(path, template._replace(memory=None, imagined=None))
        return run._replace(memory=template.memory, imagined=template.imagined), records

    def save(self, run: Run, records: Columns) -> None:
        checkpoint.save(self.path / "checkpoint.safetensors", run, records)
        columns = {"episode": np.arange(len(records["average"]), dtype=np.int32), **records}
        with files.replacing(self.path / "episodes.parquet") as temporary:
            pq.write_table(_table(columns), temporary)

    def finish(
        self,
        environment: Environment | HostEnvironment,
        experiment: Experiment,
        run: Run,
        records: Columns,
        test_episodes: int,
        provenance: dict[str, Any],
        stop: Event,
    ) -> dict[str, Any]:
        """Test the best checkpoint and the final policy, and write both with the result."""
        self.save(run._replace(memory=None, imagined=None), records)  # nothing more is learned from them
        tests = {}
        for name, theta in (("best", run.best_theta), ("final", run.learner.learned)):
            policy = self._policy(experiment, environment.spec, theta, provenance | {"checkpoint": name})
            policy.save(self.path / name)
            tests[name] = statistics.of_episodes(
                rollout.returns(environment, policy, test_episodes, self.seed, stop=stop)
            )
        result = {
            "seed": self.seed,
            "train_steps": int(run.train_steps),
            "best_average": float(run.learner.clock.best),
            "best_episode": int(run.best_episode),
            "final_average": float(run.average),
            "test": tests["best"],
            "final_test": tests["final"],
            "diverged": not bool(np.all(np.isfinite(run.learner.theta))),
        }
        files.write_json(self.path / "result.json", result)
        return result

    def _policy(
        self, experiment: Experiment, spec: Spec, theta: Parameters, provenance: dict[str, Any]
    ) -> Policy:
        network = experiment.algorithm.policy.network
        mean, scale = (
            None if numbers is None else jnp.asarray(numbers, jnp.float32)
            for numbers in (experiment.protocol.mean, experiment.protocol.scale)
        )
        return Policy(network, theta, spec, mean, scale, provenance | {"seed": self.seed})


def _table(columns: Columns) -> pa.Table:
    """As ``pa.table`` makes it, which would first import pandas where there is one, to ask whether these are
    its columns."""
    arrays = {
        name: pa.Array.from_buffers(
            pa.from_numpy_dtype(column.dtype), len(column), [None, pa.py_buffer(np.ascontiguousarray(column))]
        )
        for name, column in columns.items()
    }
    return pa.table(arrays)
