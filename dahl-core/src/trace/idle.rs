//! [`causes`]: why a worker was idle before a task.

use dahl_trace::format::Cause;

/// The times, in nanoseconds, of the events that a task waits for before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) submitted_ns: u64,
    pub(super) ready_ns: u64,
    pub(super) taken_ns: u64,
    /// When its data had arrived; 0 if no transfer was needed.
    pub(super) arrived_ns: u64,
}

/// Divides the time from `from_ns` to `to_ns`, when the worker began a task, by what the task was still waiting for.
pub(super) fn causes(from_ns: u64, to_ns: u64, steps: Steps) -> Vec<(Cause, u64, u64)> {
    let until = [
        (Cause::Submission, steps.submitted_ns),
        (Cause::Dependency, steps.ready_ns),
        (Cause::Scheduler, steps.taken_ns),
        (Cause::Transfer, steps.arrived_ns),
        (Cause::Scheduler, to_ns), // what the runtime does itself before it calls the kernel
    ];
    let mut pieces: Vec<(Cause, u64, u64)> = Vec::with_capacity(until.len());
    let mut begin_ns = from_ns;
    for (cause, end_ns) in until {
        let end_ns = end_ns.min(to_ns);
        if end_ns <= begin_ns {
            continue;
        }
        match pieces.last_mut().filter(|last| last.0 == cause) {
            Some(last) => last.2 = end_ns,
            None => pieces.push((cause, begin_ns, end_ns)),
        }
        begin_ns = end_ns;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Steps, causes};
    use dahl_trace::format::Cause::{Dependency, Scheduler, Submission, Transfer};

    fn pieces(from_ns: u64, to_ns: u64, steps: [u64; 4]) -> Vec<(super::Cause, u64, u64)> {
        let [submitted_ns, ready_ns, taken_ns, arrived_ns] = steps;
        causes(from_ns, to_ns, Steps { submitted_ns, ready_ns, taken_ns, arrived_ns })
    }

    #[test]
    fn each_moment_has_the_first_thing_that_had_not_happened() {
        let all = [(Submission, 10, 20), (Dependency, 20, 30), (Scheduler, 30, 40), (Transfer, 40, 50)];
        assert_eq!(pieces(10, 50, [20, 30, 40, 50]), all);
        assert_eq!(pieces(10, 52, [20, 30, 40, 50])[4..], [(Scheduler, 50, 52)]);
        assert_eq!(pieces(35, 50, [20, 30, 40, 50]), all_from(35));
        assert_eq!(pieces(10, 30, [10, 10, 20, 0]), [(Scheduler, 10, 30)], "one piece, not two");
        assert_eq!(pieces(45, 50, [20, 30, 40, 50]), [(Transfer, 45, 50)]);
        assert_eq!(pieces(50, 50, [20, 30, 40, 50]), []);
    }

    fn all_from(from_ns: u64) -> [(super::Cause, u64, u64); 2] {
        [(Scheduler, from_ns, 40), (Transfer, 40, 50)]
    }
}
