//! [`Reader`]: the parts of a trainer's batches, read by threads that live through all epochs.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use dahl::prelude::*;

use super::device_turns::DeviceTurns;
use super::queue::Queue;
use super::source::{Source, message};
use crate::error::Error;

/// Parts that threads may have read before the trainer takes them: enough that the threads need not be woken for each
/// of them.
const PARTS_AHEAD: usize = 8;

/// How the samples of an epoch are divided into batches, and these into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Division {
    /// The samples of an epoch.
    pub(crate) samples: usize,
    /// Those of a batch; the last one may have fewer.
    pub(crate) batch_size: usize,
    /// Those of a part; the last one of a batch may have fewer.
    pub(crate) part_size: usize,
}

impl Division {
    /// The number of batches.
    pub(crate) fn batches(&self) -> usize {
        self.samples.div_ceil(self.batch_size)
    }

    /// The places of the samples of a batch in the order of the epoch.
    pub(crate) fn batch(&self, batch: usize) -> Range<usize> {
        let start = self.samples.min(batch * self.batch_size);
        start..self.samples.min(start + self.batch_size)
    }

    /// The number of parts in the batches before this one.
    fn parts_before(&self, batch: usize) -> usize {
        match self.batches() {
            batches if batch < batches => batch * self.batch_size.div_ceil(self.part_size),
            0 => 0,
            batches => {
                self.parts_before(batches - 1) + self.batch(batches - 1).len().div_ceil(self.part_size)
            }
        }
    }

    /// The places of the samples of a part, which is counted through all batches.
    fn part(&self, part: usize) -> Range<usize> {
        let of_batch = self.batch_size.div_ceil(self.part_size);
        let batch = self.batch(part / of_batch);
        let start = batch.start + part % of_batch * self.part_size;
        start..batch.end.min(start + self.part_size)
    }
}

/// The epoch that is read.
#[derive(Debug, Default)]
struct Epoch {
    number: u64,
    order: Arc<Vec<usize>>,
    division: Division,
    /// How far numbers of the queue are beyond those of the epoch's parts.
    offset: isize,
}

impl Epoch {
    /// The places of the samples of an item of the queue.
    fn places(&self, item: usize) -> Range<usize> {
        self.division.part(item.wrapping_add_signed(self.offset.wrapping_neg()))
    }
}

/// Which samples a part has.
struct Chosen {
    epoch: u64,
    order: Arc<Vec<usize>>,
    places: Range<usize>,
}

impl Chosen {
    fn indices(&self) -> &[usize] {
        &self.order[self.places.clone()]
    }
}

/// What threads and trainer share.
struct Shared<'d, T: Real, S: Source<T>> {
    source: &'d S,
    queue: Queue<dahl::Result<S::Samples>>,
    epoch: Mutex<Epoch>,
    /// Memory of parts that were taken.
    spare: Mutex<Vec<S::Samples>>,
}

impl<T: Real, S: Source<T>> Shared<'_, T, S> {
    /// Reads until the queue is closed.
    fn work(&self) {
        while let Some(item) = self.queue.begin() {
            let mut samples = lock(&self.spare).pop().unwrap_or_default();
            let part = self.part(item);
            let indices = part.indices();
            let read = || self.source.read(indices, part.epoch, &mut samples);
            let read = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
                let sample = indices.first().copied().unwrap_or(0);
                Err(Error::Panic { sample, message: message(&*panic) }.into())
            });
            drop(part);
            self.queue.put(item, read.map(|()| samples));
        }
    }

    /// The part that an item of the queue is.
    fn part(&self, item: usize) -> Chosen {
        let epoch = lock(&self.epoch);
        let Epoch { number, order, .. } = &*epoch;
        Chosen { epoch: *number, order: order.clone(), places: epoch.places(item) }
    }
}

/// Reads the parts of batches in their order: by threads ahead of the trainer, or with none when it takes them.
///
/// Parts are prefetched to the memories of the devices in turn; over several ranks, on the rank that computes them.
pub(crate) struct Reader<'r, 'd, T: Real, S: Source<T>> {
    shared: &'r Shared<'d, T, S>,
    has_threads: bool,
    /// The number of the next item.
    next: usize,
    /// Memory of the trainer's own thread.
    samples: S::Samples,
    turns: DeviceTurns,
}

impl<T: Real, S: Source<T>> Reader<'_, '_, T, S> {
    /// Calls `f` with a reader of `source`, whose threads end with it.
    ///
    /// # Errors
    /// If no thread can be started; and that of `f`.
    pub(crate) fn with<R>(
        source: &S,
        threads: usize,
        arena: &Arena,
        f: impl FnOnce(&mut Reader<'_, '_, T, S>) -> dahl::Result<R>,
    ) -> dahl::Result<R> {
        let ahead = PARTS_AHEAD.max(2 * threads);
        let shared =
            Shared { source, queue: Queue::new(ahead), epoch: Mutex::default(), spare: Mutex::default() };
        let mut reader = Reader {
            shared: &shared,
            has_threads: threads > 0,
            next: 0,
            samples: S::Samples::default(),
            turns: DeviceTurns::new(arena),
        };
        thread::scope(|scope| {
            let _close = Close(&shared.queue);
            for index in 0..threads {
                let thread = thread::Builder::new().name(format!("dahl-loader-{index}"));
                thread.spawn_scoped(scope, || shared.work()).map_err(|error| Error::Thread { error })?;
            }
            f(&mut reader)
        })
    }

    /// Begins to read an epoch, from 0, from this batch on. All parts of the one before must have been taken.
    pub(crate) fn begin(&mut self, number: u64, order: Arc<Vec<usize>>, division: Division, batch: usize) {
        let before = division.parts_before(batch);
        let parts = division.parts_before(division.batches()) - before;
        let offset = (self.next as isize).wrapping_sub(before as isize);
        *lock(&self.shared.epoch) = Epoch { number, order, division, offset };
        if self.has_threads {
            self.shared.queue.add(parts);
        }
    }

    /// The next part as arrays, and the number of its samples.
    ///
    /// # Errors
    /// If a sample cannot be read, or memory cannot be allocated.
    pub(crate) fn next<'s>(&mut self, arena: &'s Arena) -> dahl::Result<(S::Part<'s>, usize)> {
        let next = self.shared.part(self.next);
        self.next += 1;
        let part = if self.has_threads {
            let samples = self.shared.queue.take()?;
            let part = self.shared.source.arrays(arena, &samples)?;
            lock(&self.shared.spare).push(samples);
            part
        } else if arena.ranks() > 1 {
            // Not into arrays: all ranks would meet whenever the host writes one.
            self.shared.source.read(next.indices(), next.epoch, &mut self.samples)?;
            self.shared.source.arrays(arena, &self.samples)?
        } else {
            self.shared.source.read_arrays(arena, next.indices(), next.epoch, &mut self.samples)?
        };
        if let Some(device) = self.turns.next() {
            S::prefetch(&part, device);
        }
        Ok((part, next.places.len()))
    }
}

/// Closes the queue, also when the trainer panics: the scope waits for the threads.
struct Close<'q, I>(&'q Queue<I>);

impl<I> Drop for Close<'_, I> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// No code of others runs under these locks of the threads, so a poisoned value is whole.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Division;

    #[test]
    fn parts_are_those_of_the_batches_in_order() {
        for (samples, batch_size, part_size) in
            [(23, 10, 4), (20, 10, 10), (1, 10, 3), (64, 16, 5), (7, 1, 1)]
        {
            let division = Division { samples, batch_size, part_size };
            let order: Vec<usize> = (0..samples).collect();
            let mut expected = Vec::new();
            let mut before = vec![0];
            for batch in order.chunks(batch_size) {
                expected.extend(batch.chunks(part_size).map(<[usize]>::to_vec));
                before.push(expected.len());
            }
            assert_eq!(division.batches(), before.len() - 1);
            let parts = division.parts_before(division.batches());
            let found: Vec<Vec<usize>> = (0..parts).map(|part| division.part(part).collect()).collect();
            assert_eq!(found, expected, "{division:?}");
            let found: Vec<usize> =
                (0..=division.batches()).map(|batch| division.parts_before(batch)).collect();
            assert_eq!(found, before, "{division:?}");
        }
    }
}
