"""Writing so that nothing is ever half-written: to a temporary name, then rename."""

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from offnac.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path``, a file or a folder, that takes its place if all goes well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield temporary
        if temporary.is_dir() and path.is_dir():
            _replace_folder(temporary, path)
        else:
            os.replace(temporary, path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)


def _replace_folder(new: Path, path: Path) -> None:
    """No system call puts a folder in the place of a full one, so there is a moment without either; but
    what was there is removed only once the new one stands, and comes back if that fails."""
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    os.replace(path, old)
    try:
        os.replace(new, path)
    except BaseException:
        os.replace(old, path)
        raise
    shutil.rmtree(old)


def write_json(path: Path, value: Any) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError as error:
        raise UserError(f"{path} is not there; check the path") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UserError(
            f"{path} should be JSON, but it does not parse ({error}); it may be damaged"
        ) from error


def require_absent(path: Path) -> None:
    """Refuse to write over what is there."""
    if path.exists():
        raise UserError(f"{path} exists already; choose another --out, or remove it first")


def advice(error: OSError) -> str | None:
    """What a person can do about a file system's refusal; None where only a programmer can."""
    where = f" at {error.filename}" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full{where}; free some space and run it again (a training run: with --resume)"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"there is no permission to write or read{where}; choose another place"
    if error.errno in (errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EEXIST, errno.ENAMETOOLONG):
        return f"{os.strerror(error.errno).lower()}{where}; check the path"
    return None
