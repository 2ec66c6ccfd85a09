"""offnac report: what a command left behind, as a web page."""

import argparse
from contextlib import suppress
from pathlib import Path
from typing import Any

from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "report",
        run,
        "show a folder of train, learn or reproduce as one web page",
        "offnac report out/cartpole-nac",
    )
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="what --out of train, learn or reproduce was"
    )
    parser.add_argument(
        "--out", type=Path, metavar="PAGE", help="the file to write (default: DIR/report.html)"
    )
    parser.add_argument(
        "--environment",
        metavar="ENV",
        help="of learn: a simulator to hold the policy against (default: that of the log, if it is known)",
    )
    live = parser.add_argument_group("work that is running")
    live.add_argument(
        "--live", action="store_true", help="serve the page on this machine and refresh it, until Ctrl-C"
    )
    live.add_argument(
        "--port", type=int, metavar="N", help="of the server (default 8765; 0: any that is free)"
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import console
    from offnac.errors import UserError
    from offnac.report.folder import write_report

    if arguments.live:
        return _serve(arguments)
    if arguments.port is not None:
        raise UserError("--port is of a page that is served; give --live as well, or leave it out")
    with console.waiting("writing the page", arguments.quiet):
        result = write_report(arguments.folder, out=arguments.out, environment=arguments.environment)
    if not arguments.json:
        console.show_report(result)
    return result


def _serve(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import console
    from offnac.errors import UserError
    from offnac.report import live
    from offnac.report.folder import of

    if arguments.out is not None:
        raise UserError("a page that is served is not written; leave out --out, or --live")
    kind, document = of(arguments.folder, arguments.environment)
    port = live.PORT if arguments.port is None else arguments.port
    with live.server(arguments.folder, document, port) as server:
        address = f"http://{live.HOST}:{server.server_port}/"
        console.tell(f"{arguments.folder} is at {address}; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return {"kind": kind, "address": address}
