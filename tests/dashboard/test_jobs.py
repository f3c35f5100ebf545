"""Jobs run off the script thread, report progress, stop when asked, and never show a traceback."""

import threading

from core.errors import CancelledError, InputError
from dashboard.jobs import Job, Report


def test_job_returns_the_result_of_its_work() -> None:
    """The work's return value is the job's result."""
    job = Job(lambda report: 42)
    job.wait()
    assert (job.result, job.error, job.cancelled, job.running) == (42, None, False, False)


def test_job_shows_progress_while_it_runs() -> None:
    """Stage and counts are those of the last report."""
    reported, finish = threading.Event(), threading.Event()

    def work(report: Report) -> None:
        report("scores", 3, 9)
        reported.set()
        finish.wait(10)

    job = Job(work)
    assert reported.wait(10)
    assert (job.running, job.stage, job.done, job.total) == (True, "scores", 3, 9)
    finish.set()
    job.wait()
    assert not job.running


def test_cancelled_job_stops_at_its_next_report() -> None:
    """A report answers False once the job is cancelled, and the job ends without a result."""

    def work(report: Report) -> int:
        while report("scores", 0, 1):
            pass
        raise CancelledError("stopped")

    job = Job(work)
    job.cancel()
    job.wait(10)
    assert job.cancelled
    assert job.result is None
    assert job.error is None


def test_errors_for_the_officer_are_kept_as_their_sentence() -> None:
    """An error of the engine becomes the job's one sentence."""

    def work(report: Report) -> None:
        raise InputError("Choose another table.")

    job = Job(work)
    job.wait()
    assert job.error == "Choose another table."


def test_unforeseen_errors_quote_nothing() -> None:
    """The text of an unforeseen error, which may quote cells, is not shown."""

    def work(report: Report) -> None:
        raise ValueError("Mrs Example, 52")

    job = Job(work)
    job.wait()
    assert job.error is not None
    assert "Example" not in job.error
