"""The other side of peers.py, in the peers' environment: requests and answers are lines of JSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import torch

torch.set_num_threads(1)

clock = time.process_time if os.environ.get("OFFNAC_BENCH_CLOCK") == "cpu" else time.perf_counter
"""The same as harness.clock."""


def answer(jobs: Mapping[str, Callable[..., Any]], packages: tuple[str, ...]) -> None:
    """Answer until nobody asks any more. What the libraries print themselves goes to standard error."""
    replies, sys.stdout = sys.stdout, sys.stderr
    told = {**jobs, "versions": lambda: {name: version(name) for name in (*packages, "torch")}}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(told[request.pop("job")](**request)), file=replies, flush=True)
