//! [`Recycler`]: returns a worker's finished records in batches, so that workers and submitting threads rarely contend.

use crate::graph::Host;

/// A run of free records, linked.
#[derive(Debug, Default)]
pub(crate) struct Recycler {
    /// The first and the last one.
    ends: Option<(u32, u32)>,
    count: usize,
}

impl Recycler {
    /// Adds a free record.
    pub(crate) fn give_back(&mut self, host: &Host, index: u32) {
        let last = match self.ends {
            None => index,
            Some((first, last)) => {
                host.records().lead(index, first);
                last
            }
        };
        self.ends = Some((index, last));
        self.count += 1;
        if self.count >= host.bulk() {
            self.flush(host);
            host.tell_of_rest();
        }
    }

    /// Returns the gathered records.
    pub(crate) fn flush(&mut self, host: &Host) {
        if let Some((first, last)) = self.ends.take() {
            host.records().give_back_run(first, last);
            self.count = 0;
        }
    }
}
