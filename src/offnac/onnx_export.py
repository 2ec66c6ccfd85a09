"""A policy as an ONNX file, for programs that have neither offnac nor JAX.

Its input is ``observation`` [n, d], as the task gives it; its outputs are ``probabilities`` [n, a] and
``action`` [n], the most probable one. Observation normalisation and softmax are in the graph.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac import extras, files
from offnac.api import open_policy
from offnac.errors import UserError
from offnac.networks import MLP, module_of
from offnac.provenance import versions
from offnac.saved_policy import Policy

OPSET = 17
"""Of 2022: what runs the file need not be new."""
CHECKED = 1000
"""Observations that the file must agree with the policy on."""
TOLERANCE = 1e-3
"""By which their probabilities may differ: single precision, added up in another order."""

ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu"}
OUTPUTS = {"linear": (), "exp": ("Clip", "Exp"), "softplus": ("Softplus",)}
"""ONNX's names for what networks.py names; Clip is that of ``exp``."""


def export(policy: Policy | Path | str, out: Path | str) -> dict[str, Any]:
    """Write a policy as ONNX, once it is checked to act as the policy does on 1000 observations."""
    onnx, out = extras.load("onnx", "writing ONNX needs", "onnx"), Path(out)
    if out.suffix != ".onnx":
        raise UserError(f"the file to write should be called such as policy.onnx, but --out is {out}")
    files.require_absent(out)
    loaded = policy if isinstance(policy, Policy) else open_policy(policy)
    model = _model(onnx, loaded)
    difference = _difference(model, loaded)
    # Where a probability is not a number the comparison must fail too.
    if not difference <= TOLERANCE:
        raise RuntimeError(f"the exported policy is another one: probabilities differ by {difference}")
    with files.replacing(out) as temporary:
        temporary.write_bytes(model.SerializeToString())
    return {
        "onnx": str(out),
        "environment": loaded.spec.name,
        "observation_size": loaded.spec.observation_size,
        "actions": loaded.spec.actions,
        "bytes": out.stat().st_size,
        "checked_on": CHECKED,
        "largest_difference": difference,
    }


def _model(onnx: Any, policy: Policy) -> Any:
    if not isinstance(policy.network, MLP):
        raise UserError(
            f"only policies with an MLP can be exported, but this one has a {type(policy.network).__name__}"
        )
    if policy.network.activation not in ACTIVATIONS:
        raise UserError(
            f"only policies with {' or '.join(ACTIVATIONS)} can be exported, "
            f"but this one has {policy.network.activation}"
        )
    helper, FLOAT, spec = onnx.helper, onnx.TensorProto.FLOAT, policy.spec
    graph = _Graph(onnx)
    if policy.mean is not None and policy.scale is not None:
        graph.add("Sub", np.asarray(policy.mean))
        graph.add("Div", np.asarray(policy.scale))
    linear = [layer for layer in module_of(policy.network, policy.theta).layers if hasattr(layer, "weight")]
    for number, layer in enumerate(linear):
        bias = () if layer.bias is None else (np.asarray(layer.bias),)
        graph.add("Gemm", np.asarray(layer.weight), *bias, transB=1)
        if number < len(linear) - 1:
            graph.add(ACTIVATIONS[policy.network.activation])
    for name in OUTPUTS[policy.network.output]:
        graph.add(name, *((np.float32(-15.0), np.float32(15.0)) if name == "Clip" else ()))
    graph.add("Softmax", axis=1, output="probabilities")
    graph.add("ArgMax", axis=1, keepdims=0, output="action")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "policy",
            [helper.make_tensor_value_info("observation", FLOAT, ["n", spec.observation_size])],
            [
                helper.make_tensor_value_info("probabilities", FLOAT, ["n", spec.actions]),
                helper.make_tensor_value_info("action", onnx.TensorProto.INT64, ["n"]),
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
        producer_name="offnac",
        producer_version=versions().get("offnac", ""),
    )
    helper.set_model_props(model, {"environment": spec.name})
    onnx.checker.check_model(model, full_check=True)
    return model


class _Graph:
    """Nodes one after the other, each fed by the one before."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.last = "observation"

    def add(self, operation: str, *constants: Any, output: str | None = None, **attributes: int) -> None:
        output = output or f"{operation.lower()}_{len(self.nodes)}"
        names = [f"{output}_{place}" for place in range(len(constants))]
        self.constants += [
            self.onnx.numpy_helper.from_array(np.asarray(value, np.float32), name)
            for name, value in zip(names, constants, strict=True)
        ]
        node = self.onnx.helper.make_node(operation, [self.last, *names], [output], **attributes)
        self.nodes.append(node)
        self.last = output


def _difference(model: Any, policy: Policy) -> float:
    """The largest difference of a probability, by ONNX's own reference implementation."""
    from onnx.reference import ReferenceEvaluator

    rows = observations(policy, CHECKED)
    came: Any = ReferenceEvaluator(model).run(["probabilities"], {"observation": rows})
    return float(np.abs(came[0] - policy.probabilities(rows)).max())


def observations(policy: Policy, count: int) -> NDArray[np.float32]:
    """Some that the policy's normalisation expects, and some far from it."""
    rng = np.random.default_rng(0)
    spread = np.geomspace(0.1, 10.0, count)[:, None]
    rows = spread * rng.normal(size=(count, policy.spec.observation_size))
    if policy.mean is not None and policy.scale is not None:
        rows = rows * np.asarray(policy.scale) + np.asarray(policy.mean)
    return rows.astype(np.float32)
