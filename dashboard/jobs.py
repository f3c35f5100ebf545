"""Long work off the script thread: progress, cancel, and a result that outlives a page refresh."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from core.errors import CancelledError, PrivPfCError

T = TypeVar("T")

Report = Callable[[str, int, int], bool]
"""Called by the work with (stage, done, in all); False asks it to stop."""


@dataclass(eq=False)
class Job(Generic[T]):
    """Work on a thread of its own.

    Parameters
    ----------
    work : callable
        Gets a `Report` and returns the result.

    Attributes
    ----------
    stage : str
    done, total : int
    result : T or None
    error : str or None
        One plain sentence for the officer.
    cancelled : bool
    """

    work: Callable[[Report], T]
    stage: str = ""
    done: int = 0
    total: int = 1
    result: T | None = None
    error: str | None = None
    cancelled: bool = False
    _thread: threading.Thread = field(init=False, repr=False)
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True, name="privpfc-job")
        self._thread.start()

    @property
    def running(self) -> bool:
        """True until the work has ended, one way or another."""
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """True once the work was asked to stop."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """Ask the work to stop at its next report."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the end of the work."""
        self._thread.join(seconds)

    def _report(self, stage: str, done: int, total: int) -> bool:
        self.stage, self.done, self.total = stage, done, total
        return not self._stop.is_set()

    def _run(self) -> None:
        try:
            self.result = self.work(self._report)
        except CancelledError:
            self.cancelled = True
        except PrivPfCError as error:
            self.error = str(error)
        except MemoryError:
            self.error = "The machine ran out of memory: lower the pool with a smaller ε, or leave out attributes."
        except Exception:
            # The text of an unforeseen error may quote cells; it goes to the log of nobody.
            self.error = "Something unforeseen went wrong and nothing was released; your choices are kept."
