"""A folder is one process's at a time."""

from offnac.claims import claim, is_free


def test_a_folder_that_is_taken_is_taken_once(tmp_path):
    folder = tmp_path / "seed-0"
    with claim(folder) as first, claim(folder) as second, claim(tmp_path / "seed-1") as other:
        assert (first, second, other) == (True, False, True)
    with claim(folder) as again:
        assert again


def test_to_ask_whether_a_folder_is_free_makes_none(tmp_path):
    folder = tmp_path / "seed-0"
    assert is_free(folder) and not folder.exists()
    with claim(folder):
        assert not is_free(folder)
    assert is_free(folder)
