"""Every preset carries the numbers of the paper's tables and of the published configuration."""

import jax.numpy as jnp
import pytest

from offnac import presets
from offnac.critics import TD, TDLambda
from offnac.directions import Iterative, Vanilla
from offnac.errors import UserError
from offnac.optimisers import SGD, Adam
from offnac.presets import Powers
from offnac.ratios import Kernel, One
from offnac.schedules import Clock, RobbinsMonro
from offnac.transition import Spec

CARTPOLE = Spec("CartPole-v1", 4, 2)
ACROBOT = Spec("Acrobot-v1", 6, 3)
MOUNTAIN_CAR = Spec("MountainCar-v0", 2, 3)
LUNAR_LANDER = Spec("LunarLander-v3", 8, 4)
TASKS = {spec.name: spec for spec in (CARTPOLE, ACROBOT, MOUNTAIN_CAR, LUNAR_LANDER)}
ALGORITHMS = ("ac", "nac", "offac", "offnac")
PRESETS = ("published", "paper", "theory")

# task, algorithm: actor | value | rates of θ | x | ψ | w, ŵ | est; "a>b": the paper's, the published.
TABLE = """
CartPole-v1     ac      16   64,64    1e-3       -          5e-3       -          0
CartPole-v1     nac     16   64,64    1e-3       1e-3       1e-2       -          0
CartPole-v1     offac   16   64,64    5e-4>5e-3  -          1e-2       1e-3       20
CartPole-v1     offnac  16   64,64    5e-4>1e-3  1e-2>1e-3  1e-2       1e-2       20
Acrobot-v1      ac      32   32,32    5e-4       -          1e-3       -          0
Acrobot-v1      nac     32   32,32    1e-4       1e-3       5e-3       -          0
Acrobot-v1      offac   32   32,32    1e-4       -          5e-3       1e-4       10
Acrobot-v1      offnac  32   32,32    5e-5>1e-4  1e-4       5e-3       1e-4       10
MountainCar-v0  ac      32   32,32    1e-3>5e-4  -          5e-3       -          0
MountainCar-v0  nac     32   32,32    1e-5       1e-4>1e-3  5e-3       -          0
MountainCar-v0  offac   32   32,32    1e-4>1e-5  -          5e-3       1e-2>1e-4  20
MountainCar-v0  offnac  32   32,32    1e-6>1e-5  1e-4>1e-3  5e-3>1e-3  1e-2>1e-4  10
LunarLander-v3  ac      16   64,64    1e-3       -          5e-3       -          0
LunarLander-v3  nac     16   64,64    1e-4       1e-3       5e-3       -          0
LunarLander-v3  offac   128  128,128  1e-3       -          1e-2>5e-3  1e-4       10
LunarLander-v3  offnac  128  128,128  1e-5       5e-3>1e-4  1e-2>5e-4  1e-3       20
"""
ROWS = {tuple(line.split()[:2]): line.split()[2:] for line in TABLE.strip().splitlines()}

# Mountain Car with TD(λ): λ, then as above.
LAMBDA_ROWS = {
    "ac": (0.7, 5e-3, None, 5e-2, None, 0),
    "nac": (1.0, 1e-4, 1e-3, 5e-2, None, 0),
    "offac": (0.7, 1e-4, None, 5e-3, 1e-2, 10),
    "offnac": (1.0, 1e-6, 1e-4, 5e-3, 1e-2, 10),
}

# The published drops: (low, high): rates of θ, x, ψ while the best running average is in [low, high).
DROPS = {
    ("CartPole-v1", "ac"): {(400, 500): (1e-6, None, 1e-6)},
    ("CartPole-v1", "nac"): {(499, 500): (1e-5, 1e-5, 1e-5)},
    ("CartPole-v1", "offac"): {(450, 500): (1e-6, None, 1e-6)},
    ("CartPole-v1", "offnac"): {(499, 500): (1e-6, 1e-6, 1e-6)},
    ("MountainCar-v0", "offac"): {(-200, -100): (1e-7, None, 1e-7)},
    ("MountainCar-v0", "offnac"): {(-200, -100): (1e-8, 1e-7, 1e-7)},
    ("LunarLander-v3", "ac"): {(180, 200): (1e-4, None, 5e-4), (200, 220): (1e-5, None, 5e-5)},
    ("LunarLander-v3", "nac"): {(180, 220): (1e-6, 1e-6, 1e-6)},
    ("LunarLander-v3", "offac"): {(-10, 0): (1e-4, None, 5e-4), (30, 100): (1e-6, None, 5e-2)},
    ("LunarLander-v3", "offnac"): {(0, 220): (1e-6, 1e-5, 5e-5)},
}
# Averages at which no published rate has dropped, below and above every band of the task.
OUTSIDE = {
    "CartPole-v1": (0.0, 399.9, 500.0),
    "Acrobot-v1": (-500.0, -100.0, -60.0),
    "MountainCar-v0": (-10_000.0, -200.1, -100.0),
    "LunarLander-v3": (-600.0, -10.1, 220.0),
}


def expected(task, algorithm, preset):
    """(actor, value, rates of θ, x, ψ and the ratios, est) of a row of the table."""
    actor, value, *rates, est = ROWS[task, algorithm]
    chosen = [rate.split(">")[-1 if preset == "published" else 0] for rate in rates]
    numbers = [None if rate == "-" else float(rate) for rate in chosen]
    return tuple(map(int, actor.split(","))), tuple(map(int, value.split(","))), *numbers, int(est)


def rates(experiment, best=-jnp.inf):
    """Rates of θ, x and ψ when the best running average is ``best``."""
    clock = Clock(jnp.float32(0.0), jnp.float32(best))
    algorithm = experiment.algorithm
    critic = algorithm.critic.td if isinstance(algorithm.critic, TDLambda) else algorithm.critic
    natural = isinstance(algorithm.direction, Iterative)
    schedules = (
        algorithm.step.optimiser.rate,
        algorithm.direction.optimiser.rate if natural else None,
        critic.optimiser.rate,
    )
    return tuple(schedule and float(schedule(clock)) for schedule in schedules)


@pytest.mark.parametrize("preset", ["paper", "published"])
@pytest.mark.parametrize(("task", "algorithm"), list(ROWS))
def test_settings_are_those_of_the_table(task, algorithm, preset):
    experiment = presets.experiment(preset, algorithm, TASKS[task])
    spec, learner = TASKS[task], experiment.algorithm
    actor, value, *wanted, ratio_rate, est = expected(task, algorithm, preset)

    network = learner.policy.network
    assert (network.inputs, network.hidden, network.outputs) == (spec.observation_size, actor, spec.actions)
    assert (network.activation, network.bias) == ("tanh", False)
    network = learner.critic.network
    assert (network.inputs, network.hidden, network.outputs) == (spec.observation_size, value, 1)
    assert (network.activation, network.bias) == ("relu", True)

    assert rates(experiment) == pytest.approx(tuple(wanted))
    assert learner.gamma == 0.99
    assert experiment.protocol.ratio_steps == est
    assert experiment.episodes == (500 if task == "Acrobot-v1" and algorithm.startswith("off") else 1000)
    assert presets.max_steps(task) == (10_000 if task == "MountainCar-v0" else None)

    assert isinstance(learner.critic.optimiser, Adam)
    plain_steps = task == "MountainCar-v0"
    assert isinstance(learner.step.optimiser, SGD if plain_steps else Adam)
    if algorithm.endswith("nac"):
        assert isinstance(learner.direction.optimiser, SGD if plain_steps else Adam)
    for ratio in (learner.ratios.w_hat, learner.ratios.w):
        if ratio_rate is None:
            assert isinstance(ratio, One)
        else:
            assert isinstance(ratio.optimiser, Adam)
            assert (ratio.hidden, ratio.optimiser.rate.rate) == ((16,), ratio_rate)


@pytest.mark.parametrize("preset", ["paper", "published"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_mountain_car_with_lambda_has_rows_of_its_own(preset, algorithm):
    lam, *wanted, ratio_rate, est = LAMBDA_ROWS[algorithm]
    experiment = presets.experiment(preset, algorithm, MOUNTAIN_CAR, lam=lam)
    assert rates(experiment) == pytest.approx(tuple(wanted))
    assert experiment.protocol.ratio_steps == est
    if ratio_rate is not None:
        assert experiment.algorithm.ratios.w.optimiser.rate.rate == ratio_rate


@pytest.mark.parametrize(("task", "algorithm"), list(ROWS))
def test_published_rates_drop_in_their_bands_and_only_there(task, algorithm):
    experiment = presets.experiment("published", algorithm, TASKS[task])
    usual = rates(experiment)
    for best in OUTSIDE[task]:
        assert rates(experiment, best) == usual
    for (low, high), dropped in DROPS.get((task, algorithm), {}).items():
        assert rates(experiment, low) == pytest.approx(dropped)
        assert rates(experiment, (low + high) / 2) == pytest.approx(dropped)
        assert rates(experiment, high - 1e-3) == pytest.approx(dropped)


@pytest.mark.parametrize("preset", ["paper", "theory"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_only_published_rates_drop(preset, algorithm):
    experiment = presets.experiment(preset, algorithm, CARTPOLE)
    assert rates(experiment, 499.5) == rates(experiment)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_differ_by_ratios_and_direction(preset, algorithm):
    experiment = presets.experiment(preset, algorithm, CARTPOLE)
    off_policy, natural = algorithm.startswith("off"), algorithm.endswith("nac")
    learner = experiment.algorithm
    assert experiment.protocol.off_policy == off_policy
    assert isinstance(learner.direction, Iterative if natural else Vanilla)
    for ratio in (learner.ratios.w_hat, learner.ratios.w):
        assert isinstance(ratio, Kernel if off_policy else One)
    if off_policy:
        assert learner.ratios.w_hat.form == "stationary"
        assert learner.ratios.w.form == ("direct" if preset == "theory" else "discounted")


@pytest.mark.parametrize(
    ("preset", "newest", "terminal", "random_start"),
    [("published", 0.1, True, True), ("paper", 0.9, False, False), ("theory", 0.1, False, False)],
)
def test_the_published_oddities_stay_with_the_published_preset(preset, newest, terminal, random_start):
    experiment = presets.experiment(preset, "offnac", CARTPOLE)
    assert experiment.protocol.newest == newest
    assert experiment.protocol.time_limit_terminal == terminal
    assert experiment.algorithm.direction.random_start == random_start
    for ratio in (experiment.algorithm.ratios.w_hat, experiment.algorithm.ratios.w):
        assert ratio.normalise != terminal
        assert ratio.links == ("raw" if terminal else "restart")


@pytest.mark.parametrize("preset", PRESETS)
def test_lambda_0_is_exactly_td_with_no_trace(preset):
    for algorithm in ALGORITHMS:
        assert type(presets.experiment(preset, algorithm, CARTPOLE, lam=0.0).algorithm.critic) is TD


@pytest.mark.parametrize(
    ("preset", "trace"), [("published", "printed"), ("paper", "corrected"), ("theory", "corrected")]
)
def test_lambda_above_0_traces(preset, trace):
    plain = presets.experiment(preset, "offac", CARTPOLE).algorithm.critic
    critic = presets.experiment(preset, "offac", CARTPOLE, lam=0.7).algorithm.critic
    assert type(critic) is TDLambda
    assert (critic.lam, critic.trace, critic.td) == (0.7, trace, plain)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_theory_takes_plain_steps_on_two_timescales(algorithm):
    learner = presets.experiment("theory", algorithm, CARTPOLE).algorithm
    fast = [learner.critic.optimiser]
    if algorithm.endswith("nac"):
        fast.append(learner.direction.optimiser)
    if algorithm.startswith("off"):
        fast += [learner.ratios.w_hat.optimiser, learner.ratios.w.optimiser]
    slow = learner.step.optimiser
    for optimiser in (*fast, slow):
        assert isinstance(optimiser, SGD)
        assert isinstance(optimiser.rate, RobbinsMonro)
        assert 0.5 < optimiser.rate.power <= 1.0
    assert all(slow.rate.power > optimiser.rate.power for optimiser in fast)


@pytest.mark.parametrize(
    "powers",
    [Powers(0.9, 0.6), Powers(0.8, 0.8), Powers(0.5, 0.9), Powers(0.6, 1.1), Powers(float("nan"), 0.9)],
)
def test_theory_refuses_what_is_not_two_timescales(powers):
    for algorithm in ALGORITHMS:
        with pytest.raises(UserError, match="theory preset needs"):
            presets.experiment("theory", algorithm, CARTPOLE, powers=powers)


@pytest.mark.parametrize(
    ("preset", "algorithm", "message"),
    [
        ("publishd", "ac", "preset 'publishd' is not known; did you mean 'published'?"),
        ("papier", "ac", "did you mean 'paper'?"),
        ("xyz", "ac", "choose one of robust, published, shaped, paper, theory"),
        ("paper", "offnacc", "algorithm 'offnacc' is not known; did you mean 'offnac'?"),
        ("paper", "ppo", "choose one of ac, nac, offac, offnac"),
    ],
)
def test_unknown_names_get_advice(preset, algorithm, message):
    with pytest.raises(UserError) as error:
        presets.experiment(preset, algorithm, CARTPOLE)
    assert message in str(error.value)


@pytest.mark.parametrize("preset", ["published", "paper"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_task_gets_the_cartpole_settings_of_its_preset_without_drops(algorithm, preset):
    other = presets.experiment(preset, algorithm, Spec("Taxi-v3", 500, 6))
    cartpole = presets.experiment(preset, algorithm, CARTPOLE)
    assert rates(other) == rates(other, 499.5)
    wanted = [rate and pytest.approx(rate) for rate in rates(cartpole)]
    assert list(rates(other)) == wanted
    assert other.algorithm.policy.network.inputs == 500
    assert other.algorithm.policy.network.outputs == 6
    assert other.episodes == 1000
    assert presets.max_steps("Taxi-v3") is None


@pytest.mark.parametrize(
    ("preset", "algorithm", "rate"),
    [
        ("published", "ac", "x_rate"),
        ("published", "nac", "ratio_rate"),
        ("paper", "offac", "x_rate"),
        ("robust", "offnac", "x_rate"),
        ("robust", "offnac", "ratio_rate"),
    ],
)
def test_a_rate_without_a_meaning_is_refused(preset, algorithm, rate):
    with pytest.raises(UserError, match=f"--{rate.replace('_', '-')} has no meaning"):
        presets.experiment(preset, algorithm, CARTPOLE, **{rate: 0.1})


def test_single_numbers_can_be_changed():
    experiment = presets.experiment(
        *("published", "offnac", CARTPOLE),
        gamma=0.9,
        episodes=7,
        actor_rate=0.1,
        x_rate=0.2,
        value_rate=0.3,
        ratio_rate=0.4,
        newest=0.5,
    )
    assert rates(experiment) == pytest.approx((0.1, 0.2, 0.3))
    assert experiment.algorithm.ratios.w.optimiser.rate.rate == 0.4
    assert (experiment.algorithm.gamma, experiment.episodes, experiment.protocol.newest) == (0.9, 7, 0.5)
