"""The paper's figures, as files that are the same for the same numbers."""

import json
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from offnac.experiments import figures
from offnac.report import reproduction

NAMES = ("on-policy", "off-policy", "td-lambda")


@pytest.fixture(scope="module")
def drawn(invented, tmp_path_factory):
    """Drawn twice, in two places."""
    places = [tmp_path_factory.mktemp("figures") for _ in range(2)]
    for out in places:
        invented(out, seeds=3, episodes=30, presets=("robust",), policies=())
    return [figures.draw(out) for out in places]


def test_there_is_a_png_and_an_svg_of_each(drawn):
    assert {path.name for path in drawn[0]} == {
        f"{name}-robust.{kind}" for name in NAMES for kind in ("png", "svg")
    }
    assert not list(drawn[0][0].parent.glob(".*"))
    for path in drawn[0]:
        if path.suffix == ".png":
            with Image.open(path) as image:
                assert image.width > 1000


def test_the_same_numbers_give_the_same_files(drawn):
    for one, other in zip(*drawn, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


@pytest.mark.parametrize(("name", "panels"), [*zip(NAMES, (4, 4, 2), strict=True)])
def test_axes_and_curves_are_named_and_the_papers_number_is_there(drawn, name, panels):
    path = next(path for path in drawn[0] if path.name == f"{name}-robust.svg")
    texts = [node.text or "" for node in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert sum(text == "training episode" for text in texts) == panels
    assert sum(text.startswith("running average of the return") for text in texts) == panels
    assert sum(text.startswith("the paper: ") for text in texts) == 2 * panels


def test_a_part_of_the_cells_is_drawn_as_well(invented, tmp_path):
    out = invented(tmp_path, seeds=1, episodes=5, presets=("robust",), policies=())
    summary = json.loads((out / "summary.json").read_text())
    summary["cells"] = [
        cell for cell in summary["cells"] if cell["cell"] in ("cartpole-nac", "acrobot-ac", "acrobot-nac")
    ]
    (out / "summary.json").write_text(json.dumps(summary))
    assert [path.name for path in figures.draw(out)] == ["on-policy-robust.png", "on-policy-robust.svg"]


def test_diverged_seeds_leave_gaps_and_nothing_else(invented, tmp_path):
    out = invented(tmp_path, seeds=2, episodes=6, presets=("robust",), policies=())
    table = pq.read_table(out / "curves.parquet")
    broken = np.where(table["episode"].to_numpy() > 3, np.nan, table["average_published"].to_numpy())
    place = table.column_names.index("average_published")
    pq.write_table(table.set_column(place, "average_published", pa.array(broken)), out / "curves.parquet")
    assert len(figures.draw(out)) == 6
    assert ",null,null]" in reproduction.write(out).read_text()
