"""Random numbers by hashing what they are for: (seed, episode, purpose, counter).

A counter needs no state, so a run that is stopped between two episodes goes on with the same numbers. One
hash is six operations, where the generator of :mod:`jax.random` takes hundreds: too many for each step of a
kernel.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

Word = UInt32[Array, ""]

GOLDEN = np.uint32(0x9E3779B9)
PURPOSE = 0x85EBCA6B


class Words(NamedTuple):
    """A seed's key."""

    high: Word
    low: Word


def words(key: PRNGKeyArray) -> Words:
    data = jax.random.key_data(key)
    return Words(data[0], data[1])


def mix(word: Word) -> Word:
    """A bijection of 32 bits in which every bit of the input changes every bit of the output."""
    word = (word ^ (word >> np.uint32(16))) * np.uint32(0x7FEB352D)
    word = (word ^ (word >> np.uint32(15))) * np.uint32(0x846CA68B)
    return word ^ (word >> np.uint32(16))


def stream(key: Words, episode: Int[Array, ""], purpose: int) -> Word:
    """Where the numbers of an episode's purpose begin."""
    begin = mix(key.high ^ (episode.astype(jnp.uint32) * GOLDEN))
    return mix(begin ^ (key.low + np.uint32(purpose * PURPOSE % 2**32)))


def uniform(stream: Word, counter: Int[Array, ""] | int) -> Float[Array, ""]:
    """In [0, 1), on a grid of 2⁻²⁴."""
    word = mix(stream + jnp.uint32(counter) * GOLDEN)
    return (word >> np.uint32(8)).astype(jnp.int32).astype(jnp.float32) * np.float32(2.0**-24)
