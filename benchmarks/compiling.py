"""Run an offnac command and say, on the last line of standard error, how many programs it compiled.

python benchmarks/compiling.py train CartPole-v1 --out out/x
"""

import json
import sys
from collections import Counter

from offnac import compile_cache
from offnac.cli import main

REQUESTS, HITS = (f"/jax/compilation_cache/{name}" for name in ("compile_requests_use_cache", "cache_hits"))
SPENT, FETCHED = (
    "/jax/core/compile/backend_compile_duration",
    "/jax/compilation_cache/cache_retrieval_time_sec",
)


def watch(words: list[str]) -> int:
    compile_cache.enable()
    from jax import monitoring

    events: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    monitoring.register_event_listener(lambda name, **_: events.update([name]))
    monitoring.register_event_duration_secs_listener(lambda name, took, **_: seconds.update({name: took}))
    status = main(words)
    told = {
        "programs": events[REQUESTS],
        "compiled": events[REQUESTS] - events[HITS],
        "compile_seconds": max(0.0, seconds[SPENT] - seconds[FETCHED])
        if events[REQUESTS] > events[HITS]
        else 0.0,
        "fetch_seconds": seconds[FETCHED],
    }
    print(json.dumps(told), file=sys.stderr)
    return status


if __name__ == "__main__":
    raise SystemExit(watch(sys.argv[1:]))
