"""A policy is a folder: it comes back as it went, and a broken one is refused in one sentence."""

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from safetensors.numpy import load_file, save_file

from offnac import files, saved_policy
from offnac.errors import UserError
from offnac.networks import MLP, initialise
from offnac.saved_policy import Policy, load_policy
from offnac.transition import Spec

OBSERVATIONS = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


@pytest.fixture
def folder(cartpole_policy, tmp_path):
    cartpole_policy.save(tmp_path / "policy")
    return tmp_path / "policy"


def rewrite(folder, change):
    path = folder / "policy.json"
    description = json.loads(path.read_text())
    change(description)
    path.write_text(json.dumps(description))


def refused(folder):
    """The sentence with which the folder is refused."""
    with pytest.raises(UserError) as error:
        load_policy(folder)
    sentence = str(error.value)
    assert sentence
    assert "\n" not in sentence
    return sentence


def test_a_policy_comes_back_bit_for_bit(cartpole_policy, folder):
    loaded = load_policy(folder)
    assert np.asarray(loaded.theta).tobytes() == np.asarray(cartpole_policy.theta).tobytes()
    assert loaded.theta.dtype == jnp.float32
    assert (loaded.network, loaded.spec) == (cartpole_policy.network, cartpole_policy.spec)
    assert (loaded.mean, loaded.scale) == (None, None)
    assert loaded.provenance == {"seed": 3}
    assert_array_equal(loaded.probabilities(OBSERVATIONS), cartpole_policy.probabilities(OBSERVATIONS))


@pytest.mark.parametrize(
    "network",
    [
        MLP(4, (), 2, bias=True),
        MLP(4, (5, 3), 2, activation="relu", bias=True),
    ],
)
def test_every_network_comes_back(network, tmp_path):
    policy = Policy(network, initialise(network, jax.random.key(0)), Spec("CartPole-v1", 4, 2))
    policy.save(tmp_path / "policy")
    loaded = load_policy(tmp_path / "policy")
    assert loaded.network == network
    assert_array_equal(loaded.theta, policy.theta)


def test_normalisation_comes_back_and_is_used(cartpole_policy, tmp_path):
    mean, scale = jnp.array([1.0, -2.0, 0.1, 0.0]), jnp.array([0.5, 2.0, 1.0, 3.0])
    policy = replace(cartpole_policy, mean=mean, scale=scale)
    policy.save(tmp_path / "policy")
    loaded = load_policy(tmp_path / "policy")
    assert_array_equal(loaded.mean, mean)
    assert_array_equal(loaded.scale, scale)
    wanted = cartpole_policy.probabilities((OBSERVATIONS - mean) / scale)
    assert_allclose(loaded.probabilities(OBSERVATIONS), wanted, rtol=1e-6)
    assert not np.allclose(wanted, cartpole_policy.probabilities(OBSERVATIONS))
    action, prob = loaded.acting()(jnp.asarray(OBSERVATIONS[0]), jax.random.key(0))
    assert_allclose(prob, wanted[0, action], rtol=1e-6)


def test_probabilities_sum_to_1_for_one_and_for_many(cartpole_policy):
    one, many = cartpole_policy.probabilities(OBSERVATIONS[0]), cartpole_policy.probabilities(OBSERVATIONS)
    assert (one.shape, many.shape) == ((2,), (5, 2))
    assert_allclose(many.sum(axis=1), 1.0, rtol=1e-6)
    assert_allclose(one, many[0], rtol=1e-6)
    assert np.all(many > 0)


def test_actions_follow_the_probabilities(cartpole_policy):
    rows = np.tile(OBSERVATIONS[0], (20_000, 1))
    frequency = cartpole_policy.act(rows, 0).mean()
    probability = cartpole_policy.probabilities(OBSERVATIONS[0])[1]
    assert abs(frequency - probability) < 5 * (probability * (1 - probability) / 20_000) ** 0.5


def test_act_takes_a_key_a_number_or_nothing(cartpole_policy):
    one, many = OBSERVATIONS[0], OBSERVATIONS
    assert isinstance(cartpole_policy.act(one), int)
    assert isinstance(cartpole_policy.act(one, 7), int)
    assert cartpole_policy.act(many, 7).shape == (5,)
    assert_array_equal(cartpole_policy.act(many, 7), cartpole_policy.act(many, jax.random.key(7)))
    assert_array_equal(cartpole_policy.act(many, np.int64(7)), cartpole_policy.act(many, 7))
    assert_array_equal(cartpole_policy.act(many), cartpole_policy.probabilities(many).argmax(axis=1))
    assert cartpole_policy.act(list(one)) == cartpole_policy.act(one)


@pytest.mark.parametrize("observation", [np.zeros(3), np.zeros((2, 5)), np.zeros((2, 2, 4)), 1.0])
def test_observations_of_another_shape_are_refused(cartpole_policy, observation):
    with pytest.raises(UserError, match="expects observations of 4 numbers"):
        cartpole_policy.probabilities(observation)


def test_a_folder_holds_tensors_and_json_and_no_pickle(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["policy.json", "policy.safetensors"]
    for path in folder.iterdir():
        assert not path.read_bytes().startswith((b"\x80", b"PK"))
        assert path.stat().st_mode == (folder / "policy.json").stat().st_mode
    assert {tensor.dtype for tensor in load_file(folder / "policy.safetensors").values()} == {
        np.dtype(np.float32)
    }
    description = json.loads((folder / "policy.json").read_text())
    assert description["network"]["type"] == "MLP"
    assert description["spec"] == {"name": "CartPole-v1", "observation_size": 4, "actions": 2}
    assert "jax" in description["versions"]


def test_what_is_not_a_folder_is_refused(tmp_path):
    assert "is not one" in refused(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    assert "is not one" in refused(tmp_path / "file")


@pytest.mark.parametrize("name", ["policy.json", "policy.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert name in refused(folder)


@pytest.mark.parametrize("kept", [0, 4, 60, -4])
def test_a_truncated_tensor_file_is_refused(folder, kept):
    path = folder / "policy.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    assert "policy.safetensors" in refused(folder)


@pytest.mark.parametrize("garbage", [b"", b"{", b"\xff\xfe\x00", b"[1, 2]", b'"text"', b"null", b"{}"])
def test_json_garbage_is_refused(folder, garbage):
    (folder / "policy.json").write_bytes(garbage)
    assert "policy.json" in refused(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(format="another"),
        lambda d: d.pop("network"),
        lambda d: d.update(network="MLP"),
        lambda d: d.update(network=None),
        lambda d: d["network"].pop("inputs"),
        lambda d: d["network"].update(depth=3),
        lambda d: d["network"].update(activation="__import__('os')"),
        lambda d: d["network"].update(activation=["tanh"]),
        lambda d: d["network"].update(output="gelu"),
        lambda d: d["network"].update(hidden=[-16]),
        lambda d: d["network"].update(hidden="16"),
        lambda d: d["network"].update(inputs="4"),
        lambda d: d.pop("spec"),
        lambda d: d["spec"].pop("actions"),
        lambda d: d["spec"].update(actions=3),
        lambda d: d["spec"].update(observation_size=5),
        lambda d: d["spec"].update(observation_size="4"),
        lambda d: d.pop("observation"),
        lambda d: d.update(observation={"mean": ["a"] * 4, "scale": [1] * 4}),
        lambda d: d.update(observation={"mean": [0.0] * 3, "scale": [1.0] * 3}),
        lambda d: d.update(observation={"mean": [0.0], "scale": [1.0]}),
        lambda d: d.update(observation={"mean": [0.0] * 4, "scale": [1.0, 1.0, 0.0, 1.0]}),
        lambda d: d.update(observation={"mean": [float("nan")] * 4, "scale": [1.0] * 4}),
        lambda d: d.update(observation={"mean": [0.0] * 4, "scale": None}),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(folder, change):
    rewrite(folder, change)
    refused(folder)


def test_an_unknown_network_is_named(folder):
    rewrite(folder, lambda d: d["network"].update(type="Transformer"))
    assert "'Transformer', which offnac does not know" in refused(folder)


def test_an_own_network_can_be_given(cartpole_policy, folder):
    rewrite(folder, lambda d: d["network"].update(type="Mine"))
    loaded = load_policy(folder, network=cartpole_policy.network)
    assert_array_equal(loaded.theta, cartpole_policy.theta)


def test_tensors_of_another_network_are_refused(folder):
    path = folder / "policy.safetensors"
    tensors = load_file(path)
    name = min(tensors)
    for changed in ({}, tensors | {"more": np.zeros(2, np.float32)}, tensors | {name: tensors[name].T}):
        save_file({key: np.ascontiguousarray(value) for key, value in changed.items()}, path)
        assert "another network's" in refused(folder)
    save_file({key: value.astype(np.int32) for key, value in tensors.items()}, path)
    refused(folder)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(folder, number):
    path = folder / "policy.safetensors"
    tensors = load_file(path)
    tensors[min(tensors)][0, 0] = number
    save_file(tensors, path)
    assert "not finite" in refused(folder)


def test_saving_again_replaces_the_whole_folder(cartpole_policy, folder):
    (folder / "left-over").write_text("")
    replace(cartpole_policy, theta=cartpole_policy.theta + 1).save(folder)
    assert not (folder / "left-over").exists()
    assert_array_equal(load_policy(folder).theta, cartpole_policy.theta + 1)


@pytest.mark.parametrize("before", [False, True], ids=["new", "over an older one"])
@pytest.mark.parametrize("broken", ["tensors", "json"])
def test_when_saving_fails_nothing_is_half_written(cartpole_policy, tmp_path, monkeypatch, before, broken):
    path = tmp_path / "policy"
    if before:
        cartpole_policy.save(path)

    def fail(*arguments, **named):
        raise OSError(28, "No space left on device")

    if broken == "tensors":
        monkeypatch.setattr(saved_policy, "_tensors", fail)
    else:
        monkeypatch.setattr(files, "write_json", fail)
    with pytest.raises(OSError, match="No space left"):
        replace(cartpole_policy, theta=cartpole_policy.theta + 1).save(path)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == (["policy"] if before else [])
    if before:
        assert_array_equal(load_policy(path).theta, cartpole_policy.theta)
