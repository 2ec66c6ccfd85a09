"""Ctrl-C: the work is asked to stop, everything is saved, and the answer is the command to go on with."""

import os
import signal

import pytest

from offnac import cli
from offnac.errors import Stopped

RUNS = {
    "train": ("offnac.api.train", ["train", "CartPole-v1", "--out", "a b"]),
    "learn": ("offnac.learning.learn", ["learn", "log.parquet", "--out", "out"]),
    "reproduce": ("offnac.experiments.reproduce.reproduce", ["reproduce", "--resume", "--out", "out"]),
}
AGAIN = {
    "train": "offnac train CartPole-v1 --out 'a b' --resume",
    "learn": "offnac learn log.parquet --out out --resume",
    "reproduce": "offnac reproduce --resume --out out",
}


@pytest.mark.parametrize("command", RUNS)
def test_ctrl_c_says_how_to_go_on(command, monkeypatch, capsys):
    def work(*_, stop, **__):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(10)
        raise Stopped

    place, arguments = RUNS[command]
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(place, work)
    assert cli.main(arguments) == 130
    answer = capsys.readouterr()
    said = f"offnac: stopped, and everything is saved; go on with: {AGAIN[command]}\n"
    assert (answer.out, answer.err) == ("", said)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_elsewhere_is_no_traceback(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("offnac.api.evaluate", interrupted)
    assert cli.main(["evaluate", "POLICY", "CartPole-v1"]) == 130
    assert capsys.readouterr().err == "offnac: stopped\n"
