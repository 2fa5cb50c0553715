//! Lets tasks read elements where they were before others moved them, and leaves out moves that undo each other.
//!
//! Some operations only move elements: permutations, transposes, slices, copies. Their declarations say from where
//! (`moves = ..`): element `i` of the output is that of the input at an offset plus `i` times strides. So what a second move
//! takes from the output of a first one, it can take from the input of that, at strides that are composed of both. It moves the
//! same elements, so the bits are the same. If the composed strides are those of the whole array in order, its output is that array,
//! and whoever reads the output reads the array. A map may read a slice where it was if its rows stay contiguous: it computes
//! each element from one element of each input, wherever that is. (A product may not: the strides of its factors order its sums.)
//!
//! A concatenation copies arrays into parts of one. A slice of it that lies within one part is a slice of what was copied there.
//! A concatenation of all slices of an array, each at its old place, is that array.
//!
//! All that holds as long as the array that is read in place of another has its value: it is never written after the move, and is
//! in no parts; and a part is what was copied there only if nothing else changes it between its split and its join. Tasks whose outputs nobody reads any more are left to the pass that removes dead tasks.

use std::collections::{HashMap, HashSet};

use dahl_core::__program::{Moved, StepKind, TaskDesc, is_map, moved, reading};

use crate::graph::{Graph, Origin, Task};

/// A map reads rows in place if they have at least so many elements: its kernel is called for each.
const LEAST_ROW: usize = 64;

/// Where the elements of an array come from.
#[derive(Clone, Debug)]
struct Source {
    array: usize,
    /// The extents of the array whose elements these are.
    extents: Vec<usize>,
    from: Moved,
}

/// A part of a concatenation.
struct Piece {
    /// Its first index along each axis of the whole, and its extents.
    first: Vec<usize>,
    extents: Vec<usize>,
    /// What was copied there.
    source: Source,
}

/// The strides of an array in row-major order.
fn strides_of(extents: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = strides[axis] * extents[axis];
    }
    strides
}

/// The indices of an element of an array with these extents.
fn indices_of(mut element: usize, extents: &[usize]) -> Vec<usize> {
    let strides = strides_of(extents);
    let index = |stride: &usize| {
        let index = element.checked_div(*stride).unwrap_or(0);
        element -= index * stride;
        index
    };
    strides.iter().map(index).collect()
}

/// The axis of the input along which each axis of the output goes; none for one of one index.
fn axes_of(moved: &Moved, out: &[usize], input: &[usize]) -> Option<Vec<Option<usize>>> {
    let strides = strides_of(input);
    let axis = |(&extent, stride): (&usize, &usize)| {
        if extent == 1 {
            return Some(None);
        }
        (0..input.len()).find(|&axis| input[axis] > 1 && strides[axis] == *stride).map(Some)
    };
    out.iter().zip(&moved.strides).map(axis).collect()
}

impl Source {
    /// An array itself.
    fn of(array: usize, extents: &[usize]) -> Self {
        let from = Moved { strides: strides_of(extents), offset: 0 };
        Self { array, extents: extents.to_vec(), from }
    }

    /// Where what is moved from here, to an array of extents `out`, comes from.
    fn then(&self, moved: &Moved, out: &[usize]) -> Option<Self> {
        let axes = axes_of(moved, out, &self.extents)?;
        let first = indices_of(moved.offset, &self.extents);
        // The largest index along each axis: a move that goes from one row into the next one is not along axes.
        let mut last = first.clone();
        for (axis, &extent) in axes.iter().zip(out) {
            if let Some(axis) = axis {
                last[*axis] += extent.saturating_sub(1);
            }
        }
        if !out.contains(&0) && last.iter().zip(&self.extents).any(|(last, extent)| last >= extent) {
            return None;
        }
        let strides = axes.iter().map(|axis| axis.map_or(0, |axis| self.from.strides[axis])).collect();
        let ahead: usize = first.iter().zip(&self.from.strides).map(|(index, stride)| index * stride).sum();
        let from = Moved { strides, offset: self.from.offset + ahead };
        Some(Self { array: self.array, extents: out.to_vec(), from })
    }

    /// Whether the elements are in order, from the first one on.
    fn is_in_order(&self) -> bool {
        let strides = strides_of(&self.extents);
        let mut axes = self.extents.iter().zip(&strides).zip(&self.from.strides);
        self.from.offset == 0 && axes.all(|((&extent, stride), own)| extent == 1 || stride == own)
    }
}

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let values = Values::of(graph);
    let mut known: HashMap<usize, Source> = HashMap::new();
    let mut pieces: HashMap<usize, Vec<Piece>> = HashMap::new();
    let mut same: Vec<usize> = (0..graph.arrays.len()).collect();
    let (mut goes, mut notes) = (HashSet::new(), Vec::new());
    for step in 0..graph.tasks.len() {
        if matches!(graph.tasks[step].kind, StepKind::Task(_) | StepKind::Flow(_)) {
            for access in graph.tasks[step].uses.iter_mut().filter(|access| !access.writes) {
                access.array = access.array.map(|array| same[array]);
            }
        }
        if let StepKind::Join(false) = graph.tasks[step].kind {
            let Some((whole, found)) = values.pieces(graph, step, &known) else { continue };
            if let Some(array) = is_whole_again(graph, whole, &found) {
                same[whole] = array;
                notes.push(format!(
                    "the parts that are joined at {} are an array already",
                    graph.tasks[step].location
                ));
            }
            pieces.insert(whole, found);
            continue;
        }
        let task = &graph.tasks[step];
        let what = format!("{} of {}", task.codelet(), task.location);
        let Some(desc) = task.desc() else { continue };
        if is_map(desc) {
            while let Some((index, desc)) = reads_in_place(&graph.tasks[step], &known) {
                let task = &mut graph.tasks[step];
                task.uses[index].array = task.uses[index].array.map(|array| known[&array].array);
                task.kind = StepKind::Task(Box::new(desc));
                notes.push(format!("{what} reads a slice where it was"));
            }
            continue;
        }
        let Some((own, [input, output])) = moved(desc).zip(values.of_move(graph, task)) else { continue };
        let extents = [0, 1].map(|index| desc.accesses().nth(index).map(|access| access.extents().to_vec()));
        let [Some(read), Some(written)] = extents else { continue };
        let in_piece = || {
            let pieces = pieces.get(&input).filter(|_| graph.arrays[input].extents == read)?;
            pieces.iter().find_map(|piece| piece.of(&own, &read, &written))
        };
        let before = known.get(&input).filter(|source| source.extents == read);
        let from = match before {
            Some(source) => source.then(&own, &written),
            None if values.is_stable(input, step) => Source::of(input, &read).then(&own, &written),
            None => in_piece(),
        };
        let from = from.or_else(in_piece);
        let Some(from) = from.filter(|from| values.is_stable(from.array, step)) else {
            if known.contains_key(&input) || pieces.contains_key(&input) {
                notes.push(format!(
                    "{what} stays: it is of several parts, or not along axes of what was moved"
                ));
            }
            continue;
        };
        let [whole, made] = [from.array, output].map(|array| &graph.arrays[array]);
        if from.is_in_order()
            && whole.bytes == made.bytes
            && whole.element == made.element
            && made.is_temporary()
        {
            same[output] = from.array;
            goes.insert(step);
            notes.push(format!("{what} gives an array that is there"));
            continue;
        }
        if let Some(source) = before.filter(|_| from.array != input).cloned() {
            let desc = reading(desc, 0, &source.from.strides, source.from.offset);
            let task = &mut graph.tasks[step];
            task.uses[0].array = Some(source.array);
            task.kind = StepKind::Task(Box::new(desc));
            notes.push(format!("{what} reads what another task has moved where it was"));
        }
        known.insert(output, from);
    }
    let mut step = 0;
    graph.tasks.retain(|_| {
        step += 1;
        !goes.contains(&(step - 1))
    });
    notes
}

/// A map that reads one of its inputs where it was, with the number of the access.
fn reads_in_place(task: &Task, known: &HashMap<usize, Source>) -> Option<(usize, TaskDesc)> {
    let desc = task.desc()?;
    desc.accesses().zip(&task.uses).enumerate().find_map(|(index, (access, used))| {
        let source = used.array.filter(|_| !used.writes).and_then(|array| known.get(&array))?;
        let has_rows = source.extents.last().is_some_and(|&extent| extent >= LEAST_ROW)
            && source.from.strides.last() == Some(&1);
        // Not a second time: what an array is moved from says nothing about other strides.
        let is_alike = source.extents == access.extents() && access.is_in_order();
        (has_rows && is_alike)
            .then(|| (index, reading(desc, index, &source.from.strides, source.from.offset)))
    })
}

/// The array that a concatenation is, if its parts are all of that, at their old places.
fn is_whole_again(graph: &Graph, whole: usize, pieces: &[Piece]) -> Option<usize> {
    let array = pieces.first()?.source.array;
    let [whole, other] = [whole, array].map(|array| &graph.arrays[array]);
    let strides = pieces.first()?.source.from.strides.clone();
    let is_there = |piece: &Piece| {
        let place: usize = piece.first.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
        piece.source.array == array && piece.source.from == Moved { strides: strides.clone(), offset: place }
    };
    let is_all = whole.bytes == other.bytes && whole.element == other.element && whole.is_temporary();
    (is_all && strides_of(&whole.extents) == strides && pieces.iter().all(is_there)).then_some(array)
}

impl Piece {
    /// What is moved out of this part of a whole.
    fn of(&self, moved: &Moved, whole: &[usize], out: &[usize]) -> Option<Source> {
        let axes = axes_of(moved, out, whole)?;
        let first = indices_of(moved.offset, whole);
        let extent = |axis: usize| {
            let along = axes.iter().position(|own| *own == Some(axis));
            along.map_or(1, |along| out[along])
        };
        let is_inside = (0..whole.len()).all(|axis| {
            let end = self.first[axis] + self.extents[axis];
            self.first[axis] <= first[axis] && first[axis] + extent(axis) <= end
        });
        if !is_inside || whole.len() != self.first.len() {
            return None;
        }
        let own = strides_of(&self.extents);
        let ahead =
            first.iter().zip(&self.first).zip(&own).map(|((index, first), stride)| (index - first) * stride);
        let strides = axes.iter().map(|axis| axis.map_or(0, |axis| own[axis])).collect();
        self.source.then(&Moved { strides, offset: ahead.sum() }, out)
    }
}

/// Which arrays keep a value.
struct Values {
    /// Of each array: the steps that write it.
    writers: Vec<Vec<usize>>,
    is_divided: Vec<bool>,
}

impl Values {
    fn of(graph: &Graph) -> Self {
        let mut writers = vec![Vec::new(); graph.arrays.len()];
        for (step, task) in graph.tasks.iter().enumerate() {
            task.writes().for_each(|array| writers[array].push(step));
        }
        let mut is_divided = vec![false; graph.arrays.len()];
        for (number, array) in graph.arrays.iter().enumerate() {
            is_divided[number] |= array.part.is_some();
            if let Origin::Part(whole) = array.origin {
                (is_divided[number], is_divided[whole]) = (true, true);
            }
        }
        Self { writers, is_divided }
    }

    /// Whether an array is a whole one that has its last value before a step.
    fn is_stable(&self, array: usize, step: usize) -> bool {
        !self.is_divided[array]
            && self.writers[array].len() <= 1
            && self.writers[array].iter().all(|&writer| writer < step)
    }

    /// The input and the output of a task that moves elements to an array of its own, all of which it writes.
    fn of_move(&self, graph: &Graph, task: &Task) -> Option<[usize; 2]> {
        let [input, output] = [task.uses.first()?.array?, task.uses.get(1)?.array?];
        let elements: usize = task.desc()?.accesses().nth(1)?.extents().iter().product();
        let is_all = elements * graph.arrays[output].element.size_bytes == graph.arrays[output].bytes;
        let is_read_in_order = task.desc()?.accesses().next()?.is_in_order();
        let is_own = !self.is_divided[output] && self.writers[output].len() == 1;
        (is_own && is_all && is_read_in_order && !task.varies() && input != output).then_some([input, output])
    }

    /// The array that a step joins, and its parts, if each is a copy of an array that keeps its value, and nobody writes the joined
    /// one otherwise.
    fn pieces(
        &self,
        graph: &Graph,
        step: usize,
        known: &HashMap<usize, Source>,
    ) -> Option<(usize, Vec<Piece>)> {
        let (whole, parts) = graph.tasks[step].uses.split_first()?;
        let whole = whole.array.filter(|&whole| graph.arrays[whole].part.is_none())?;
        let is_split = |&writer: &usize| matches!(graph.tasks[writer].kind, StepKind::Split(false));
        let [before, after] = self.writers[whole][..] else { return None };
        if after != step || !is_split(&before) {
            return None;
        }
        let piece = |part: usize| {
            let place = graph.arrays[part].part?;
            // Nothing else changes it between the split and the join: no branch or loop, no partition of its own.
            let mut others =
                self.writers[part].iter().copied().filter(|&writer| writer != before && writer != step);
            let (Some(copy), None) = (others.next(), others.next()) else { return None };
            let task = &graph.tasks[copy];
            let desc = task.desc()?;
            let extents = desc.accesses().next()?.extents().to_vec();
            let own = moved(desc)?;
            let strides: Vec<usize> = place.strides().iter().map(|&stride| stride as usize).collect();
            let is_placed = strides == strides_of(&graph.arrays[whole].extents);
            let is_copy = is_placed
                && Source::of(part, &extents).then(&own, &extents)?.is_in_order()
                && place.extents() == extents;
            let array = task.uses[0].array.filter(|_| is_copy && !task.varies())?;
            let source = known.get(&array).filter(|source| source.extents == extents).cloned();
            let source = source.unwrap_or_else(|| Source::of(array, &extents));
            self.is_stable(source.array, copy).then(|| Piece {
                first: indices_of(place.offset(), &graph.arrays[whole].extents),
                extents,
                source,
            })
        };
        let pieces: Option<Vec<Piece>> = parts.iter().map(|part| piece(part.array?)).collect();
        let pieces = pieces?;
        let elements: usize = pieces.iter().map(|piece| piece.extents.iter().product::<usize>()).sum();
        let is_all = elements * graph.arrays[whole].element.size_bytes == graph.arrays[whole].bytes
            && pieces.iter().all(|piece| piece.extents.len() == graph.arrays[whole].extents.len());
        is_all.then_some((whole, pieces))
    }
}
