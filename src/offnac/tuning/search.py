"""Trial after trial, each a run in a folder of its own, and in the end a check on fresh seeds."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from offnac.errors import Stopped, UserError
from offnac.tuning.objective import FromLog, InSimulator
from offnac.tuning.progress import Report, TuneUpdate
from offnac.tuning.study import Study, Trial


def search_on(
    study: Study,
    objective: InSimulator | FromLog,
    out: Path,
    trials: int,
    seeds: int,
    first_seed: int,
    report: Report,
    stop: Event,
    save: Callable[[], object],
) -> None:
    """Go on until there are as many trials; one that was stopped goes on where it was. ``save`` is called
    after each."""
    while (done := len(study.trials())) < trials:
        if stop.is_set():
            raise Stopped
        best = study.best().value if done else None
        trial = study.next()

        def tell(share: float, done: int = done, best: float | None = best) -> None:
            report(TuneUpdate("searching", "trials", done + share, trials, best))

        tell(0.0)
        folder = out / "trials" / str(trial.number)
        try:
            worth = objective.run(trial.settings, folder, first_seed, seeds, tell, stop)
        except UserError:
            # With the settings as they are, the task is at fault; with others, these may be.
            if trial.number == 0:
                raise
            study.tell(trial.number, None)
        else:
            study.tell(trial.number, worth.value)
        save()


def check(
    objective: InSimulator | FromLog,
    best: Trial,
    first: dict[str, Any],
    out: Path,
    first_seed: int,
    seeds: int,
    report: Report,
    stop: Event,
) -> dict[str, Any]:
    """The best settings and the first ones on seeds that chose neither."""
    contenders = {"first": (first, "first"), "best": (best.settings, f"best-{best.number}")}
    worth = {}
    for place, (name, (settings, folder)) in enumerate(contenders.items()):

        def tell(share: float, place: int = place) -> None:
            report(TuneUpdate("checking", "runs", place + share, len(contenders), best.value))

        found = objective.run(settings, out / "check" / folder, first_seed, seeds, tell, stop)
        worth[name] = found._asdict()
    return {"first_seed": first_seed, "seeds": seeds, **worth}
