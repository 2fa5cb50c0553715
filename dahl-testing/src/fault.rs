//! [`Fault`]: an error of a run; and the checks that need no reference.

use super::buffer::Buffer;
use super::digits::Digits;
use super::failure::{Check, Histogram, Way, Worst};
use super::subject::After;
use dahl_core::access::AccessMode;
use dahl_core::codelet::Parameter;

/// A failed check, before its inputs are shrunk.
pub(super) struct Fault {
    pub(super) check: Check,
    pub(super) way: Option<Way>,
    pub(super) fact: String,
    pub(super) worst: Option<Worst>,
    pub(super) histogram: Option<Histogram>,
}

impl Fault {
    pub(super) fn new(check: Check, way: Option<&Way>, fact: String) -> Box<Self> {
        Box::new(Self { check, way: way.cloned(), fact, worst: None, histogram: None })
    }
}

/// Requires the same bits as those of `op` with the same kernel.
pub(super) fn same(
    parameters: &[&Parameter],
    expected: &[Buffer],
    got: &[Buffer],
    way: &Way,
) -> Result<(), Box<Fault>> {
    let written = parameters.iter().enumerate().filter(|(_, parameter)| parameter.mode.writes());
    for (place, parameter) in written {
        let Some(i) = expected[place].first_difference(&got[place]) else { continue };
        let fact = "the bits are not those that op gives".to_owned();
        let mut fault = Fault::new(Check::Variants, Some(way), fact);
        fault.worst = Some(Worst {
            element: format!("{}{:?}, the first that differs", parameter.name, got[place].index(i)),
            inputs: Vec::new(),
            digits: Digits::of_texts(expected[place].text(i), got[place].text(i)),
            distance: "variants agree bit for bit".to_owned(),
        });
        return Err(fault);
    }
    Ok(())
}

/// Requires that inputs, and the memory around parts, are unchanged.
pub(super) fn untouched(
    parameters: &[&Parameter],
    before: &[Buffer],
    after: &After,
    way: &Way,
) -> Result<(), Box<Fault>> {
    for (place, parameter) in parameters.iter().enumerate() {
        if !parameter.mode.writes() && before[place].bytes != after.arrays[place].bytes {
            let fact = format!("the kernel changed its input `{}`", parameter.name);
            return Err(Fault::new(Check::Untouched, Some(way), fact));
        }
    }
    if after.wrote_around {
        return Err(Fault::new(Check::Untouched, Some(way), "the kernel wrote beside its part".to_owned()));
    }
    Ok(())
}

/// Requires that `W` outputs with different initial contents have the same content after the task.
pub(super) fn written(
    parameters: &[&Parameter],
    first: &[Buffer],
    second: &[Buffer],
    way: &Way,
) -> Result<(), Box<Fault>> {
    for (place, parameter) in parameters.iter().enumerate() {
        if let (AccessMode::W, Some(i)) = (parameter.mode, first[place].first_difference(&second[place])) {
            let element = format!("{}{:?}", parameter.name, first[place].index(i));
            let fact =
                format!("{element} depends on what the output held before, but `W` writes every element");
            return Err(Fault::new(Check::Writes, Some(way), fact));
        }
    }
    Ok(())
}
