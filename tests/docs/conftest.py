import pytest

from offnac.evaluation.off_policy.fitted import network
from offnac.presets import from_log


@pytest.fixture(autouse=True)
def small_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps of learning from logs and of fitted Q: here they must run, elsewhere they are right."""
    monkeypatch.setattr(network, "STEPS", 100)
    monkeypatch.setattr(from_log, "iterations_for", lambda spec, row: 100)
