"""Many things to compute: what an earlier run has kept, the rest several at a time, each kept at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from tcsmt.support.checkpoint import Checkpoint, Record
from tcsmt.support.jobs import cluster, processes
from tcsmt.support.jobs.processes import Failure, Task
from tcsmt.support.progress import ProgressCallback, no_progress


@dataclass(frozen=True)
class Workers:
    """The workers: so many processes of this machine, or the workers of a Dask scheduler by its address.

    With no jobs, this process computes: no other one is started.
    """

    jobs: int = 1
    scheduler: str = ""


@dataclass(frozen=True)
class Computed:
    """The record of each task by key, in the order of the tasks; why the others ``failed``.

    earlier: keys of the records that an earlier run has computed.
    """

    records: dict[str, Record]
    earlier: frozenset[str] = frozenset()
    failed: dict[str, str] = field(default_factory=dict)

    def with_those_of(self, other: Computed) -> Computed:
        """Return these and others."""
        records, failed = self.records | other.records, self.failed | other.failed
        return Computed(records, self.earlier | other.earlier, failed)


def computed(
    tasks: Sequence[Task],
    checkpoint: Checkpoint,
    workers: Workers,
    counts: Callable[[Task, Record], bool],
    progress: ProgressCallback = no_progress,
) -> Computed:
    """Compute each task that the checkpoint has no record of, and keep what comes at once.

    A record in the checkpoint counts if it is about the task's content (:attr:`.Task.asked`), and ``counts``
    says so. A task whose process dies has no record, and is computed again in the next run.
    """
    wanted = {task.key: task for task in tasks}
    records = counting(tasks, checkpoint, counts)
    earlier, failed = frozenset(records), dict[str, str]()
    done = len(records)
    progress(done, len(wanted), "kept from before" if done else "")
    missing = [task for key, task in wanted.items() if key not in records]
    if workers.scheduler and missing:
        answers = cluster.answers_of(workers.scheduler, missing)
    elif not workers.jobs:
        answers = _here(missing)
    else:
        answers = processes.answers_of(workers.jobs, missing)
    with closing(answers):  # whatever happens here, nobody is left working
        for task, answer in answers:
            done += 1
            if isinstance(answer, Failure):
                failed[task.key] = answer.reason
                progress(done, len(wanted), f"{task.key}: {answer.reason}")
                continue
            record = task.stamped(answer)
            checkpoint.keep(task.key, record)
            records[task.key] = record
            progress(done, len(wanted), f"{task.title or task.key}: {task.said(record)}")
    return Computed({key: records[key] for key in wanted if key in records}, earlier, failed)


def counting(
    tasks: Sequence[Task], checkpoint: Checkpoint, counts: Callable[[Task, Record], bool]
) -> dict[str, Record]:
    """Return the records of tasks that a checkpoint has and that count, as for :func:`computed`."""
    return {
        task.key: checkpoint.records[task.key]
        for task in tasks
        if _about(task, checkpoint.records.get(task.key)) and counts(task, checkpoint.records[task.key])
    }


def _here(tasks: Sequence[Task]) -> Generator[tuple[Task, Record | Failure], None, None]:
    for task in tasks:
        yield task, task.run()


def _about(task: Task, record: Record | None) -> bool:
    return record is not None and record.get("asked") == task.asked
