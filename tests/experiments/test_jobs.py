"""What is done, in which order, on how many cores, and what is told of it."""

import time
from collections import Counter
from threading import Event, Lock

import pytest
from rich.console import Console

from offnac import console
from offnac.errors import UserError
from offnac.experiments import pool
from offnac.experiments.cells import CELLS, select_cells
from offnac.experiments.jobs import Job, Settings, at_once_on_gpu, cores_of_each, plan
from offnac.experiments.pool import News, _Board


def test_the_longest_jobs_come_first():
    jobs = plan(CELLS, ["published", "paper"], Settings())
    assert len(jobs) == len({job.name for job in jobs}) == 40
    costs = [job.cost for job in jobs]
    assert costs == sorted(costs, reverse=True)
    assert jobs[0].cell.environment == "MountainCar-v0"
    assert jobs[-1].cell.environment in ("CartPole-v1", "Acrobot-v1")


def test_a_job_knows_its_budget():
    episodes = {
        name: Job(select_cells([name])[0], "published", Settings(seeds=3)).episodes
        for name in ("cartpole-offnac", "acrobot-nac", "acrobot-offnac")
    }
    assert episodes == {"cartpole-offnac": 3000, "acrobot-nac": 3000, "acrobot-offnac": 1500}
    assert Job(CELLS[0], "published", Settings(seeds=3, episodes=7)).episodes == 21


def test_cores_are_shared_out():
    assert cores_of_each(2, 40) == (2, 1)
    assert cores_of_each(16, 3) == (3, 5)
    assert cores_of_each(4, 1) == (1, 4)
    assert cores_of_each(4, 0) == (1, 4)
    with pytest.raises(UserError, match="at least one core"):
        cores_of_each(0, 1)


@pytest.mark.parametrize(
    ("cells", "seeds", "at_once", "expected"),
    [
        ("*", 64, 16, 6),
        ("*", 16, 16, 6),
        ("*", 128, 16, 3),
        ("*", 1000, 16, 1),
        ("*", 64, 2, 2),
        ("cartpole-ac", 64, 16, 1),
        ("lunarlander", 64, 16, 0),
    ],
)
def test_a_gpu_is_shared_by_no_more_jobs_than_its_memory_holds(cells, seeds, at_once, expected):
    jobs = plan(select_cells([cells]), ["published"], Settings(seeds=seeds))
    assert at_once_on_gpu(jobs, at_once) == expected


def test_jobs_on_a_gpu_wait_for_each_other_and_those_on_cores_do_not_wait_for_them(monkeypatch, tmp_path):
    """16 jobs of the GPU at once exhausted it."""
    jobs = plan(select_cells(["*"]), ["published"], Settings(seeds=64))
    lock, at_work, most = Lock(), Counter(), Counter()

    def do(job, *_):
        with lock:
            at_work[job.native] += 1
            most[job.native] = max(most[job.native], at_work[job.native])
        time.sleep(0.005)
        with lock:
            at_work[job.native] -= 1
        return pool.Outcome(job, False, 0.0)

    monkeypatch.setattr(pool, "_do", do)
    ended = []
    pool.run(jobs, tmp_path, workers=16, gpu=True, stop=Event(), ended=ended.append)
    assert {outcome.job for outcome in ended} == set(jobs)
    assert most[True] == 6
    assert 1 <= most[False] <= 10


def test_the_share_of_the_work_weighs_jobs_by_their_cost():
    long, short = plan(select_cells(["cartpole-ac", "mountaincar-offac"]), ["published"], Settings(seeds=2))
    assert long.cell.name == "mountaincar-offac"
    told = []
    board = _Board([long, short], finished=3, report=told.append)
    board.begin(short)
    for episodes in (400, 1000):
        for seed in (1000, 1001):
            board.update(short, seed, episodes)
    board.end(short, complete=True)
    assert told[0] == News(3, 5, 0.0, 0.0, (short.name,))
    assert told[-1].finished == 4
    assert told[-1].running == ()
    share = short.cost / (short.cost + long.cost)
    assert told[-1].share == pytest.approx(share)
    assert told[-1].new == pytest.approx(0.6 * share), "what a seed begins with is from an earlier attempt"
    board.update(long, 1000, 1000)
    board.update(long, 1001, 1000)
    assert told[-1].share == pytest.approx(1.0)
    assert told[-1].new == pytest.approx(0.6 * share)


def test_progress_tells_the_time_left_from_what_this_attempt_did(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console.screen, "ERR", Console(stderr=True, force_terminal=True, width=200))
    clock = iter([100.0, 110.0])
    monkeypatch.setattr(console.progress.time, "perf_counter", lambda: next(clock))
    with console.reproducing(quiet=False) as (report, _):
        report(News(3, 5, 0.5, 0.0, ("cartpole-ac-published",)))
        report(News(3, 5, 0.6, 0.1, ("cartpole-ac-published",)))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "3/5 runs" in shown.err
    assert "time left 0:00:40" in shown.err
    assert "cartpole-ac-published" in shown.err


def test_quiet_is_quiet(capsys):
    with console.reproducing(quiet=True) as (report, _):
        report(News(0, 1, 0.5, 0.5, ("cartpole-ac-published",)))
    assert capsys.readouterr() == ("", "")
