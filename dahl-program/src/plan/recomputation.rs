//! [`recompute`]: an array that is read again long after it was made does not keep its memory in between. The tasks that made
//! it run again before the later reader, and write another array.
//!
//! # Why the bits are the same
//!
//! A task that runs again has the kernel, the plain arguments and the layouts of the first time, and each of its inputs has the
//! value of the first time: an array that no step has changed in between, or one that is computed again too. A kernel is a
//! function of its inputs and its arguments, random numbers included. So the new array has the bits of the old one, and from
//! the later reader on all steps use the new one. Only tasks that write whole arrays which the program makes, never in parts,
//! run again; what such a task writes is a new array each time, so nobody else sees it.
//!
//! # Which ones
//!
//! The *excess* of an order of the steps is what is in use above the limit, added up over the steps. As long as there is one,
//! look at the step at which the most memory is in use. Each array that is only kept there for a later reader is a candidate,
//! in two ways: with its own tasks, and those of inputs that have changed since, or also with those of all inputs that nobody else
//! needs any more. The promise of a candidate is that of Kirisame et al., "Dynamic Tensor Rematerialization" (2021): bytes times
//! the steps for which they are not kept, by the work. Of those with the most promise, the one is taken that lowers the excess the
//! most for the work that it repeats. The choice is greedy, not optimal.

use std::collections::BTreeSet;

use dahl_core::__program::{Initial, work};

use super::demand::ALIGN;
use crate::graph::{Array, Graph, Origin, Task, Use};

/// So many candidates of the most promise are tried, each of which takes a pass over all arrays; more, if none of them helps.
const TRIED: usize = 16;

/// Lets tasks of a graph run again, until at most `limit` bytes are in use at one time in the order of its steps, or nothing
/// lowers what is in use, or there would be more than `most_steps`. A note for each array that is computed again.
pub(crate) fn recompute(graph: &mut Graph, limit: usize, most_steps: usize) -> Vec<String> {
    let mut sketch = Sketch::of(graph);
    let mut again: Vec<(usize, usize, usize)> = Vec::new();
    while let Some(candidate) = sketch.best(limit, most_steps) {
        let Candidate { array, reader, again: steps, .. } = &candidate;
        again.push((sketch.arrays[*array].source, sketch.steps[*reader].source, steps.len()));
        sketch = sketch.with(&candidate);
    }
    let note = |&(array, reader, steps): &(usize, usize, usize)| {
        let made_by = graph.tasks.iter().find(|task| task.writes().any(|written| written == array));
        let (made_by, reader) = (made_by.expect("a task has made it"), &graph.tasks[reader]);
        let with = match steps - 1 {
            0 => "runs".to_owned(),
            1 => "and one other run".to_owned(),
            others => format!("and {others} others run"),
        };
        format!(
            "{} of {} {with} again for {} of {}: its {} bytes are not kept",
            made_by.codelet(),
            made_by.location,
            reader.codelet(),
            reader.location,
            graph.arrays[array].bytes
        )
    };
    let notes = again.iter().map(note).collect();
    sketch.apply(graph);
    notes
}

/// Bytes that every plan needs, whatever its order and whatever runs again: what one step uses, and what keeps a value.
pub(crate) fn least_bytes(graph: &Graph) -> usize {
    let sketch = Sketch::of(graph);
    let roots = || 0..sketch.arrays.len();
    let kept: usize =
        roots().filter(|&root| sketch.keeps(root)).filter_map(|root| sketch.arrays[root].placed).sum();
    let mut of_steps = vec![0; sketch.steps.len()];
    for root in roots().filter(|&root| !sketch.keeps(root)) {
        sketch.users[root]
            .iter()
            .for_each(|user| of_steps[user.step] += sketch.arrays[root].placed.unwrap_or(0));
    }
    kept + of_steps.into_iter().max().unwrap_or(0)
}

/// What is in use above the limit, added up over the steps.
fn excess(in_use: &[usize], limit: usize) -> u128 {
    in_use.iter().map(|bytes| bytes.saturating_sub(limit) as u128).sum()
}

/// The steps of a graph in their order, without what they do, so that a change is cheap to try.
struct Sketch {
    steps: Vec<SketchedStep>,
    arrays: Vec<SketchedArray>,
    /// Of each array that is no part: the steps that use it or a part of it, in order.
    users: Vec<Vec<User>>,
}

#[derive(Clone)]
struct SketchedStep {
    /// Its number in the graph.
    source: usize,
    uses: Vec<Use>,
    /// The work of running it again; none if it cannot.
    work: Option<f64>,
}

#[derive(Clone, Copy)]
struct SketchedArray {
    /// Its number in the graph.
    source: usize,
    /// The array that it is in the end a part of; otherwise itself.
    root: usize,
    /// Its bytes in the block; none if the program does not make it.
    placed: Option<usize>,
    is_constant: bool,
    /// Whether it is never in parts, and only the program sees it.
    is_whole: bool,
}

struct User {
    step: usize,
    reads: bool,
    writes: bool,
}

/// An array that is computed again for a reader, by these steps.
struct Candidate {
    array: usize,
    reader: usize,
    again: BTreeSet<usize>,
    /// The work of these steps, at least 1.
    work: f64,
    /// About the value of it: the bytes that are not kept, times the steps for which they are not, by the work.
    promise: f64,
}

/// The steps of a candidate, with the arrays that they write anew: these have the next numbers, and are as the arrays of `new`.
struct Copies {
    steps: Vec<SketchedStep>,
    new: Vec<usize>,
}

impl Sketch {
    fn of(graph: &Graph) -> Self {
        let mut is_divided = vec![false; graph.arrays.len()];
        for (number, array) in graph.arrays.iter().enumerate() {
            if let Origin::Part(whole) = array.origin {
                (is_divided[number], is_divided[whole]) = (true, true);
            }
        }
        let arrays = graph.arrays.iter().enumerate().map(|(source, array)| SketchedArray {
            source,
            root: graph.root(source),
            placed: array.is_temporary().then(|| array.bytes.next_multiple_of(ALIGN)),
            is_constant: array.initial != Initial::Zeros,
            is_whole: array.is_temporary() && !is_divided[source],
        });
        let steps = graph.tasks.iter().enumerate();
        let steps = steps.map(|(source, task)| SketchedStep {
            source,
            uses: task.uses.clone(),
            work: work_again(task),
        });
        Self::new(steps.collect(), arrays.collect())
    }

    fn new(steps: Vec<SketchedStep>, arrays: Vec<SketchedArray>) -> Self {
        let mut users: Vec<Vec<User>> = arrays.iter().map(|_| Vec::new()).collect();
        for (step, sketched) in steps.iter().enumerate() {
            for access in &sketched.uses {
                let Some(array) = access.array else { continue };
                let users = &mut users[arrays[array].root];
                match users.last_mut().filter(|user| user.step == step) {
                    Some(user) => {
                        user.reads |= access.reads;
                        user.writes |= access.writes;
                    }
                    None => users.push(User { step, reads: access.reads, writes: access.writes }),
                }
            }
        }
        Self { steps, arrays, users }
    }

    /// Whether an array has a value before the first step, and so keeps its place.
    fn keeps(&self, root: usize) -> bool {
        let begins = self.users[root].first().is_some_and(|user| user.reads);
        self.arrays[root].placed.is_some() && (self.arrays[root].is_constant || begins)
    }

    /// The last step before `end` that changes an array, its whole, or a part of it.
    fn last_writer(&self, array: usize, end: usize) -> Option<usize> {
        let users = &self.users[self.arrays[array].root];
        let before = &users[..users.partition_point(|user| user.step < end)];
        before.iter().rfind(|user| user.writes).map(|user| user.step)
    }

    /// The candidate that lowers the excess the most for its work, if there is an excess that one lowers.
    fn best(&self, limit: usize, most_steps: usize) -> Option<Candidate> {
        let in_use = self.in_use(None);
        let before = excess(&in_use, limit);
        let most = in_use.iter().copied().max().filter(|_| before > 0)?;
        let peak = in_use.iter().position(|&bytes| bytes == most)?;
        let may_add = most_steps.saturating_sub(self.steps.len());
        let mut candidates = self.candidates(peak);
        candidates.retain(|candidate| candidate.again.len() <= may_add);
        candidates.sort_by(|one, other| other.promise.total_cmp(&one.promise));
        let mut best: Option<(f64, Candidate)> = None;
        for (index, candidate) in candidates.into_iter().enumerate() {
            if index >= TRIED && best.is_some() {
                break;
            }
            let lowered = before.saturating_sub(excess(&self.in_use(Some(&candidate)), limit));
            let value = lowered as f64 / candidate.work;
            if lowered > 0 && best.as_ref().is_none_or(|(most, _)| value > *most) {
                best = Some((value, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// The arrays that are kept at a step only for a later reader, with the steps that compute them again.
    fn candidates(&self, step: usize) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (array, users) in self.users.iter().enumerate() {
            let next = users.partition_point(|user| user.step < step);
            let is_kept_for = |user: &&User| user.step > step && user.reads && next > 0;
            let Some(reader) = users.get(next).filter(is_kept_for).map(|user| user.step) else { continue };
            if !self.arrays[array].is_whole || self.keeps(array) {
                continue;
            }
            let alone = self.again(array, reader, false);
            let with_inputs = self.again(array, reader, true).filter(|again| Some(again) != alone.as_ref());
            let (bytes, kept) = (self.arrays[array].placed.unwrap_or(0), reader - users[next - 1].step);
            candidates.extend([alone, with_inputs].into_iter().flatten().map(|again| {
                let work = again.iter().filter_map(|&step| self.steps[step].work).sum::<f64>().max(1.0);
                Candidate { array, reader, again, work, promise: (bytes * kept) as f64 / work }
            }));
        }
        candidates
    }

    /// The steps that compute `array` again before `reader`, with those of inputs that have changed since; with `inputs`, also those
    /// of inputs that nobody else needs any more, where that is possible. None if it cannot be computed again.
    fn again(&self, array: usize, reader: usize, inputs: bool) -> Option<BTreeSet<usize>> {
        let mut again = BTreeSet::new();
        let mut wanted = vec![self.last_writer(array, reader)?];
        while let Some(step) = wanted.pop() {
            if !again.insert(step) {
                continue;
            }
            self.steps[step].work?;
            for access in &self.steps[step].uses {
                let Some(used) = access.array else { continue };
                let SketchedArray { is_whole, root, .. } = self.arrays[used];
                if access.writes && !is_whole {
                    return None;
                }
                if !access.reads {
                    continue;
                }
                let writer = self.last_writer(used, step);
                let has_changed = access.writes || self.last_writer(used, reader) != writer;
                let is_gone = || self.users[root].last().is_some_and(|user| user.step < reader);
                let can_run =
                    |writer: &usize| is_whole && !self.keeps(used) && self.steps[*writer].work.is_some();
                match writer.filter(can_run) {
                    Some(writer) if has_changed || inputs && is_gone() => wanted.push(writer),
                    _ if has_changed => return None,
                    _ => {}
                }
            }
        }
        Some(again)
    }

    /// What a candidate adds before its reader.
    fn copies(&self, candidate: &Candidate) -> Copies {
        let mut copies = Copies { steps: Vec::with_capacity(candidate.again.len()), new: Vec::new() };
        for &step in &candidate.again {
            let mut copy = self.steps[step].clone();
            for access in &mut copy.uses {
                let Some(array) = access.array else { continue };
                let is_made_again =
                    self.last_writer(array, step).is_some_and(|writer| candidate.again.contains(&writer));
                if access.writes || is_made_again {
                    let known = copies.new.iter().position(|&other| other == array);
                    let index = known.unwrap_or_else(|| {
                        copies.new.push(array);
                        copies.new.len() - 1
                    });
                    access.array = Some(self.arrays.len() + index);
                }
            }
            copies.steps.push(copy);
        }
        copies
    }

    /// The bytes that are in use at each step, if a candidate is computed again.
    fn in_use(&self, candidate: Option<&Candidate>) -> Vec<usize> {
        let copies = candidate.map(|candidate| (candidate, self.copies(candidate)));
        let added = copies.as_ref().map_or(0, |(_, copies)| copies.steps.len());
        let reader = candidate.map_or(usize::MAX, |candidate| candidate.reader);
        let place = |step: usize| if step >= reader { step + added } else { step };
        let count = self.steps.len() + added;
        let of_users = |(root, users): (usize, &Vec<User>)| match (self.keeps(root), &users[..]) {
            (true, _) => Some((0, count - 1)),
            (false, [first, .., last]) => Some((place(first.step), place(last.step))),
            (false, [only]) => Some((place(only.step), place(only.step))),
            (false, []) => None,
        };
        let mut lifetimes: Vec<Option<(usize, usize)>> =
            self.users.iter().enumerate().map(of_users).collect();
        if let Some((candidate, copies)) = &copies {
            lifetimes.resize(self.arrays.len() + copies.new.len(), None);
            for (index, copy) in copies.steps.iter().enumerate() {
                for array in copy.uses.iter().filter_map(|access| access.array) {
                    let root = self.arrays.get(array).map_or(array, |array| array.root);
                    let step = reader + index;
                    let (_, last) = lifetimes[root].get_or_insert((step, step));
                    *last = (*last).max(step);
                }
            }
            let own = &self.users[candidate.array];
            let before = own[..own.partition_point(|user| user.step < reader)].last();
            let position = copies.new.iter().position(|&array| array == candidate.array);
            let new = self.arrays.len() + position.expect("its writer is copied");
            if let (Some((_, last)), Some(before)) = (&mut lifetimes[candidate.array], before) {
                let end = std::mem::replace(last, before.step);
                lifetimes[new].as_mut().expect("its writer uses it").1 = end;
            }
        }
        let mut change = vec![0_isize; count + 1];
        for (array, lifetime) in lifetimes.into_iter().enumerate() {
            let new = || copies.as_ref().map(|(_, copies)| copies.new[array - self.arrays.len()]);
            let source = self.arrays.get(array).or_else(|| new().map(|array| &self.arrays[array]));
            if let (Some((first, last)), Some(bytes)) = (lifetime, source.and_then(|array| array.placed)) {
                change[first] += bytes as isize;
                change[last + 1] -= bytes as isize;
            }
        }
        let mut bytes = 0;
        let in_use = change[..count].iter().map(|change| {
            bytes += change;
            bytes as usize
        });
        in_use.collect()
    }

    /// The steps with a candidate computed again.
    fn with(self, candidate: &Candidate) -> Self {
        let Copies { steps: copies, new } = self.copies(candidate);
        let Self { mut steps, mut arrays, .. } = self;
        let position = new.iter().position(|&array| array == candidate.array);
        let own = arrays.len() + position.expect("its writer is copied");
        for access in steps[candidate.reader..].iter_mut().flat_map(|step| &mut step.uses) {
            if access.array == Some(candidate.array) {
                access.array = Some(own);
            }
        }
        steps.splice(candidate.reader..candidate.reader, copies);
        for array in new {
            arrays.push(SketchedArray { root: arrays.len(), is_constant: false, ..arrays[array] });
        }
        Self::new(steps, arrays)
    }

    /// Brings a graph, of which this is a changed sketch, to these steps.
    fn apply(self, graph: &mut Graph) {
        for array in &self.arrays[graph.arrays.len()..] {
            // A task writes it, also where the first one overwrites a constant.
            graph.arrays.push(Array { initial: Initial::Zeros, ..graph.arrays[array.source].clone() });
        }
        let task = |step: SketchedStep| Task { uses: step.uses, ..graph.tasks[step.source].clone() };
        graph.tasks = self.steps.into_iter().map(task).collect();
    }
}

/// The floating-point operations and the bytes of running a task again; none if it cannot: only calls of codelets can.
fn work_again(task: &Task) -> Option<f64> {
    let desc = task.desc().filter(|desc| desc.is_plain_call())?;
    let (flops, bytes) = work(desc);
    Some(flops.unwrap_or(0.0) + bytes)
}
