"""A policy or a run, as a film on disk."""

import sys

import pytest
from PIL import Image

import offnac
from offnac import files
from offnac.errors import UserError
from offnac.report.choice import policy_folder


def test_a_policy_becomes_a_gif(policy_of, tmp_path):
    policy_of("CartPole-v1").save(tmp_path / "policy")
    result = offnac.watch(tmp_path / "policy", out=tmp_path / "in" / "film.gif", max_steps=20)
    assert (result["environment"], result["policy"]) == ("CartPole-v1", str(tmp_path / "policy"))
    assert result["steps"] == result["return"] == 20
    assert not result["ended"]
    with Image.open(tmp_path / "in" / "film.gif") as gif:
        assert gif.n_frames > 5
    with pytest.raises(UserError, match=r"exists already"):
        offnac.watch(tmp_path / "policy", out=tmp_path / "in" / "film.gif")


def test_an_mp4_holds_every_picture(policy_of, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    film = tmp_path / "film.mp4"
    result = offnac.watch(policy_of("MountainCar-v0"), out=film, max_steps=30)
    frames, seconds = ffmpeg.count_frames_and_secs(str(film))
    assert frames > result["pictures"], "the last one stays a while"
    assert seconds > result["seconds"]
    assert not list(tmp_path.glob(".*"))


def test_without_ffmpeg_an_mp4_is_refused_in_a_sentence(policy_of, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(UserError, match=r"a \.gif does not.*pip install 'offnac\[video\]'"):
        offnac.watch(policy_of("MountainCar-v0"), out=tmp_path / "film.mp4")
    with pytest.raises(UserError, match=r"a film is a .gif or an .mp4"):
        offnac.watch(policy_of("MountainCar-v0"), out=tmp_path / "film.webm")


def test_a_run_is_shown_by_its_middle_seed(policy_of, tmp_path):
    run = tmp_path / "run"
    files.write_json(run / "run.json", {"format": "offnac-run"})
    with pytest.raises(UserError, match=r"no seed in .* has finished yet"):
        policy_folder(run)
    for seed, mean in enumerate([500.0, 9.0, 200.0]):
        policy_of("CartPole-v1").save(run / f"seed-{seed}" / "best")
        files.write_json(run / f"seed-{seed}" / "result.json", {"seed": seed, "test": {"mean": mean}})
    assert policy_folder(run) == run / "seed-2" / "best"
    assert policy_folder(run / "seed-1") == run / "seed-1" / "best"
    assert policy_folder(run / "seed-1" / "best") == run / "seed-1" / "best"
    policy_of("CartPole-v1").save(tmp_path / "learned" / "policy")
    assert policy_folder(tmp_path / "learned") == tmp_path / "learned" / "policy"
    (tmp_path / "many" / "runs").mkdir(parents=True)
    run.rename(tmp_path / "many" / "runs" / "cartpole-nac-published")
    with pytest.raises(
        UserError, match=r"holds many runs; give one of them, such as .*cartpole-nac-published"
    ):
        policy_folder(tmp_path / "many")
