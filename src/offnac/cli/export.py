"""offnac export: a policy for programs that have neither offnac nor JAX."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "export",
        run,
        "write a policy as an ONNX file, checked against the original on 1000 observations",
        "offnac export out/cartpole-nac/seed-0/best --out policy.onnx",
    )
    parser.add_argument("policy", metavar="POLICY", help="a policy folder")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the .onnx file to write")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import console
    from offnac.onnx_export import export

    result = export(arguments.policy, arguments.out)
    if not arguments.json:
        console.show_export(result)
    return result
