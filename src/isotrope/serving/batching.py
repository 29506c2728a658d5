"""Inputs of many requests in one pass through a model.

One thread for each model. It takes inputs until their tokens fill the budget. Half of it goes to the request that has
waited longest, so that a large one comes to its end however many others come; the rest to one input of each in turn, so
that a request of one sentence never waits for the end of one of two thousand. What does not fill the budget waits a few
milliseconds for company.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isotrope.encoders.nearest import Floats

log = logging.getLogger(__name__)

STRETCH = 8  # pooling lays packed sentences side by side, padded; that may take so many times the budget
SMOOTHING = 0.2  # of the measured speed
OLDEST = 0.5  # share of a pass for those that have waited longest


class OverloadedError(Exception):
    """Too much is waiting already; in so many seconds there may be room."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"busy for {seconds:.0f} s")
        self.seconds = seconds


@dataclass(eq=False)
class Job:
    """The inputs of one request, the longest first, and the vectors that are there already."""

    inputs: Sequence[Any]
    lengths: Sequence[int]
    came: int = 0  # its place in the order in which jobs came
    done: Future[Floats] = field(default_factory=Future)
    order: deque[int] = field(init=False)
    rows: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.order = deque(sorted(range(len(self.lengths)), key=lambda i: -self.lengths[i]))

    def put(self, place: int, vector: Any) -> None:
        """One more vector; with the last the job is done."""
        self.rows[place] = vector
        if len(self.rows) == len(self.inputs):
            self._finish(lambda: self.done.set_result(np.stack([self.rows[i] for i in range(len(self.inputs))])))

    def fail(self, error: BaseException) -> None:
        """No vectors; what is left of it is not encoded."""
        self.order.clear()
        self._finish(lambda: self.done.set_exception(error))

    @staticmethod
    def _finish(tell: Callable[[], None]) -> None:
        try:
            tell()
        except InvalidStateError:
            log.debug("nobody waits for these vectors any more")


Batch = list[tuple[Job, int]]  # jobs and the number of one of their inputs


@dataclass
class _Pass:
    """What goes through the model together, and how much room is left."""

    budget: int  # tokens
    positions: int
    batch: Batch = field(default_factory=list)
    tokens: int = 0
    longest: int = 0

    def has_room_for(self, job: Job) -> bool:
        """Whether the next input of a job fits. The first one always does: it would never be encoded otherwise."""
        length = job.lengths[job.order[0]]
        wide = max(self.longest, length) * (len(self.batch) + 1)
        return not self.batch or (self.tokens + length <= self.budget and wide <= self.positions)

    def add(self, job: Job) -> None:
        """Takes the next input of a job."""
        place = job.order.popleft()
        self.batch.append((job, place))
        self.tokens, self.longest = self.tokens + job.lengths[place], max(self.longest, job.lengths[place])


class Batcher:
    """A model's thread and what waits for it. `encode` turns inputs into vectors (inputs, dim)."""

    def __init__(
        self,
        encode: Callable[[list[Any]], Floats],
        *,
        budget: int,
        wait: float,
        most_waiting: int,
        packed: bool = True,
        observe: Callable[[int, int, float], None] = lambda inputs, tokens, seconds: None,
        name: str = "model",
    ) -> None:
        self._encode, self._observe = encode, observe
        self._budget, self._wait, self._most_waiting = budget, wait, most_waiting
        self._positions = budget * (STRETCH if packed else 1)
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._came = 0  # jobs
        self._closed = False
        self._oldest = 0.0  # when the first of the waiting jobs came
        self._speed = 0.0  # tokens per second
        self.waiting = 0  # tokens
        self._thread = threading.Thread(target=self._run, name=f"encode {name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether inputs are still encoded."""
        return self._thread.is_alive()

    def submit(self, inputs: Sequence[Any], lengths: Sequence[int]) -> Future[Floats]:
        """The vectors of some inputs, each with its number of tokens, in their order.

        A job of any size is taken when nothing waits: it would never be taken otherwise.
        """
        if not inputs:
            raise ValueError("no inputs")
        tokens = sum(lengths)
        with self._changed:
            if self._closed:
                raise OverloadedError(1)
            if self.waiting and self.waiting + tokens > self._most_waiting:
                raise OverloadedError(self.waiting / self._speed if self._speed else 1)
            if not self._jobs:
                self._oldest = time.monotonic()
            self._came += 1
            job = Job(inputs, lengths, self._came)
            self._jobs.append(job)
            self.waiting += tokens
            self._changed.notify()
        return job.done

    def close(self) -> None:
        """Takes no more, encodes what it has, and ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            began = time.monotonic()
            for some, vectors in self._encoded(batch):
                for (job, place), vector in zip(some, vectors, strict=True):
                    job.put(place, vector)
            tokens, seconds = sum(job.lengths[place] for job, place in batch), time.monotonic() - began
            now = tokens / max(seconds, 1e-6)
            self._speed = now if not self._speed else (1 - SMOOTHING) * self._speed + SMOOTHING * now
            self._observe(len(batch), tokens, seconds)

    def _next(self) -> Batch:
        """The inputs of the next pass, as soon as there are enough of them or the first has waited; none at the end."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._jobs or self._closed)
                while self.waiting < self._budget and not self._closed:
                    left = self._oldest + self._wait - time.monotonic()
                    if left <= 0 or not self._changed.wait(left):
                        break
                batch = self._take()
                self._oldest = time.monotonic() - self._wait  # what is left has waited long enough
                if batch or (self._closed and not self._jobs):
                    return batch

    def _take(self) -> Batch:
        """Of those that have waited longest, then one of each in turn; who finds no room comes first next time."""
        self._forget_cancelled()
        taken, held = _Pass(self._budget, self._positions), deque[Job]()
        self._take_of_oldest(taken)
        while self._jobs:
            job = self._jobs.popleft()
            if not taken.has_room_for(job):
                held.append(job)
                continue
            taken.add(job)
            if job.order:
                self._jobs.append(job)
        self._jobs = held
        self.waiting -= taken.tokens
        return taken.batch

    def _take_of_oldest(self, taken: _Pass) -> None:
        """Up to their share of the pass. Their turn for the rest comes behind that of the others."""
        share = OLDEST * self._budget
        for job in sorted(self._jobs, key=lambda one: one.came):
            if taken.tokens >= share or not taken.has_room_for(job):
                return
            while job.order and taken.tokens < share and taken.has_room_for(job):
                taken.add(job)
            self._jobs.remove(job)
            if job.order:
                self._jobs.append(job)

    def _forget_cancelled(self) -> None:
        gone = [job for job in self._jobs if job.done.cancelled()]
        self.waiting -= sum(job.lengths[place] for job in gone for place in job.order)
        self._jobs = deque(job for job in self._jobs if job not in gone)

    def _encoded(self, batch: Batch) -> Iterator[tuple[Batch, Floats]]:
        """The batch and its vectors; if that fails, request by request, so that only those fail that must."""
        try:
            yield batch, self._vectors(batch)
        except Exception as error:
            jobs: dict[Job, Batch] = {}
            for job, place in batch:
                jobs.setdefault(job, []).append((job, place))
            if len(jobs) == 1:
                log.warning("a batch of %d inputs failed: %s", len(batch), type(error).__name__)
                self._forget(batch[0][0], error)
                return
            for some in jobs.values():
                yield from self._encoded(some)

    def _vectors(self, batch: Batch) -> Floats:
        vectors = self._encode([job.inputs[place] for job, place in batch])
        if not np.isfinite(vectors).all():
            raise ValueError("the model gives vectors that are not numbers")
        return vectors

    def _forget(self, job: Job, error: Exception) -> None:
        with self._changed:
            self.waiting -= sum(job.lengths[place] for place in job.order)
            if job in self._jobs:
                self._jobs.remove(job)
            job.fail(error)
