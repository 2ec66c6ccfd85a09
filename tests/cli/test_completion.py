"""What a shell is told."""

import shutil
import subprocess

import pytest

from offnac import cli
from offnac.cli import completion

PARSERS = cli.parser()._subparsers._group_actions[0].choices
TASKS = ["Acrobot-v1", "CartPole-v1"]


def complete(*words):
    """What bash offers for the last word."""
    script = completion._script("bash", PARSERS, TASKS)
    call = " ".join(f"'{word}'" for word in ("offnac", *words))
    asked = f'{script}\nCOMP_WORDS=({call}); COMP_CWORD={len(words)}; _offnac; echo "${{COMPREPLY[@]}}"'
    answer = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, cwd="/dev/fd")
    return answer.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["tra"], ["train"]),
        (["re"], ["report", "reproduce"]),
        (["train", "Cart"], ["CartPole-v1"]),
        (["watch", "POLICY", "Acr"], ["Acrobot-v1"]),
        (["train", "--see"], ["--seeds"]),
        (["train", "--algorithm", "off"], ["offac", "offnac"]),
        (["train", "--preset", "r"], ["robust"]),
        (["collect", "--behaviour", "u"], ["uniform"]),
        (["completion", "z"], ["zsh"]),
    ],
)
def test_bash_completes(words, offered):
    assert complete(*words) == offered


def test_zsh_uses_the_same_and_fish_knows_every_option():
    bash, zsh, fish = (completion._script(shell, PARSERS, TASKS) for shell in completion.SHELLS)
    assert zsh.endswith(bash) and "bashcompinit" in zsh
    for name, parser in PARSERS.items():
        assert f"-a {name} -d " in fish
        for option in completion._options(parser):
            assert f"'__fish_seen_subcommand_from {name}' -l {option.name[2:]}" in fish
    assert "-l algorithm -r -a 'ac nac offac offnac' -d" in fish


def test_the_command_prints_nothing_but_the_script(capsys):
    assert cli.main(["completion", "bash"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("_offnac() {") and printed.err == ""
    assert "LunarLander-v3" in printed.out
