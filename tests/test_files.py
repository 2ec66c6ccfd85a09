"""What is written is there whole, or what was there before is."""

import os

import pytest

from offnac import files


def write(path, text):
    with files.replacing(path) as temporary:
        temporary.mkdir()
        (temporary / "inside").write_text(text)


def test_a_folder_takes_the_place_of_another(tmp_path):
    for text in ("old", "new"):
        write(tmp_path / "folder", text)
    assert (tmp_path / "folder" / "inside").read_text() == "new"
    assert os.listdir(tmp_path) == ["folder"]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    write(tmp_path / "folder", "old")
    replace = os.replace

    def refuse(source, target):
        if str(source).endswith(".partial"):
            raise OSError("refused")
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(OSError, match="refused"):
        write(tmp_path / "folder", "new")
    assert (tmp_path / "folder" / "inside").read_text() == "old"
    assert os.listdir(tmp_path) == ["folder"]
