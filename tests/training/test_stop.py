"""Asked to stop, a run stops soon, whatever it is at, and says how to go on."""

import signal
import subprocess
import sys
import time
from threading import Event

import pytest

from offnac import api, files
from offnac.environments import make
from offnac.errors import Stopped, UserError
from offnac.evaluation import rollout

pytestmark = pytest.mark.optimised

ENDLESS_TEST = ["--algorithm", "ac", "--episodes", "2", "--test-episodes", "100000000"]


@pytest.mark.parametrize("name", ["chain_policy", "cartpole_policy"])
def test_rollouts_stop_when_asked(name, request):
    policy, stop = request.getfixturevalue(name), Event()
    with pytest.raises(Stopped):
        rollout.returns(make(policy.spec.name), policy, 10**8, 0, lambda _: stop.set(), stop)


NATIVE, HOST = ["tabular-chain"], ["FrozenLake-v1", "--seeds", "2", "--workers", "2"]


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (NATIVE, signal.SIGINT),
        (HOST, signal.SIGTERM),
        pytest.param(NATIVE, signal.SIGTERM, marks=pytest.mark.thorough),
        pytest.param(HOST, signal.SIGINT, marks=pytest.mark.thorough),
    ],
    ids=["native-interrupted", "host-terminated", "native-terminated", "host-interrupted"],
)
def test_a_run_that_is_being_tested_stops(options, number, tmp_path):
    out = tmp_path / "run"
    arguments = ["train", *options, *ENDLESS_TEST, "--quiet", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "offnac", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: (out / "seed-0" / "best").exists() or process.poll() is not None)
    process.send_signal(number)
    printed, errors = process.communicate(timeout=300)
    assert (process.returncode, printed) == (130, "")
    assert errors.startswith("offnac: stopped, and everything is saved; go on with: offnac train")


def test_a_worker_ends_with_whoever_began_it(tmp_path):
    out = tmp_path / "run"
    request = {"environment": "FrozenLake-v1", "algorithm": "ac", "preset": "published", "max_steps": None}
    files.write_json(out / api.RUN, {"request": request | {"test_episodes": 10**8, "episodes": 2}})
    command = [sys.executable, "-m", "offnac.worker", str(out), "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: (out / "seed-0" / "best").exists() or process.poll() is not None)
        process.stdin.close()
        assert process.wait(timeout=300) == 130


def test_a_worker_that_fails_ends_the_others(tmp_path):
    out = tmp_path / "run"
    options = {"algorithm": "ac", "seeds": 2, "workers": 2, "episodes": 2, "out": out, "resume": True}
    (out / "seed-1").mkdir(parents=True)
    api.train("FrozenLake-v1", **options | {"out": tmp_path / "other"}, test_episodes=1)
    (tmp_path / "other" / api.RUN).rename(out / api.RUN)
    record = files.read_json(out / api.RUN)
    record["request"]["test_episodes"] = 10**8
    files.write_json(out / api.RUN, record)
    (out / "seed-1" / "checkpoint.safetensors").write_bytes(b"damaged")
    with pytest.raises(UserError, match="seed-1"):
        api.train("FrozenLake-v1", **options, test_episodes=10**8)


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()
