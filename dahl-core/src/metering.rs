//! [`Metering`]: reads the meters of a machine while a runtime is there.
//!
//! Meters are read when the runtime is built, when somebody asks for the energy, and by a thread of its own: at an
//! interval if the run is traced or its energy is to be divided among codelets, otherwise only as often as a counter
//! needs that wraps. Without a meter there is no such thread, and no task does anything for it in either case.
//!
//! Not here: the meters (`dahl-energy`), and what is made of readings (`engine::energy`).

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dahl_energy::{Absence, DomainEnergy, Joules, Mark, Meters, Part, Places, Sample, Tally};

use crate::clock::Clock;
use crate::sync::thread::{Builder, JoinHandle};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// What the settings say of energy.
#[derive(Debug)]
pub(crate) enum EnergySetting {
    /// It is not measured, and why.
    Off(Absence),
    /// It is measured.
    On {
        /// The user's meters; those of the machine by default.
        meters: Option<Meters>,
        /// The time between two samples; none if nobody wants them.
        interval: Option<Duration>,
    },
}

/// The meters of a runtime.
#[derive(Debug)]
pub(crate) struct Metering {
    /// The part of the machine that each memory node is.
    parts: Vec<Part>,
    /// The name of each domain, and the memory node that shows it: the host, if it is no other's.
    domains: Vec<(Arc<str>, usize)>,
    state: Result<Mutex<State>, Absence>,
    interval: Option<Duration>,
    thread: Mutex<Option<JoinHandle<()>>>,
    is_over: Mutex<bool>,
    over: Condvar,
}

/// What has been read.
#[derive(Debug)]
struct State {
    tally: Tally,
    /// For each memory node, the beginning of the current window.
    windows: Vec<Option<Begin>>,
}

/// The beginning of a window: the time, and the energy since the start.
#[derive(Clone, Copy, Debug)]
struct Begin {
    at: Duration,
    joules: f64,
}

/// What a memory node has used in a window of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) node: usize,
    pub(crate) seconds: f64,
    pub(crate) joules: f64,
}

/// The energy of a run.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// That of each memory node.
    pub(crate) nodes: Vec<Joules>,
    /// That of each domain.
    pub(crate) domains: Vec<DomainEnergy>,
}

/// The memory node of the host.
const HOME: usize = 0;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now(clock: &Clock) -> Duration {
    Duration::from_nanos(clock.now_ns())
}

impl Metering {
    /// Starts to measure. Memory node 0 is the host; `devices` are the PCI addresses of the others, which are real.
    pub(crate) fn new(setting: EnergySetting, devices: Vec<String>, clock: &Clock) -> Self {
        let nvml = Places::default().nvml.filter(|_| !devices.is_empty());
        let parts: Vec<_> =
            std::iter::once(Part::Host).chain(devices.into_iter().map(Part::Device)).collect();
        let mut domains = Vec::new();
        let (state, interval) = match setting {
            EnergySetting::Off(absence) => (Err(absence), None),
            EnergySetting::On { meters, interval } => {
                let meters = meters.unwrap_or_else(|| Meters::find(&Places { nvml, ..Places::default() }));
                let at = now(clock);
                let tally = meters.start(at);
                let interval = match (interval, tally.period()) {
                    (Some(interval), Some(period)) => Some(interval.min(period)),
                    (interval, period) => interval.or(period),
                };
                let shown_at = |part: &Part| parts.iter().position(|own| own == part).unwrap_or(HOME);
                let all = tally.energies().into_iter();
                domains.extend(all.map(|domain| (Arc::from(domain.name), shown_at(&domain.part))));
                let windows = vec![Some(Begin { at, joules: 0.0 }); parts.len()];
                let interval = interval.filter(|_| !tally.is_empty());
                (Ok(Mutex::new(State { tally, windows })), interval)
            }
        };
        Self {
            parts,
            domains,
            state,
            interval,
            thread: Mutex::new(None),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        }
    }

    /// The name of a domain, by its place, and the memory node that shows it.
    pub(crate) fn domain(&self, place: usize) -> (&Arc<str>, usize) {
        let (name, node) = &self.domains[place];
        (name, *node)
    }

    /// How often the thread reads, if there is one.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// Starts the thread, which calls `run`.
    pub(crate) fn start(&self, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        *lock(&self.thread) = Some(Builder::new().name("dahl energy".to_owned()).spawn(run)?);
        Ok(())
    }

    /// Waits for the next reading. Returns whether there is one.
    pub(crate) fn wait(&self) -> bool {
        let is_over = lock(&self.is_over);
        if *is_over {
            return false;
        }
        let interval = self.interval.unwrap_or(Duration::MAX);
        let waited = self.over.wait_timeout(is_over, interval);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Ends the thread.
    pub(crate) fn finish(&self) {
        *lock(&self.is_over) = true;
        self.over.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // should a meter have panicked, its energy ends there
        }
    }

    /// Reads the meters, and passes what they have counted since the last reading to `take`: the samples of each domain,
    /// and the windows of each memory node. Whoever reads at the same time waits, so `take` sees windows in their order.
    pub(crate) fn read(&self, clock: &Clock, take: impl FnOnce(&[Sample], &[Window])) {
        let Ok(state) = &self.state else { return };
        let mut state = lock(state);
        if state.tally.is_empty() {
            return;
        }
        let at = now(clock);
        state.tally.read(at);
        let samples = state.tally.samples();
        let mut windows = Vec::new();
        for (node, part) in self.parts.iter().enumerate() {
            let joules = state.tally.of_part(part).value();
            let begin = &mut state.windows[node];
            match (*begin, joules) {
                // A window ends when the counter has moved.
                (Some(last), Some(joules)) if joules <= last.joules || at <= last.at => {}
                (Some(last), Some(joules)) => {
                    let seconds = (at - last.at).as_secs_f64();
                    windows.push(Window { node, seconds, joules: joules - last.joules });
                    *begin = Some(Begin { at, joules });
                }
                // It has not moved since the start, or it is silent for now.
                (_, None) => {}
                (None, Some(joules)) => *begin = Some(Begin { at, joules }),
            }
        }
        take(&samples, &windows);
    }

    /// Reads the meters, for [`since`](Self::since).
    pub(crate) fn mark(&self, clock: &Clock) -> Option<Mark> {
        let mut state = lock(self.state.as_ref().ok()?);
        state.tally.read(now(clock));
        Some(state.tally.mark())
    }

    /// Reads the meters: the energy of all memory nodes since a mark, which is none if nothing is measured.
    pub(crate) fn since(&self, mark: Option<&Mark>, clock: &Clock) -> Joules {
        match (&self.state, mark) {
            (Ok(state), Some(mark)) => {
                let mut state = lock(state);
                state.tally.read(now(clock));
                let of_part = |part: &Part| state.tally.of_part_since(part, mark);
                Joules::sum(self.parts.iter().map(of_part), || unreachable!("there is a main memory"))
            }
            (Err(absence), _) => Joules::unavailable(absence.clone()),
            (Ok(_), None) => {
                let remedy = "give it a mark of its own";
                Joules::unavailable(Absence::new("the mark is of another runtime", remedy))
            }
        }
    }

    /// The energy from the start to the last reading.
    pub(crate) fn measured(&self) -> Measured {
        match &self.state {
            Err(absence) => {
                let unavailable = |_: &Part| Joules::unavailable(absence.clone());
                Measured { nodes: self.parts.iter().map(unavailable).collect(), domains: Vec::new() }
            }
            Ok(state) => {
                let state = lock(state);
                let nodes = self.parts.iter().map(|part| state.tally.of_part(part)).collect();
                Measured { nodes, domains: state.tally.energies() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_meter_nobody_reads() {
        let interval = Some(Duration::from_millis(1));
        let setting = EnergySetting::On { meters: Some(Meters::default()), interval };
        let metering = Metering::new(setting, Vec::new(), &Clock::start());
        assert_eq!(metering.interval(), None);
        metering.read(&Clock::start(), |_, _| panic!("there is nothing to read"));
        assert!(metering.measured().nodes[0].absence().is_some());
    }
}
