import pytest


@pytest.fixture(autouse=True)
def small(small_fits: None) -> None:
    """What pages and examples learn from logs is small."""
