//! [`Run`]: the events of a pipeline in virtual time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::line::{Cut, Line, Station, machine};

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A worker has ended a pass of a minibatch.
    Ended { station: usize, minibatch: usize, is_forward: bool },
    /// A transfer over the cut before a station has the end from which it comes, and needs the other one.
    Leaves { cut: usize, minibatch: usize, is_forward: bool },
    /// A transfer over the cut has arrived.
    Arrives { cut: usize, minibatch: usize, is_forward: bool },
}

/// A worker of a stage.
#[derive(Clone, Debug, Default)]
struct Worker {
    is_busy: bool,
    was_forward: bool,
    in_flight: usize,
    forward: VecDeque<usize>,
    backward: VecDeque<usize>,
}

/// The two ends of the links of a cut: when each is free.
#[derive(Debug)]
struct Ends {
    before: Vec<u64>,
    after: Vec<u64>,
}

/// Runs `minibatches` and returns the nanoseconds at which the first stage had ended each of them, in ascending order.
pub(super) fn run(line: &Line, limits: &[usize], minibatches: usize) -> Vec<u64> {
    let workers =
        |station: usize| vec![Worker::default(); line.machines(station, line.stations[station].turns.len())];
    let ends = |cut: usize| {
        let levels = line.cuts[cut].levels;
        Ends { before: vec![0; line.machines(cut, levels)], after: vec![0; line.machines(cut + 1, levels)] }
    };
    let mut run = Run {
        line,
        limits,
        workers: (0..line.stations.len()).map(workers).collect(),
        ends: (0..line.cuts.len()).map(ends).collect(),
        events: BinaryHeap::new(),
        ended: Vec::with_capacity(minibatches),
    };
    for minibatch in 0..minibatches {
        let worker = machine(&line.stations[0].turns, minibatch);
        run.workers[0][worker].forward.push_back(minibatch);
    }
    for worker in 0..run.workers[0].len() {
        run.start(0, 0, worker);
    }
    while let Some(Reverse((time, event))) = run.events.pop() {
        run.handle(time, event);
    }
    assert_eq!(run.ended.len(), minibatches, "each minibatch depends on earlier ones only, so all end");
    run.ended
}

struct Run<'a> {
    line: &'a Line,
    limits: &'a [usize],
    workers: Vec<Vec<Worker>>,
    ends: Vec<Ends>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    ended: Vec<u64>,
}

impl Run<'_> {
    fn handle(&mut self, time: u64, event: Event) {
        match event {
            Event::Ended { station, minibatch, is_forward } => {
                let worker = machine(&self.line.stations[station].turns, minibatch);
                self.workers[station][worker].is_busy = false;
                let is_last = station + 1 == self.line.stations.len();
                match is_forward {
                    true if is_last => self.workers[station][worker].backward.push_back(minibatch),
                    true => self.send(time, station, minibatch, true),
                    false => {
                        self.workers[station][worker].in_flight -= 1;
                        match station.checked_sub(1) {
                            None => self.ended.push(time),
                            Some(cut) => self.send(time, cut, minibatch, false),
                        }
                    }
                }
                self.start(time, station, worker);
            }
            // Forward transfers leave the end before the cut, backward ones the end after it. The bytes pass on as they
            // come, so that the transfer occupies both ends for the same time, if the other one is free.
            Event::Leaves { cut, minibatch, is_forward } => {
                let arrival =
                    self.occupy(time, cut, minibatch, is_forward, !is_forward) + self.line.cuts[cut].duration;
                self.events.push(Reverse((arrival, Event::Arrives { cut, minibatch, is_forward })));
            }
            Event::Arrives { cut, minibatch, is_forward } => {
                let station = if is_forward { cut + 1 } else { cut };
                let worker = machine(&self.line.stations[station].turns, minibatch);
                let waiting = &mut self.workers[station][worker];
                if is_forward { &mut waiting.forward } else { &mut waiting.backward }.push_back(minibatch);
                self.start(time, station, worker);
            }
        }
    }

    /// The end of a link that a minibatch passes: the one before or the one after the cut.
    fn end(&mut self, cut: usize, minibatch: usize, is_before: bool) -> &mut u64 {
        let levels = self.line.cuts[cut].levels;
        let station = if is_before { cut } else { cut + 1 };
        let index = machine(&self.line.stations[station].turns[..levels], minibatch);
        let ends = &mut self.ends[cut];
        if is_before { &mut ends.before[index] } else { &mut ends.after[index] }
    }

    /// Occupies an end of a link as soon as it is free, and returns when that is. An exchange of gradients follows the
    /// backward transfer.
    fn occupy(&mut self, time: u64, cut: usize, minibatch: usize, is_forward: bool, is_before: bool) -> u64 {
        let Cut { duration, exchange: [before, after], .. } = self.line.cuts[cut];
        let exchange = if is_before { before } else { after };
        let free = self.end(cut, minibatch, is_before);
        let begin = time.max(*free);
        *free = begin + duration + if is_forward { 0 } else { exchange };
        begin
    }

    fn send(&mut self, time: u64, cut: usize, minibatch: usize, is_forward: bool) {
        let begin = self.occupy(time, cut, minibatch, is_forward, is_forward);
        self.events.push(Reverse((begin, Event::Leaves { cut, minibatch, is_forward })));
    }

    /// Starts a pass if a worker is idle: forward and backward in turn where both are there.
    fn start(&mut self, time: u64, station: usize, index: usize) {
        let worker = &mut self.workers[station][index];
        if worker.is_busy {
            return;
        }
        let may_forward = !worker.forward.is_empty() && worker.in_flight < self.limits[station];
        let is_forward = may_forward && (worker.backward.is_empty() || !worker.was_forward);
        let waiting = if is_forward { &mut worker.forward } else { &mut worker.backward };
        let Some(minibatch) = waiting.pop_front() else { return };
        worker.is_busy = true;
        worker.was_forward = is_forward;
        worker.in_flight += usize::from(is_forward);
        let Station { forward, backward, .. } = self.line.stations[station];
        let duration = if is_forward { forward } else { backward };
        self.events.push(Reverse((time + duration, Event::Ended { station, minibatch, is_forward })));
    }
}
