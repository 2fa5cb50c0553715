//! [`StandIns`]: codelets that stand for those of a recorded program, do nothing, and take what a machine says of these.

use std::collections::HashMap;

use dahl::__private::{Kernel, Parameter};
use dahl::{
    AccessMode, Codelet, CodeletSpeed, ElementType, Machine, Result, Runtime, Speed, Submission, Tag, Task,
    Vector,
};

use crate::recorded::{Recorded, RecordedAccess, RecordedTask};

/// What makes two tasks alike: the codelet, the extents, the work, the host's time before, and how each array is used.
type Kind<'r> = (&'r str, &'r [Vec<usize>], Option<u64>, u64, Option<u64>, Vec<AccessMode>);

/// A recorded program that can be submitted.
pub(super) struct StandIns<'r> {
    tasks: &'r [RecordedTask],
    codelets: Vec<&'static Codelet>,
    /// The place of each task's codelet.
    kinds: Vec<usize>,
    /// What the host does before each task, if the machine says that of codelets.
    host_us: Option<Vec<f64>>,
    /// The place of the last task that uses each array.
    last: HashMap<u64, usize>,
    /// Whether a later task waits for each task.
    is_awaited: Vec<bool>,
}

/// How a task uses an array that it names once or several times.
fn mode(reads: bool, writes: bool) -> AccessMode {
    match (reads, writes) {
        (true, true) => AccessMode::RW,
        (false, true) => AccessMode::W,
        _ => AccessMode::R,
    }
}

/// The arrays of a task, each once.
fn arrays(task: &RecordedTask) -> Vec<RecordedAccess> {
    let mut arrays: Vec<RecordedAccess> = Vec::new();
    for &used in &task.arrays {
        match arrays.iter_mut().find(|known| known.array == used.array) {
            Some(known) => {
                known.reads |= used.reads;
                known.writes |= used.writes;
                known.bytes = known.bytes.max(used.bytes);
            }
            None => arrays.push(used),
        }
    }
    arrays
}

/// The microseconds that the host works before it submits each task. The tasks of a replay take it no time of their own.
fn host_us(tasks: &[RecordedTask], machine: &Machine) -> Option<Vec<f64>> {
    let submissions = &machine.cpu.submissions;
    let mut before: Option<&str> = None;
    let us = |task: &'_ RecordedTask, before: Option<&str>| {
        let own = Submission::find(submissions, &task.speed, before);
        own.map_or(machine.cpu.submit_us, |own| own.us_of(task.bytes))
    };
    let each = tasks.iter().map(|task| match task.is_submission {
        true => us(task, before.replace(&task.speed)),
        false => 0.0,
    });
    (!submissions.is_empty()).then(|| each.collect())
}

impl<'r> StandIns<'r> {
    /// The codelets of a program for a machine. They last as long as the process.
    pub(super) fn new(recorded: &'r Recorded, machine: &Machine) -> Self {
        let host_us = host_us(&recorded.tasks, machine);
        let mut known: HashMap<Kind<'_>, usize> = HashMap::new();
        let mut codelets: Vec<&'static Codelet> = Vec::new();
        let mut kinds = Vec::new();
        let (mut last, mut is_awaited) = (HashMap::new(), vec![false; recorded.tasks.len()]);
        for (place, task) in recorded.tasks.iter().enumerate() {
            let modes: Vec<_> = arrays(task).iter().map(|used| mode(used.reads, used.writes)).collect();
            let (flops, bytes) = (task.flops.map(f64::to_bits), task.bytes.to_bits());
            let own_us = host_us.as_ref().map(|us| us[place].to_bits());
            let kind = (&*task.speed, &*task.footprint, flops, bytes, own_us, modes.clone());
            kinds.push(*known.entry(kind).or_insert_with(|| {
                codelets.push(codelet(&format!("{}%{}", task.codelet, codelets.len()), &modes));
                codelets.len() - 1
            }));
            last.extend(task.arrays.iter().map(|used| (used.array, place)));
            task.after.iter().for_each(|&before| is_awaited[before] = true);
        }
        Self { tasks: &recorded.tasks, codelets, kinds, host_us, last, is_awaited }
    }

    /// The machine with the speeds of these codelets, and with the host's time before them.
    pub(super) fn on(&self, machine: &Machine) -> Machine {
        let mut machine = machine.clone();
        let devices = machine.devices.iter_mut().map(|device| &mut device.speed);
        for speed in std::iter::once(&mut machine.cpu.speed).chain(devices) {
            let mut own = Vec::new();
            for (task, &kind) in self.tasks.iter().zip(&self.kinds) {
                if own.len() == kind {
                    own.push((self.codelets[kind].name.to_owned(), speed_of(speed, task)));
                }
            }
            speed.codelets.extend(own);
        }
        if let Some(host_us) = &self.host_us {
            let mut own: Vec<Option<Submission>> = vec![None; self.codelets.len()];
            for (&us, &kind) in host_us.iter().zip(&self.kinds) {
                let codelet = self.codelets[kind].name.to_owned();
                own[kind].get_or_insert(Submission { codelet, us, ..Submission::default() });
            }
            machine.cpu.submissions = own.into_iter().flatten().filter(|own| own.us > 0.0).collect();
            machine.cpu.submit_us = 0.0;
        }
        machine
    }

    /// The name of the codelet of each task.
    pub(super) fn names(&self) -> impl Iterator<Item = (&RecordedTask, &'static str)> {
        self.tasks.iter().zip(self.kinds.iter().map(|&kind| self.codelets[kind].name))
    }

    /// Submits all tasks, and waits for them. An array is there from its first task to its last.
    pub(super) fn run(&self, rt: &Runtime) -> Result<()> {
        let mut alive: HashMap<u64, Vector<'static, u8>> = HashMap::new();
        let mut tags: Vec<Option<Tag>> = Vec::with_capacity(self.tasks.len());
        for (place, task) in self.tasks.iter().enumerate() {
            let mut used = Vec::new();
            for access in arrays(task) {
                let array = match alive.remove(&access.array) {
                    Some(array) => array,
                    None => rt.zeros([access.bytes as usize])?,
                };
                used.push((access, array));
            }
            let mut own = if self.is_awaited[place] || used.is_empty() { Some(rt.tag()?) } else { None };
            let mut new = Task::new(self.codelets[self.kinds[place]]);
            for (access, array) in &mut used {
                if access.writes { new.write(array) } else { new.read(array) }
            }
            new = new.priority(task.priority);
            for before in task.after.iter().filter_map(|&before| tags.get(before)?.as_ref()) {
                new = new.after(before);
            }
            if let Some(tag) = &mut own {
                new = new.tag(tag);
            }
            new.submit()?;
            tags.push(own);
            let is_left = |array: &u64| self.last[array] > place;
            alive.extend(
                used.into_iter().map(|(access, array)| (access.array, array)).filter(|(id, _)| is_left(id)),
            );
        }
        rt.wait()
    }
}

/// A codelet of this name that does nothing.
fn codelet(name: &str, modes: &[AccessMode]) -> &'static Codelet {
    let name: &'static str = name.to_owned().leak();
    let parameters: Vec<_> =
        modes.iter().map(|&mode| Parameter::new("array", mode, ElementType::of::<u8>())).collect();
    let codelet = Codelet::new(name, "simulated", 0).parameters(parameters.leak());
    Box::leak(Box::new(codelet.kernels(const { &[Some(Kernel::new("none", |_| {}))] })))
}

/// What a task takes on a kind of worker.
fn speed_of(speed: &Speed, task: &RecordedTask) -> CodeletSpeed {
    let us = speed.us(&task.speed, &task.footprint, task.flops, task.bytes);
    let own = speed.codelets.get(&task.speed);
    CodeletSpeed {
        us,
        absent: us.is_none(),
        co_running: own.and_then(|own| own.co_running),
        variation: own.and_then(|own| own.variation),
        ..CodeletSpeed::default()
    }
}
