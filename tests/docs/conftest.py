import pytest

from offnac.evaluation.off_policy.fitted import network


@pytest.fixture(autouse=True)
def small_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fitted Q evaluation of a fiftieth of its steps: here it must run, elsewhere it is right."""
    monkeypatch.setattr(network, "STEPS", 100)
