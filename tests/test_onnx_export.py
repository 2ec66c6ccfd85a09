"""Policies as ONNX files, against an independent program that runs them."""

import json
import sys
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from offnac import cli
from offnac.errors import UserError
from offnac.networks import MLP, initialise
from offnac.onnx_export import export, observations
from offnac.saved_policy import Policy
from offnac.transition import Spec

NETWORKS = {
    "as trained on-line": MLP(4, (16,), 2, activation="tanh", bias=False),
    "deep, with bias": MLP(4, (32, 8), 3, activation="relu"),
    "linear": MLP(4, (), 5),
    "exponential": MLP(4, (8,), 2, output="exp"),
    "softplus": MLP(4, (8,), 2, output="softplus"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_file_acts_as_the_policy_does(name, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    network = NETWORKS[name]
    theta = 2.0 * initialise(network, jax.random.key(1))
    policy = Policy(network, theta, Spec("a task", 4, network.outputs))
    if name != "linear":
        policy = replace(
            policy, mean=jnp.array([1.0, -2.0, 0.1, 0.0]), scale=jnp.array([0.5, 2.0, 1.0, 30.0])
        )
    result = export(policy, tmp_path / "policy.onnx")
    assert result["largest_difference"] < 1e-5
    session = runtime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    rows = observations(policy, 1000)
    probabilities, action = session.run(["probabilities", "action"], {"observation": rows})
    wanted = policy.probabilities(rows)
    assert_allclose(probabilities, wanted, atol=1e-5)
    surely = np.ptp(np.sort(wanted)[:, -2:], axis=1) > 1e-4
    assert surely.mean() > 0.9
    assert np.array_equal(action[surely], policy.act(rows)[surely])
    one = session.run(["probabilities"], {"observation": rows[:1]})[0]
    assert_allclose(one, wanted[:1], atol=1e-5)


def test_the_command(cartpole_policy, tmp_path, capsys):
    pytest.importorskip("onnx")
    cartpole_policy.save(tmp_path / "policy")
    arguments = ["export", str(tmp_path / "policy"), "--out", str(tmp_path / "new" / "policy.onnx")]
    assert cli.main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["checked_on"], result["environment"]) == (1000, "CartPole-v1")
    assert cli.main(arguments) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "new" / "policy.onnx").unlink()
    assert cli.main(arguments) == 0
    assert "the same as the policy on 1,000 observations" in capsys.readouterr().out
    assert cli.main([*arguments[:-1], str(tmp_path / "policy.bin")]) == 2
    assert "called such as policy.onnx" in capsys.readouterr().err


def test_a_network_of_ones_own_is_refused(cartpole_policy, tmp_path):
    class Own:
        def build(self, key):
            return eqx.nn.Sequential([eqx.nn.Linear(4, 2, key=key)])

    with pytest.raises(UserError, match="only policies with an MLP can be exported, but this one has a Own"):
        export(replace(cartpole_policy, network=Own()), tmp_path / "policy.onnx")


def test_without_the_extra_there_is_one_sentence(cartpole_policy, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UserError, match=r"install it with: pip install 'offnac\[onnx\]'"):
        export(cartpole_policy, tmp_path / "policy.onnx")
