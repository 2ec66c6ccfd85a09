"""A film as a file: GIF, or MP4 where ffmpeg is at hand."""

import subprocess
from pathlib import Path

from offnac import extras, files
from offnac.errors import UserError
from offnac.report.animation import LAST, Film

KINDS = (".gif", ".mp4")
LARGEST = 8_000_000
"""Bytes of a GIF at most."""


def require_kind(path: Path) -> None:
    """Before anything is filmed: a name that says what to write, and what is needed to write it."""
    if path.suffix.lower() not in KINDS:
        raise UserError(f"a film is a .gif or an .mp4, but --out is {path}; give a name that ends so")
    if path.suffix.lower() == ".mp4":
        _ffmpeg()


def save(film: Film, path: Path) -> None:
    with files.replacing(path) as temporary:
        if path.suffix.lower() == ".mp4":
            _write_mp4(film, temporary)
        else:
            temporary.write_bytes(film.gif(LARGEST))


def _write_mp4(film: Film, path: Path) -> None:
    width, height = film.pictures[0].size
    even = (width - width % 2, height - height % 2)  # players want them so
    still = round(LAST / film.milliseconds)
    pictures = [picture.crop((0, 0, *even)) for picture in film.pictures]
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "{}x{}".format(*even)]
    given += ["-r", f"{1000 / film.milliseconds:g}", "-i", "-"]
    wanted = ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(path)]
    done = subprocess.run(
        [_ffmpeg(), "-loglevel", "error", *given, *wanted],
        input=b"".join(picture.tobytes() for picture in [*pictures, *pictures[-1:] * still]),
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise UserError(f"ffmpeg could not write the film ({said}); give --out a name that ends in .gif")


def _ffmpeg() -> str:
    """The program's path."""
    module = extras.load("imageio_ffmpeg", "a film as .mp4 (a .gif does not) needs", "video")
    return str(module.get_ffmpeg_exe())
