//! Checks the steps of an instance, so that no pass and no plan above can break memory: what it proves is what
//! [`Instance`](super::Instance) relies on.

use std::collections::{HashMap, HashSet};

use super::array_spec::{ArraySpec, Begins, Place};
use super::bodies;
use super::step_kind::StepKind;
use super::steps::Step;
use crate::access::AccessMode;
use crate::description::TaskDesc;
use crate::element::ElementType;
use crate::graph::{PartOf, span};

/// Whether the steps may run on the arrays in any order that they allow.
///
/// # Errors
/// What is wrong: a step that does not fit its arrays, two steps on one array, on an array and a part of it, or on two
/// arrays that share memory, of which neither comes after the other, an order with a circle, an array that shares its
/// place and keeps a value, or a change of one that gets its value once.
pub(super) fn check(arrays: &[ArraySpec], bytes: usize, steps: &[Step]) -> Result<(), String> {
    for (number, step) in steps.iter().enumerate() {
        check_step(arrays, step).map_err(|fact| format!("step {number}: {fact}"))?;
        if step.after.iter().any(|&after| after as usize <= number || after as usize >= steps.len()) {
            return Err(format!("step {number} comes before one that is not later"));
        }
    }
    let mut order = Order::new(steps);
    let mut ordered: Vec<Uses> = arrays.iter().map(|_| Uses::default()).collect();
    let mut open = Open::default();
    let bound = arrays.iter().filter_map(|array| match array.place {
        Place::Bound(index) => Some(index),
        Place::At(_) | Place::Part(_) => None,
    });
    let mut numbers: Vec<_> = bound.collect();
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(0..numbers.len()) {
        return Err("arrays are not bound to one each, without a gap".to_owned());
    }
    for (number, step) in steps.iter().enumerate() {
        open.step(arrays, step).map_err(|fact| format!("step {number}: {fact}"))?;
        for (array, writes) in uses(step) {
            if writes && arrays[array].begins == Begins::Placed {
                return Err(format!("step {number} changes array {array}, which gets its value once"));
            }
            ordered[array].add(&mut order, number, writes).map_err(|earlier| {
                format!("steps {earlier} and {number} use array {array}, and neither comes after the other")
            })?;
        }
    }
    check_places(arrays, bytes, &mut order, steps)
}

/// The arrays that a step uses, and whether it changes each.
pub(super) fn uses(step: &Step) -> impl Iterator<Item = (usize, bool)> {
    let writes = |index: usize| match &step.kind {
        StepKind::Task(desc) => !desc.access(index).mode.is_shared(),
        StepKind::Split(shared) | StepKind::Join(shared) => index > 0 || !shared,
        StepKind::Forget => true,
        StepKind::Flow(_) => step.bodies.iter().any(|body| body.changes(index)),
    };
    step.arrays.iter().enumerate().filter_map(move |(index, array)| Some(((*array)?, writes(index))))
}

fn check_step(arrays: &[ArraySpec], step: &Step) -> Result<(), String> {
    if let Some(array) = step.arrays.iter().flatten().find(|&&array| array >= arrays.len()) {
        return Err(format!("there is no array {array}"));
    }
    if let StepKind::Task(desc) = &step.kind
        && desc.accesses().len() != step.arrays.len()
    {
        return Err("it has other arrays than its description".to_owned());
    }
    let arguments = match &step.kind {
        StepKind::Task(desc) => desc.arguments().len(),
        StepKind::Split(_) | StepKind::Join(_) | StepKind::Forget | StepKind::Flow(_) => 0,
    };
    let mut patched: Vec<_> = step.varying.iter().map(|varying| varying.patched(arguments)).collect();
    patched.sort_unstable_by_key(|range| range.start);
    let is_inside = patched.iter().all(|range| range.start <= range.end && range.end <= arguments);
    let is_apart = patched.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if !(is_inside && is_apart && step.varying.iter().all(|varying| varying.fits(arguments))) {
        return Err("plain arguments that vary are not among its arguments, or overlap".to_owned());
    }
    let mut seen: Vec<(usize, bool)> = Vec::new();
    for (array, writes) in uses(step) {
        if seen.iter().any(|&(other, other_writes)| other == array && (writes || other_writes)) {
            return Err(format!("it changes array {array}, which it uses twice"));
        }
        seen.push((array, writes));
    }
    match &step.kind {
        StepKind::Task(desc) => check_task(arrays, step, desc),
        StepKind::Forget if step.arrays.len() == 1 && step.arrays[0].is_some() => Ok(()),
        StepKind::Split(_) | StepKind::Join(_) if step.arrays.iter().all(Option::is_some) => {
            let Some((Some(whole), parts)) = step.arrays.split_first() else {
                return Err("it has no whole array".to_owned());
            };
            let whole = &arrays[*whole];
            parts.iter().flatten().try_for_each(|&part| fits_whole(whole, &arrays[part]))
        }
        StepKind::Flow(flow) => bodies::check(arrays, step, *flow),
        _ => Err("it has other arrays than it needs".to_owned()),
    }
}

/// A part is inside of its whole array. (A part of a part is placed in the buffer of the outermost array.)
fn fits_whole(whole: &ArraySpec, part: &ArraySpec) -> Result<(), String> {
    let Place::Part(place) = part.place else {
        return Err("one of the parts is an array of its own".to_owned());
    };
    let (begin, span) = place.span();
    let end = match whole.place {
        Place::Part(of) => of.span().0 + of.span().1,
        Place::Bound(_) if whole.part.is_some() => whole.part.map_or(0, |of| of.span().0 + of.span().1),
        Place::Bound(_) | Place::At(_) => whole.bytes / whole.element.size_bytes.max(1),
    };
    if part.element != whole.element || (span > 0 && begin + span > end) {
        return Err("a part is not inside of its whole array".to_owned());
    }
    Ok(())
}

fn check_task(arrays: &[ArraySpec], step: &Step, desc: &TaskDesc) -> Result<(), String> {
    if desc.codelet_if_any().is_none() {
        return Err("it has no codelet".to_owned());
    }
    for (index, (array, access)) in step.arrays.iter().zip(desc.accesses()).enumerate() {
        let Some(array) = array else {
            if access.mode != AccessMode::SCRATCH {
                return Err(format!("access {index} has no array"));
            }
            continue;
        };
        let (array, layout) = (&arrays[*array], &access.layout);
        let element = desc.element_of(index);
        let is_there =
            access.mode != AccessMode::SCRATCH && element.is_some_and(|element| array.holds(element));
        // A buffer of a reduction is contiguous, even if the array of the reduction is a strided part.
        let is_buffer = matches!(access.mode, AccessMode::REDUX(_)) || desc.is_combination();
        let fits = match (array.place, array.part) {
            // The array of a reduction gets its total wherever it is.
            (place, part) if is_buffer => {
                let is_own = !matches!(place, Place::Part(_)) && part.is_none();
                let is_target = index == 0 && desc.is_last_of_reduction();
                let len = array.bytes / array.element.size_bytes.max(1);
                if is_target { layout.len() == len } else { is_own && layout.len() <= len }
            }
            (Place::Part(part), _) | (Place::Bound(_), Some(part)) => {
                let ((begin, len), (own_begin, own_len)) = (part.span(), span(layout));
                let is_inside = own_begin >= begin && own_begin + own_len <= begin + len;
                let is_contiguous = part.layout.is_contiguous() && layout.is_contiguous();
                own_len == 0 || layout.is_same(&part.layout) || is_contiguous && is_inside
            }
            _ => {
                let (begin, len) = span(layout);
                begin + len <= array.bytes / array.element.size_bytes.max(1)
            }
        };
        if !(is_there && fits) {
            return Err(format!("access {index} does not fit its array"));
        }
    }
    Ok(())
}

impl ArraySpec {
    fn holds(&self, element: ElementType) -> bool {
        self.element == element
    }
}

/// The partitions that have begun and not ended: by their numbers, with the whole array.
#[derive(Default)]
struct Open {
    groups: HashMap<u64, usize>,
    /// Of each whole array: how many partitions are open, and whether their parts are only read.
    wholes: HashMap<usize, (usize, bool)>,
}

impl Open {
    /// Requires that a step uses parts only while their partition is open, and whole arrays only while they are not in parts
    /// that may change.
    fn step(&mut self, arrays: &[ArraySpec], step: &Step) -> Result<(), String> {
        let parts = || step.arrays[1..].iter().flatten().map(|&part| (part, arrays[part].place));
        match &step.kind {
            StepKind::Split(shared) => {
                let whole = step.arrays[0].expect("checked");
                self.require_usable(arrays, whole, !shared)?;
                let group = Self::group(*shared, parts())?;
                let open = self.wholes.entry(whole).or_insert((0, true));
                *open = (open.0 + 1, *shared);
                match group.map(|group| self.groups.insert(group, whole)) {
                    Some(Some(_)) => Err("the partition is open already".to_owned()),
                    _ => Ok(()),
                }
            }
            StepKind::Join(shared) => {
                let whole = step.arrays[0].expect("checked");
                let group = Self::group(*shared, parts())?;
                if let Some((part, _)) = parts().find(|(part, _)| self.wholes.contains_key(part)) {
                    return Err(format!("array {part} is in parts itself"));
                }
                if let Some(group) = group
                    && self.groups.remove(&group) != Some(whole)
                {
                    return Err("the partition is not open".to_owned());
                }
                match self.wholes.get_mut(&whole) {
                    Some((1, _)) => drop(self.wholes.remove(&whole)),
                    Some((count, _)) => *count -= 1,
                    None => return Err("no partition is open".to_owned()),
                }
                Ok(())
            }
            _ => uses(step).try_for_each(|(array, writes)| self.require_usable(arrays, array, writes)),
        }
    }

    /// The one partition that all these parts are of, each once.
    fn group(shared: bool, parts: impl Iterator<Item = (usize, Place)>) -> Result<Option<u64>, String> {
        let (mut group, mut seen) = (None, HashSet::new());
        for (_, place) in parts {
            let Place::Part(part) = place else { return Err("a part is an array of its own".to_owned()) };
            let is_same = *group.get_or_insert(part.group) == part.group;
            if !(is_same && part.group != 0 && part.shared == shared && seen.insert(part.index)) {
                return Err("its parts are not those of one partition".to_owned());
            }
        }
        Ok(group)
    }

    fn require_usable(&self, arrays: &[ArraySpec], array: usize, writes: bool) -> Result<(), String> {
        if let Place::Part(PartOf { group, shared, .. }) = arrays[array].place
            && (!self.groups.contains_key(&group) || shared && writes)
        {
            return Err(format!("array {array} is a part whose partition is not open, or only read"));
        }
        match self.wholes.get(&array) {
            Some((_, shared)) if writes || !shared => Err(format!("array {array} is in parts")),
            _ => Ok(()),
        }
    }
}

/// The last uses of an array.
#[derive(Default)]
struct Uses {
    writer: Option<usize>,
    readers: Vec<usize>,
}

impl Uses {
    /// Adds a use; the earlier step that it should come after, and does not.
    fn add(&mut self, order: &mut Order<'_>, step: usize, writes: bool) -> Result<(), usize> {
        let before = self.writer.iter().chain(self.readers.iter().filter(|_| writes));
        if let Some(&earlier) = before.clone().find(|&&earlier| !order.is_after(step, earlier)) {
            return Err(earlier);
        }
        if writes {
            self.readers.clear();
            self.writer = Some(step);
        } else {
            self.readers.push(step);
        }
        Ok(())
    }
}

/// Arrays in one place: all steps on the later one come after all on the earlier one.
fn check_places(
    arrays: &[ArraySpec],
    bytes: usize,
    order: &mut Order<'_>,
    steps: &[Step],
) -> Result<(), String> {
    let mut used: HashMap<usize, Vec<usize>> = HashMap::new();
    // A use of a part is one of its whole array.
    let mut whole_of: HashMap<usize, usize> = HashMap::new();
    for (number, step) in steps.iter().enumerate() {
        if let (StepKind::Split(_), [Some(whole), parts @ ..]) = (&step.kind, &step.arrays[..]) {
            whole_of.extend(parts.iter().flatten().map(|&part| (part, *whole)));
        }
        for (array, _) in uses(step) {
            let mut next = Some(array);
            while let Some(array) = next {
                used.entry(array).or_default().push(number);
                next = whole_of.get(&array).copied();
            }
        }
    }
    let mut placed: Vec<(usize, usize, usize)> = Vec::new();
    for (array, spec) in arrays.iter().enumerate() {
        let Place::At(begin) = spec.place else { continue };
        if begin.checked_add(spec.bytes).is_none_or(|end| end > bytes)
            || begin % crate::memory::ALIGN_BYTES != 0
        {
            return Err(format!("array {array} is outside of the block, or not aligned"));
        }
        if spec.bytes > 0 {
            placed.push((begin, begin + spec.bytes, array));
        }
    }
    placed.sort_unstable();
    for (position, &(_, end, array)) in placed.iter().enumerate() {
        for &(_, _, other) in placed[position + 1..].iter().take_while(|(begin, ..)| *begin < end) {
            let keeps =
                |array: usize| arrays[array].begins != Begins::Unset || arrays[array].initial.is_some();
            let nothing = Vec::new();
            let [one, two] = [array, other].map(|array| used.get(&array).unwrap_or(&nothing));
            let mut precedes = |earlier: &[usize], later: &[usize]| {
                later.iter().all(|&later| earlier.iter().all(|&earlier| order.is_after(later, earlier)))
            };
            if keeps(array) || keeps(other) || !(precedes(one, two) || precedes(two, one)) {
                return Err(format!("arrays {array} and {other} share memory, and their uses overlap"));
            }
        }
    }
    Ok(())
}

/// Which steps come after which.
struct Order<'s> {
    steps: &'s [Step],
    /// For the last earlier step that was asked about: whether each later step comes after it.
    reached: HashMap<usize, Vec<u64>>,
}

impl<'s> Order<'s> {
    fn new(steps: &'s [Step]) -> Self {
        Self { steps, reached: HashMap::new() }
    }

    /// Whether step `later` comes after step `earlier`.
    fn is_after(&mut self, later: usize, earlier: usize) -> bool {
        if later <= earlier {
            return false;
        }
        if self.steps[earlier].after.contains(&(later as u32)) {
            return true;
        }
        let steps = self.steps;
        let reached = self.reached.entry(earlier).or_insert_with(|| {
            let mut reached = vec![0_u64; (steps.len() - earlier).div_ceil(64)];
            reached[0] |= 1;
            for step in earlier..steps.len() {
                if reached[(step - earlier) / 64] >> ((step - earlier) % 64) & 1 == 1 {
                    for &after in &steps[step].after {
                        let index = after as usize - earlier;
                        reached[index / 64] |= 1 << (index % 64);
                    }
                }
            }
            reached
        });
        let index = later - earlier;
        reached[index / 64] >> (index % 64) & 1 == 1
    }
}
