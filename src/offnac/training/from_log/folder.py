"""What learning leaves on disk for one seed.

``checkpoint.safetensors``  the run between two iterations, for ``--resume``
``history.parquet``         one row per iteration
``candidates.parquet``      one row per candidate, as held-out episodes judge it
``selected/``, ``last/``    policies
``result.json``             the seed's result, once it is there the seed is finished
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load_file

from offnac import files
from offnac.networks import Parameters
from offnac.saved_policy import Policy, load_policy
from offnac.training import checkpoint
from offnac.training.checkpoint import Columns
from offnac.training.from_log.judge import Judgement
from offnac.training.from_log.program import Candidate, LogExperiment, LogRecord, LogRun
from offnac.training.from_log.units import Units
from offnac.transition import Spec


class LearnFolder:
    def __init__(self, out: Path, seed: int) -> None:
        self.seed = seed
        self.path = out / f"seed-{seed}"

    def result(self) -> dict[str, Any] | None:
        """The seed's result if it is finished."""
        path = self.path / "result.json"
        return files.read_json(path) if path.exists() else None

    def load(self, template: LogRun) -> tuple[LogRun, Columns]:
        """The run where it stopped, or ``template`` where it never began."""
        path, fields = self.path / "checkpoint.safetensors", LogRecord._fields
        if path.exists():
            return checkpoint.load(path, template, fields)
        return template, checkpoint.no_records(fields)

    def save(self, run: LogRun, records: Columns) -> None:
        checkpoint.save(self.path / "checkpoint.safetensors", run, records)
        self._table("history", "iteration", records)

    def candidates(self) -> list[Policy]:
        """The policies that one was chosen from, in order, once the seed is finished."""
        count = pq.read_metadata(self.path / "candidates.parquet").num_rows
        kept = load_file(self.path / "checkpoint.safetensors")
        parts = (jnp.asarray(kept[f"run.candidates.{part}"][:count]) for part in Candidate._fields)
        chosen = load_policy(self.path / "selected")
        return [replace(chosen, theta=theta) for theta in Candidate(*parts).averaged().theta]

    def finish(
        self,
        experiment: LogExperiment,
        spec: Spec,
        units: Units,
        candidates: Candidate,
        judgement: Judgement,
        chosen: dict[str, Any],
        provenance: dict[str, Any],
    ) -> dict[str, Any]:
        """Write the judgements, both policies and, last of all, the result."""
        ends = np.minimum((np.arange(experiment.candidates) + 1) * experiment.every, experiment.iterations)
        error = np.sqrt((judgement.influence**2).sum(axis=1))
        columns = {
            "iteration": ends,
            "value": judgement.value,
            "standard_error": error,
            "effective_sample_size": judgement.effective_sample_size,
        }
        self._table("candidates", "candidate", columns)
        for name, number in (("selected", chosen["candidate"]), ("last", experiment.candidates - 1)):
            said = provenance | {"seed": self.seed, "checkpoint": name, "iteration": int(ends[number])}
            self._policy(experiment, spec, units, candidates.theta[number], said).save(self.path / name)
        result = {"seed": self.seed, "policy": str(self.path / "selected"), "selected": chosen}
        files.write_json(self.path / "result.json", result)
        return result

    def _policy(
        self,
        experiment: LogExperiment,
        spec: Spec,
        units: Units,
        theta: Parameters,
        provenance: dict[str, Any],
    ) -> Policy:
        mean, scale = jnp.asarray(units.mean), jnp.asarray(units.scale)
        return Policy(experiment.algorithm.policy.network, theta, spec, mean, scale, provenance)

    def _table(self, name: str, counted: str, columns: Columns) -> None:
        rows = len(next(iter(columns.values())))
        with files.replacing(self.path / f"{name}.parquet") as temporary:
            pq.write_table(pa.table({counted: np.arange(rows, dtype=np.int32), **columns}), temporary)
