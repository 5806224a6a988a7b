"""Lines typed at a terminal, with editing, a memory of earlier ones, and completion."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.output import create_output
from prompt_toolkit.shortcuts import CompleteStyle

__all__ = ["LineEditor"]


class _Found(Protocol):
    @property
    def text(self) -> str: ...

    @property
    def replaces(self) -> int: ...


Complete = Callable[[str], Sequence[_Found]]


class LineEditor:
    """Reads from the terminal, and echoes on the one of stderr."""

    def __init__(self) -> None:
        self._session: PromptSession[str] = PromptSession(
            output=create_output(stdout=sys.stderr),
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
        )

    def read(self, prompt: str, *, complete: Complete) -> str:
        """A line. KeyboardInterrupt after Ctrl-C, EOFError after Ctrl-D in an empty line."""
        return self._session.prompt(prompt, completer=_Completer(complete))


class _Completer(Completer):
    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        for found in self._complete(document.text_before_cursor):
            yield Completion(found.text, start_position=-found.replaces)
