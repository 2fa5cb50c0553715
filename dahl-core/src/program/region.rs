//! Checks of regions: what the bodies of branches and loops share with the steps outside.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;

use super::record::refusal;
use crate::array_id::ArrayId;
use crate::error::Result;
use crate::graph::{LoggedArray, LoggedPartition, LoggedStep};

type Line = &'static Location<'static>;

/// The steps of a recording, with the regions around the one that is looked at.
struct Walk<'a> {
    program: &'static str,
    /// The place of each array, unless it is a part.
    places: HashMap<ArrayId, usize>,
    /// Of each place: the innermost region in which its array was made, as a range of places.
    made_in: Vec<Option<Range<usize>>>,
    /// Of each region around the step, from the outermost on: its arrays, and the partitions that are open in it.
    regions: Vec<(Option<Range<usize>>, Vec<&'a LoggedPartition>)>,
}

/// Requires that what is made in a body is used only there, that a partition begins and ends in one body, and that no number
/// of a body varies.
///
/// # Errors
/// With the line that uses it elsewhere.
pub(super) fn check(steps: &[LoggedStep], arrays: &[LoggedArray], program: &'static str) -> Result<()> {
    if !steps.iter().any(|step| matches!(step, LoggedStep::Flow(_))) {
        return Ok(());
    }
    let whole = arrays.iter().enumerate().filter(|(_, array)| array.part.is_none());
    let mut walk = Walk {
        program,
        places: whole.map(|(place, array)| (array.id, place)).collect(),
        made_in: vec![None; arrays.len()],
        regions: Vec::new(),
    };
    walk.note_regions(steps);
    walk.region(steps, None)
}

impl<'a> Walk<'a> {
    /// Notes in which region each array is made: inner regions come later.
    fn note_regions(&mut self, steps: &[LoggedStep]) {
        for flow in steps.iter().filter_map(LoggedStep::flow) {
            for body in &flow.bodies {
                self.made_in[body.arrays.clone()].fill(Some(body.arrays.clone()));
                self.note_regions(&body.steps);
            }
        }
    }

    fn region(&mut self, steps: &'a [LoggedStep], arrays: Option<Range<usize>>) -> Result<()> {
        let is_inside = arrays.is_some();
        self.regions.push((arrays, Vec::new()));
        for step in steps {
            self.step(step, is_inside)?;
        }
        let (_, open) = self.regions.pop().expect("it was added");
        match open.first() {
            Some(partition) if is_inside => Err(self.crosses(partition.location)),
            _ => Ok(()),
        }
    }

    fn step(&mut self, step: &'a LoggedStep, is_inside: bool) -> Result<()> {
        let open = &mut self.regions.last_mut().expect("a region is looked at").1;
        match step {
            LoggedStep::Task { desc, arrays, slot } => {
                if slot.is_some() && is_inside {
                    let fact =
                        "a body uses numbers that vary from call to call, such as those of an optimizer; \
                                use them outside"
                            .to_owned();
                    return Err(refusal(self.program, fact, desc.location()));
                }
                arrays.iter().flatten().try_for_each(|array| self.uses(*array, desc.location()))
            }
            LoggedStep::Split(partition) => {
                open.push(partition);
                self.uses(partition.whole, partition.location)
            }
            LoggedStep::Join(partition) => {
                let begun = open.iter().position(|begun| begun.parts == partition.parts);
                let Some(begun) = begun else { return Err(self.crosses(partition.location)) };
                open.remove(begun);
                Ok(())
            }
            LoggedStep::Forget(array, location) => self.uses(*array, location),
            LoggedStep::Flow(flow) => {
                self.uses(flow.condition, flow.location)?;
                flow.bodies.iter().try_for_each(|body| self.region(&body.steps, Some(body.arrays.clone())))
            }
        }
    }

    /// An array is used: it is a part of a partition that is open in a region around, or was made in one of them.
    fn uses(&self, array: ArrayId, location: Line) -> Result<()> {
        let is_here = match self.places.get(&array) {
            Some(&place) => {
                let made_in = &self.made_in[place];
                self.regions.iter().any(|(arrays, _)| arrays == made_in)
            }
            // One that is an argument belongs to no partition.
            None => true,
        };
        if is_here { Ok(()) } else { Err(refusal(self.program, KEPT.to_owned(), location)) }
    }

    fn crosses(&self, location: Line) -> crate::error::Error {
        let fact = "parts of an array are made on one side of the border of a body and end on the other; \
                    let them end in the body in which they are made"
            .to_owned();
        refusal(self.program, fact, location)
    }
}

/// Why an array cannot be used outside of the body that made it.
const KEPT: &str = "an array that the body of a branch or of a loop has made is used outside of it; \
                    make it before, and let the body change it";

/// Requires that no body has made an array that the program returns.
///
/// # Errors
/// With the line of the branch or the loop.
pub(super) fn check_outputs(
    steps: &[LoggedStep],
    arrays: &[LoggedArray],
    program: &'static str,
    is_output: impl Fn(ArrayId) -> bool + Copy,
) -> Result<()> {
    let flows = steps.iter().filter_map(LoggedStep::flow);
    let made = |range: &Range<usize>| arrays[range.clone()].iter().any(|array| is_output(array.id));
    match flows.into_iter().find(|flow| flow.bodies.iter().any(|body| made(&body.arrays))) {
        Some(flow) => Err(refusal(program, KEPT.to_owned(), flow.location)),
        None => Ok(()),
    }
}
