"""The study: an Optuna database in the folder, asked for settings and told what they are worth."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from offnac.tuning.space import Choice, Range, Space


class Trial(NamedTuple):
    number: int
    settings: dict[str, Any]
    value: float | None = None
    """None: not known yet, or the run failed."""


class Study:
    """Its first trial is what the search begins with. Which settings come next depends on the trials so far
    and on nothing else, so that a study that was stopped goes on as it would have."""

    def __init__(self, path: Path, space: Space, first: Mapping[str, Any]) -> None:
        import optuna
        from sqlalchemy.engine import URL

        self.optuna = optuna

        self.optuna.logging.set_verbosity(self.optuna.logging.ERROR)
        self.distributions = {name: self._distribution(part) for name, part in space.items()}
        self.study = self.optuna.create_study(
            storage=URL.create("sqlite", database=str(path)).render_as_string(),
            study_name="offnac",
            direction="maximize",
            load_if_exists=True,
        )
        if not self.study.trials:
            self.study.enqueue_trial(
                {
                    name: json.dumps(first[name]) if isinstance(part, Choice) else first[name]
                    for name, part in space.items()
                }
            )

    def next(self) -> Trial:
        """A trial that was begun and never ended, or a new one."""
        states = self.optuna.trial.TrialState
        for begun in self.study.get_trials(deepcopy=False, states=(states.RUNNING,)):
            return Trial(begun.number, self._settings(begun.params))
        self.study.sampler = self.optuna.samplers.TPESampler(seed=len(self.trials()))
        trial = self.study.ask(self.distributions)
        return Trial(trial.number, self._settings(trial.params))

    def tell(self, number: int, value: float | None) -> None:
        states = self.optuna.trial.TrialState
        self.study.tell(number, value, state=states.FAIL if value is None else states.COMPLETE)

    def trials(self) -> list[Trial]:
        """Those that ended, well or not."""
        return [
            Trial(trial.number, self._settings(trial.params), trial.value)
            for trial in self.study.get_trials(deepcopy=False)
            if trial.state.is_finished()
        ]

    def best(self) -> Trial:
        """The first of the best ones."""
        known = [trial for trial in self.trials() if trial.value is not None]
        return max(known, key=lambda trial: (trial.value, -trial.number))

    def _distribution(self, part: Range | Choice) -> Any:
        kinds = self.optuna.distributions
        if isinstance(part, Choice):
            return kinds.CategoricalDistribution(part.texts)
        kind = kinds.IntDistribution if part.whole else kinds.FloatDistribution
        return kind(part.low, part.high, log=part.log)

    def _settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: json.loads(params[name]) if isinstance(params[name], str) else params[name]
            for name in self.distributions
        }
