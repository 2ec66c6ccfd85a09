"""What a run is asked for, as run.json keeps it, and the task and the experiment that it means."""

from typing import Any

from offnac import environments, presets
from offnac.environments import HostEnvironment, is_native
from offnac.environments.environment import Environment
from offnac.errors import UserError
from offnac.training.protocol import Experiment
from offnac.transition import Spec


def prepare(request: dict[str, Any]) -> tuple[Environment | HostEnvironment, Experiment]:
    """The task and the experiment that a request names."""
    changes = {
        name: value
        for name, value in request.items()
        if name not in ("environment", "algorithm", "preset", "max_steps", "test_episodes")
    }
    powers = presets.Powers(
        changes.pop("critic_power", presets.Powers().critics),
        changes.pop("actor_power", presets.Powers().actor),
    )
    if changes.get("episodes", 0) >= 2**31:
        raise UserError(f"--episodes must be below 2147483648, but it is {changes['episodes']}; give fewer")
    if request["max_steps"] is None:
        request = request | {"max_steps": presets.max_steps(request["environment"])}
    # Names and numbers are checked before a simulator is opened.
    presets.experiment(request["preset"], request["algorithm"], Spec("", 1, 2), powers=powers, **changes)
    if powers != presets.Powers() and request["preset"] != "theory":
        raise UserError(
            f"only the theory preset has powers, but the preset is {request['preset']}; leave out "
            "--critic-power and --actor-power, or choose --preset theory"
        )
    task = environments.make(request["environment"], request["max_steps"])
    experiment = presets.experiment(
        request["preset"], request["algorithm"], task.spec, powers=powers, **changes
    )
    if experiment.protocol.imagination is not None and is_native(task):
        raise UserError(
            f"the setting imagined is for tasks that Gymnasium steps, but {request['environment']} is "
            "stepped inside the compiled program, where no model can be fitted halfway; leave it out"
        )
    return task, experiment
