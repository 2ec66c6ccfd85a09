"""The functions behind the commands: names and numbers in, plain results out."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import jax
import numpy as np

from offnac import environments, files, presets, run_folder, tracking
from offnac.behaviour import Behaviour, Uniform
from offnac.environments import HostEnvironment, is_native
from offnac.environments.environment import Environment
from offnac.environments.gymnasium import found_anywhere
from offnac.errors import UserError
from offnac.evaluation import off_policy, rollout, statistics
from offnac.evaluation.audit import audit as log_audit
from offnac.logs import Columns, Log, read_log, write_log
from offnac.logs import collect as log_collect
from offnac.provenance import device, now, versions
from offnac.request import prepare
from offnac.run_folder import require_seeds, require_workers
from offnac.saved_policy import Policy, load_policy
from offnac.settings import describe
from offnac.settings_file import read_settings
from offnac.suggestions import nearest
from offnac.training.progress import Report, silent
from offnac.training.protocol import Experiment
from offnac.training.seed_folder import SeedFolder
from offnac.training.stream import train_seeds
from offnac.transition import Spec
from offnac.workers import train_in_processes

RUN = run_folder.RUN
LONG = 10_000_000
"""Training steps at most, of all seeds, from which on JAX-native ones are trained in processes."""


def train(
    environment: str,
    algorithm: str = "offnac",
    *,
    out: Path | str,
    preset: str = "published",
    seeds: int = 1,
    first_seed: int = 0,
    test_episodes: int = 1000,
    max_steps: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    settings: Mapping[str, Any] | Path | str | None = None,
    report: Report = silent,
    stop: Event | None = None,
    **changes: float | None,
) -> dict[str, Any]:
    """Train ``seeds`` runs of an algorithm under a preset and test them; what they are is in ``out``.

    ``track`` names where the runs are shown as they go: tensorboard, wandb, or both. ``settings`` are changes
    of the robust preset's row, or a file of them.
    ``changes`` are single numbers of the preset: lam, gamma, episodes, newest, actor_rate, x_rate,
    value_rate, ratio_rate, critic_power, actor_power.
    """
    out, stop = Path(out), stop or Event()
    require_seeds(seeds, first_seed)
    if test_episodes < 1:
        raise UserError(f"at least one test episode is needed, but {test_episodes} were asked for")
    require_workers(workers)
    track = tracking.require(track)
    request: dict[str, Any] = {
        "environment": environment,
        "algorithm": algorithm,
        "preset": preset,
        "max_steps": max_steps,
        "test_episodes": test_episodes,
        **{name: value for name, value in sorted(changes.items()) if value is not None},
    }
    if settings is not None:
        request["settings"] = read_settings(settings, "train")
    task, experiment = prepare(request)
    all_seeds = list(range(first_seed, first_seed + seeds))
    workers = workers or os.cpu_count() or 1
    described = {
        "algorithm": describe(experiment.algorithm),
        "protocol": describe(experiment.protocol),
        "episodes": experiment.episodes,
        "max_steps": task.max_steps,
    }
    before = run_folder.before(out, run_folder.TRAINING, request, described, resume)
    workers = before.get("workers", workers)
    record = {
        "format": run_folder.TRAINING,
        "request": request,
        "seeds": sorted({*before.get("seeds", ()), *all_seeds}),
        "workers": workers,
        "settings": described,
        "device": device(),
        "versions": versions(),
        "date": now(),
        "seconds": before.get("seconds", before.get("result", {}).get("seconds", 0.0)),
    }
    files.write_json(out / RUN, record)
    began = time.perf_counter() - record["seconds"]
    try:
        with tracking.following(track, out, all_seeds, "episodes", record, report) as told:
            runs = _train(task, experiment, request, all_seeds, workers, out, told, stop)
        run_folder.write_csv(out, record["seeds"], "episodes")
    except BaseException:
        # Why it ended matters more than a disk that is too full for this number.
        with suppress(OSError):
            files.write_json(out / RUN, record | {"seconds": time.perf_counter() - began})
        raise
    seconds = time.perf_counter() - began
    result = {
        "algorithm": algorithm,
        "environment": environment,
        "preset": preset,
        "seconds": seconds,
        "train_steps": sum(run["train_steps"] for run in runs),
        "runs": runs,
    }
    files.write_json(out / RUN, record | {"seconds": seconds, "result": result})
    return result


def _train(
    task: Environment | HostEnvironment,
    experiment: Experiment,
    request: dict[str, Any],
    seeds: list[int],
    workers: int,
    out: Path,
    report: Report,
    stop: Event,
) -> list[dict[str, Any]]:
    processes = min(workers, len(seeds))
    if processes > 1 and not is_native(task) and found_anywhere(request["environment"]):
        groups = [group.tolist() for group in np.array_split(seeds, processes)]
        return train_in_processes(out, groups, report, stop)
    if processes > 1 and is_native(task) and _is_long(task, experiment, seeds, out):
        # Large batches are split among as many threads as there are, and rounded accordingly.
        threads = 1 if experiment.protocol.replay is None else None
        return train_in_processes(out, [seeds] * processes, report, stop, threads)
    return train_seeds(
        task,
        experiment,
        seeds,
        out,
        test_episodes=request["test_episodes"],
        workers=workers,
        report=report,
        stop=stop,
        provenance={"request": request},
    )


def _is_long(task: Environment, experiment: Experiment, seeds: list[int], out: Path) -> bool:
    """Whether processes, which take seconds to begin, are worth it; a GPU does all seeds in one."""
    unfinished = sum(SeedFolder(out, seed).result() is None for seed in seeds)
    at_most = unfinished * experiment.episodes * int(task.max_steps)
    return at_most >= LONG and jax.default_backend() == "cpu"


def evaluate(
    policy: Policy | Path | str,
    environment: str,
    *,
    episodes: int = 1000,
    first_seed: int = 0,
    max_steps: int | None = None,
    report: Callable[[int], None] = lambda episodes: None,
) -> dict[str, Any]:
    """Mean, SD, standard error and quantiles of the total reward by rollouts, actions sampled from π.

    Without ``max_steps`` the time limit is that of the policy's training on this task, else the task's own.
    """
    require_seeds(1, first_seed)
    if episodes < 1:
        raise UserError(f"at least one episode is needed, but --episodes is {episodes}")
    loaded = policy if isinstance(policy, Policy) else open_policy(policy)
    task = environments.make(environment, time_limit(loaded, environment) if max_steps is None else max_steps)
    require_fit(loaded, task.spec)
    totals = rollout.returns(task, loaded, episodes, first_seed, report)
    return {
        **statistics.of_episodes(totals),
        "quantiles": statistics.quantiles(totals),
        "max_steps": int(task.max_steps),
    }


def time_limit(policy: Policy, environment: str) -> int | None:
    """The time limit that a policy was trained with, where it was trained on this task."""
    request = policy.provenance.get("request")
    if not isinstance(request, dict) or request.get("environment") != environment:
        return None
    limit = request.get("max_steps")
    return limit if isinstance(limit, int) else presets.max_steps(environment)


def collect(
    environment: str,
    *,
    steps: int,
    out: Path | str,
    behaviour: str = "uniform",
    first_seed: int = 0,
    max_steps: int | None = None,
    report: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Write a log of ``steps`` steps of a behaviour: ``uniform``, or ``POLICY[:EPS]``, a policy folder
    mixed with a share EPS of uniform actions."""
    out = Path(out)
    require_seeds(1, first_seed)
    if steps < 1:
        raise UserError(f"a log has at least one step, but --steps is {steps}")
    files.require_absent(out)
    task = environments.make(environment, max_steps)
    mu = _behaviour(behaviour, task.spec)
    began = time.perf_counter()
    metadata = {"offnac.behaviour": behaviour, "offnac.seed": str(first_seed), "offnac.date": now()}
    summary = log_collect.collect(task, mu, steps, out, first_seed, metadata, report)
    return {
        "log": str(out),
        "environment": environment,
        "behaviour": behaviour,
        **summary,
        "seconds": time.perf_counter() - began,
    }


def convert(log: Any, out: Path | str, columns: Columns | None = None, **names: Any) -> dict[str, Any]:
    """Read a log in any form that :func:`offnac.read_log` knows, check it, and write it as ``out``'s name
    says: .parquet, .csv or minari:ID."""
    began = time.perf_counter()
    read = read_log(log, columns, **names)
    form = write_log(read, out)
    return {
        "log": str(out),
        "format": form,
        "rows": len(read),
        "episodes": read.episodes,
        "observation_size": read.spec.observation_size,
        "actions": read.spec.actions,
        "action_names": read.action_names,
        "behaviour": read.behaviour,
        "warnings": list(read.warnings),
        "seconds": time.perf_counter() - began,
    }


def audit(
    log: Any,
    policy: Policy | Path | str | None = None,
    columns: Columns | None = None,
    *,
    gamma: float | None = None,
    **names: Any,
) -> dict[str, Any]:
    """What is in a log, and with a policy how far the log bears it: ``verdict`` is supported, weak or
    unsupported, with ``reasons`` in words. Without ``gamma`` it is the one that the policy was learned with,
    else 0.99."""
    loaded = open_policy(policy) if isinstance(policy, Path | str) else policy
    gamma = _discount(gamma, loaded)
    read = log if isinstance(log, Log) else read_log(log, columns, **names)
    if loaded is not None:
        require_fit(loaded, read.spec)
    return log_audit(read, loaded, gamma=gamma)


def ope(
    policy: Policy | Path | str,
    log: Any,
    columns: Columns | None = None,
    *,
    gamma: float | None = None,
    max_steps: int | None = None,
    first_seed: int = 0,
    report: Callable[[int], None] = lambda stages: None,
    **names: Any,
) -> dict[str, Any]:
    """The value of a policy from a log alone, by several estimators with 95% intervals: discounted, and
    undiscounted over an episode; ``recommended`` is the one to trust, ``reason`` says why.

    Without ``gamma`` it is the one that the policy was learned with, else 0.99. Without ``max_steps`` an
    episode's time limit is that of the policy's training on the log's task, else the length of the longest
    logged episode.
    """
    require_seeds(1, first_seed)
    if max_steps is not None and not 1 <= max_steps <= off_policy.LONGEST:
        raise UserError(
            f"an episode's time limit must lie in 1 to {off_policy.LONGEST}, but --max-steps is {max_steps}"
        )
    loaded = policy if isinstance(policy, Policy) else open_policy(policy)
    gamma = _discount(gamma, loaded)
    read = log if isinstance(log, Log) else read_log(log, columns, **names)
    require_fit(loaded, read.spec)
    limit = time_limit(loaded, read.spec.name) if max_steps is None else max_steps
    return off_policy.ope(loaded, read, gamma=gamma, max_steps=limit, seed=first_seed, report=report)


def _discount(gamma: float | None, policy: Policy | None) -> float:
    if gamma is None:
        request = {} if policy is None else policy.provenance.get("request")
        found = request.get("gamma") if isinstance(request, dict) else None
        return found if isinstance(found, float) and 0.0 < found < 1.0 else 0.99
    if not 0.0 < gamma < 1.0:
        raise UserError(f"the discount factor γ must lie in (0, 1), but it is {gamma}")
    return gamma


def open_policy(folder: Path | str) -> Policy:
    """Load a policy, and help who gives the folder of a whole run. What was learned from a log has one."""
    folder = Path(folder)
    if (folder / RUN).exists() and (folder / "policy" / "policy.json").exists():
        folder = folder / "policy"
    if (folder / RUN).exists() and not (folder / "policy.json").exists():
        found = sorted(folder.glob("seed-*/best"))
        hint = f"such as {found[0]}" if found else "once a seed has finished"
        raise UserError(f"{folder} is a training run, not a policy; give one of the policies in it, {hint}")
    if (folder / "best").is_dir() and not (folder / "policy.json").exists():
        raise UserError(
            f"{folder} is a seed of a training run, not a policy; "
            f"give one of the policies in it, such as {folder / 'best'}"
        )
    return load_policy(folder)


def require_fit(policy: Policy, spec: Spec) -> None:
    """Refuse a policy for another task's observations or actions."""
    wanted, came = policy.spec, spec
    if (wanted.observation_size, wanted.actions) != (came.observation_size, came.actions):
        raise UserError(
            f"this policy was made for {wanted.name} ({wanted.observation_size} observations, "
            f"{wanted.actions} actions), but {came.name} has {came.observation_size} and {came.actions}; "
            "give a policy of the same task"
        )


def _behaviour(name: str, spec: Spec) -> Behaviour:
    if name == "uniform":
        return Uniform(spec.actions)
    folder, _, share = name.rpartition(":")
    epsilon = None
    if folder:
        try:
            epsilon = float(share)
        except ValueError:
            folder = ""
    if nearest(name, ["uniform"]) and not Path(folder or name).exists():
        raise UserError(f"behaviour '{name}' is not known; did you mean 'uniform'?")
    policy = open_policy(folder or name)
    require_fit(policy, spec)
    if epsilon is not None and not 0.0 <= epsilon <= 1.0:
        raise UserError(f"the share of uniform actions must lie in [0, 1], but it is {epsilon} in '{name}'")
    return policy.acting(epsilon)
