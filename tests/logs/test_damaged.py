"""Whatever happened to a log, it is read with everything in order, or refused in one plain sentence."""

import json

import numpy as np
from hypothesis import HealthCheck, given, settings

from offnac import UserError, read_log
from offnac.evaluation.audit.contents import contents

from .damage import Damaged, damaged_logs


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged=damaged_logs())
def test_a_damaged_log_is_in_order_or_refused(damaged: Damaged, tmp_path):
    path = tmp_path / damaged.name
    path.write_bytes(damaged.content)
    try:
        log = read_log(path)
    except UserError as error:
        sentence = str(error)
        assert sentence and "\n" not in sentence
        return
    rows = log.rows
    for column in (rows.observation, rows.next_observation, rows.reward, rows.behaviour_prob):
        assert np.isfinite(column).all()
    assert rows.observation.shape == rows.next_observation.shape == (len(log), log.spec.observation_size)
    assert ((rows.action >= 0) & (rows.action < log.spec.actions)).all()
    assert ((rows.behaviour_prob > 0) & (rows.behaviour_prob <= 1)).all()
    assert log.episode[0] == 0 and set(np.diff(log.episode)) <= {0, 1}
    last = np.diff(log.episode, append=log.episodes) == 1
    np.testing.assert_array_equal(rows.terminated | rows.truncated, last)
    assert (rows.step >= 0).all() and (np.diff(rows.step)[~last[:-1]] > 0).all()
    json.dumps(contents(log), allow_nan=False)
