"""The vanilla policy gradient E[wρ δ φ] (errata row 16): Deep AC and Deep OffAC."""

from jaxtyping import Array, Float, PRNGKeyArray

from offnac import compatible
from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
from offnac.settings import settings
from offnac.transition import Transition


@settings
class Vanilla:
    def init(self, key: PRNGKeyArray, theta: Parameters) -> tuple[()]:
        return ()

    def update(
        self,
        state: tuple[()],
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
        clock: Clock,
    ) -> tuple[tuple[()], Parameters]:
        return state, compatible.combine(policy, theta, batch, omega * delta / delta.shape[0])
