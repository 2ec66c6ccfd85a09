"""The cells are the paper's, and are found by what a person would type."""

import pytest

from offnac.errors import UserError
from offnac.experiments.cells import CELLS, select_cells, select_presets
from offnac.presets import PRESETS

# The paper's numbers, transcribed a second time: mean ± SD, a column per task.
TABLE = """
              cartpole        acrobot         mountaincar       lunarlander
ac            497.20 ± 6.29   -83.91 ± 4.92   -448.95 ± 29.10   171.51 ± 24.14
nac           498.60 ± 4.9    -84.83 ± 6.31   -291.13 ± 8.38    179.93 ± 15.90
offac         499.62 ± 0.95   -85.33 ± 5.36   -874.62 ± 76.17   87.05 ± 27.55
offnac        500 ± 0         -84.28 ± 4.78   -202.62 ± 8.85    215.14 ± 12.97
"""
TD_LAMBDA = {
    "mountaincar-ac-lambda": (0.7, -147.70, 7.39),
    "mountaincar-nac-lambda": (1.0, -143.29, 6.02),
    "mountaincar-offac-lambda": (0.7, -771.47, 56.07),
    "mountaincar-offnac-lambda": (1.0, -192.66, 9.00),
}
IDS = {
    "cartpole": "CartPole-v1",
    "acrobot": "Acrobot-v1",
    "mountaincar": "MountainCar-v0",
    "lunarlander": "LunarLander-v3",
}


def test_the_cells_are_those_of_the_papers_tables():
    head, *rows = TABLE.strip().splitlines()
    expected = {}
    for row in rows:
        algorithm, *numbers = row.replace("±", "").split()
        for task, mean, sd in zip(head.split(), numbers[::2], numbers[1::2], strict=True):
            expected[f"{task}-{algorithm}"] = (IDS[task], algorithm, None, float(mean), float(sd))
    for name, (lam, mean, sd) in TD_LAMBDA.items():
        expected[name] = ("MountainCar-v0", name.split("-")[1], lam, mean, sd)
    found = {cell.name: (cell.environment, cell.algorithm, cell.lam, cell.mean, cell.sd) for cell in CELLS}
    assert found == expected
    assert len(CELLS) == 20


def names(*patterns):
    return [cell.name for cell in select_cells(patterns)]


def test_a_whole_name_is_that_cell_alone():
    assert names("mountaincar-offnac") == ["mountaincar-offnac"]
    assert names("CartPole-NAC") == ["cartpole-nac"]


def test_beginnings_wildcards_and_task_ids():
    assert names("cartpole") == [f"cartpole-{algorithm}" for algorithm in ("ac", "nac", "offac", "offnac")]
    assert names("MountainCar-v0") == names("mountaincar")
    assert len(names("mountaincar")) == 8
    assert names("*-lambda") == list(TD_LAMBDA)
    assert names("lunar*-off*") == ["lunarlander-offac", "lunarlander-offnac"]
    assert len(names("*")) == 20


def test_cells_come_once_in_the_papers_order():
    assert names("*-lambda", "acrobot-nac", "cartpole", "cartpole-nac") == [
        *names("cartpole"),
        "acrobot-nac",
        *TD_LAMBDA,
    ]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("cartpol-nac", "cell 'cartpol-nac' is not known; did you mean 'cartpole-nac'?"),
        ("cratpole", "did you mean 'cartpole'?"),
        ("mountaincar-nac-lamda", "did you mean 'mountaincar-nac-lambda'?"),
        ("*-sarsa", "choose from names such as"),
        ("", "choose from names such as"),
    ],
)
def test_a_cell_that_is_not_there_gets_a_hint(pattern, sentence):
    with pytest.raises(UserError) as refused:
        select_cells([pattern])
    assert sentence in str(refused.value)


def test_presets_by_name():
    assert select_presets()[:2] == ("published", "paper")
    assert ("robust" in select_presets()) == ("robust" in PRESETS)
    assert select_presets(["theory", "paper", "theory"]) == ("theory", "paper")
    with pytest.raises(UserError, match="did you mean 'published'"):
        select_presets(["publishd"])
    for empty in (select_presets, select_cells):
        with pytest.raises(UserError, match="was chosen"):
            empty([])
