"""What is an existing policy worth, by somebody else's log alone? And is that so?

python examples/evaluate_off_policy.py
"""

from pathlib import Path
from typing import Any

import jax.numpy as jnp

import offnac
from offnac.networks import MLP


def guideline() -> offnac.Policy:
    """A policy that exists already: linear scores of CartPole's four observations, softmax over two actions.
    Most of the time it pushes towards the side to which the pole leans and falls."""
    towards = jnp.array([0.0, 0.0, 4.0, 1.0])
    theta = jnp.stack([-towards, towards]).ravel()
    return offnac.Policy(MLP(4, (), 2, bias=False), theta, offnac.Spec("CartPole-v1", 4, 2))


def main(out: Path = Path("out/example-ope"), steps: int = 4000) -> dict[str, Any]:
    policy = guideline()
    offnac.collect("CartPole-v1", steps=steps, out=out / "uniform.parquet")
    found = offnac.ope(policy, out / "uniform.parquet", max_steps=100)
    for name, each in found["estimators"].items():
        mark = "  <- recommended" if name == found["recommended"] else ""
        print(f"{name:>22} {each['value']:8.2f} [{each['low']:.2f}, {each['high']:.2f}]{mark}")
    print(f"because {found['reason']}")
    print(f"the behaviour itself: {found['behaviour']['value']:.2f}")
    truth = offnac.evaluate(policy, "CartPole-v1", episodes=200, max_steps=100)["mean"]
    print(f"undiscounted, over 100 steps at most, rollouts say {truth:.1f}")
    return {"found": found, "truth": truth}


if __name__ == "__main__":
    main()
