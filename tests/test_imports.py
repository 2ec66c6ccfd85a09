"""Imports point one way, and nothing heavy is imported before there is work to do."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import offnac

ROOT = Path(offnac.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# From the bottom up: a module may import its own layer and those before it.
LAYERS = (
    "claims compile_cache errors extras files processes provenance spaces suggestions "
    "settings schedules optimisers transition networks policy compatible",
    "ratios critics directions steps",
    "agent behaviour environments saved_policy actor_critic",
    "evaluation logs training",
    "presets",
    "request run_folder settings_file tracking api learning onnx_export worker workers",
    "experiments report tuning",
    "console installation cli __main__",
)
LAYER = {room: height for height, rooms in enumerate(LAYERS) for room in rooms.split()}
ROLES = LAYERS[1].split()


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """The parts of offnac that a file imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "offnac":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("offnac."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {parts[1] for parts in names if parts[0] == "offnac" and len(parts) > 1}
    return found


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_every_module_has_a_layer():
    rooms = {room(path) for path in FILES} - {"__init__"}
    assert rooms - set(LAYER) == set(), "say in LAYERS where the new module belongs"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_imports_what_is_above_it(path):
    if room(path) == "__init__":
        assert imported_rooms(path) == set()
        return
    above = {name for name in imported_rooms(path) if LAYER[name] > LAYER[room(path)]}
    assert above == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_roles_do_not_know_each_other(path):
    if room(path) in ROLES:
        assert imported_rooms(path) & set(ROLES) <= {room(path)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_pickles(path):
    modules = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not modules & {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in modules
        elif isinstance(node, ast.keyword):
            assert node.arg != "allow_pickle"


@pytest.mark.parametrize(
    "code",
    [
        "import offnac",
        "from offnac.cli import main; main([])",
        "from offnac.cli import main; main(['--version'])",
        "from offnac.cli import main\ntry: main(['train', '--help'])\nexcept SystemExit: pass",
        "from offnac.cli import main; main(['train'])",
    ],
    ids=["import", "no command", "version", "help", "wrong call"],
)
def test_jax_is_imported_only_when_there_is_work(code):
    heavy = "{'jax', 'numpy', 'gymnasium', 'gymnax', 'pyarrow'}"
    assert python(f"{code}\nimport sys; print(sorted({heavy} & set(sys.modules)))").splitlines()[-1] == "[]"


def test_public_names_resolve():
    assert {"collect", "evaluate", "load_policy", "train"} <= set(offnac.__all__)
    for name in offnac.__all__:
        assert getattr(offnac, name) is not None
    assert set(dir(offnac)) == set(offnac.__all__)
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        _ = offnac.unheard_of


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "py.typed").exists()


def test_no_public_function_is_hidden_by_a_module_of_its_name():
    assert not {room(path) for path in FILES} & set(offnac.__all__)
