"""A program that is asked many times."""

from __future__ import annotations

import sys

import pytest

from tcsmt.support.conversation import Conversation, ConversationEnded, ended
from tcsmt.support.errors import TcsmtError

ECHO = """
import sys
while data := sys.stdin.buffer.read1(1 << 16):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
"""


def test_large_answers_come_while_more_is_given() -> None:
    """More than any pipe holds, in both directions at once."""
    talk = Conversation("echo", [sys.executable, "-c", ECHO])
    given = bytes(range(256)) * 20_000
    assert talk.exchange(given, len(given), 20) == given
    assert talk.exchange(b"more", 4, 20) == b"more"
    talk.close()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys; sys.exit('broken | twice')", "it ended with 1: broken | twice"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
        (
            "import sys; sys.stdout.write('x' * 101); sys.stdout.flush(); input()",
            "it wrote 101 bytes, where 4 were expected",
        ),
    ],
)
def test_ended_conversations_say_why(body: str, said: str) -> None:
    talk = Conversation("box", [sys.executable, "-c", body])
    with pytest.raises(ConversationEnded) as caught:
        talk.exchange(b"", 4, 0.5 if "sleep" in body else 20)
    assert str(caught.value) == f"box: {said}"
    talk.close()


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(TcsmtError, match="box: No such file"):
        Conversation("box", ["/nowhere/program"])


def test_how_a_process_ended() -> None:
    assert [ended(code) for code in (0, 7, -9, -11, -250)] == [
        "exit code 0", "exit code 7", "SIGKILL", "SIGSEGV", "signal 250",
    ]  # fmt: skip
