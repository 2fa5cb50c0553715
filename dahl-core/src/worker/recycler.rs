//! [`Recycler`]: returns a worker's finished records in batches, so that workers and submitting threads rarely contend.

use crate::engine::Shared;

/// A run of free records, already linked.
#[derive(Debug, Default)]
pub(crate) struct Recycler {
    /// The first and the last one.
    ends: Option<(u32, u32)>,
    count: usize,
}

impl Recycler {
    /// Takes a record that is free.
    pub(crate) fn give_back(&mut self, shared: &Shared, index: u32) {
        let last = match self.ends {
            None => index,
            Some((first, last)) => {
                shared.records().lead(index, first);
                last
            }
        };
        self.ends = Some((index, last));
        self.count += 1;
        if self.count >= shared.bulk() {
            self.flush(shared);
            shared.tell_of_rest();
        }
    }

    /// Gives back what was gathered.
    pub(crate) fn flush(&mut self, shared: &Shared) {
        if let Some((first, last)) = self.ends.take() {
            shared.records().give_back_run(first, last);
            self.count = 0;
        }
    }
}
