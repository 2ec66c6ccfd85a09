"""What only a simulator of the log's task can say of a policy; most people's logs have none."""

from functools import cached_property
from pathlib import Path
from typing import Any

from offnac import environments
from offnac.api import open_policy, require_fit, time_limit
from offnac.environments import HostEnvironment
from offnac.errors import UserError
from offnac.evaluation import statistics
from offnac.report import panels
from offnac.report.film import caption, film
from offnac.report.filming import filmed
from offnac.report.rollouts import collected


class Simulator:
    """Of the environment that is named; else of the one that the log was collected in, if it is known."""

    def __init__(self, out: Path, environment: str | None, gamma: float) -> None:
        self.folder, self.gamma = out / "policy", gamma
        self.policy = open_policy(self.folder)
        self.task = environment or self.policy.spec.name
        self.there = True
        try:
            require_fit(self.policy, environments.make(self.task).spec)
        except UserError:
            if environment is not None:
                raise
            self.there = False

    @cached_property
    def value(self) -> dict[str, Any] | None:
        """The discounted return by rollouts."""
        if not self.there:
            return None
        task = environments.make(self.task, time_limit(self.policy, self.task))
        try:
            returns = collected(task, self.policy.acting(), 0).returns(self.gamma)
        finally:
            if isinstance(task, HostEnvironment):
                task.close()
        # The last episode was cut short.
        return statistics.of_episodes(returns[: max(1, len(returns) - 1)])

    def film(self) -> str:
        if not self.there:
            return ""
        shown = filmed(self.folder, self.task, 0)
        played = film(panels.task(self.task), caption(shown, "one episode"), shown)
        return f'<div class="films">{played}</div>'
