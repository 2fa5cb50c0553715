//! [`identities`]: what buffers of reductions begin with.

use super::super::super::task_error::{TaskError, caught};
use crate::description::{self as desc, TaskDesc};
use crate::graph::{Fill, Source};

/// What the arrays of a contribution to a reduction begin with.
pub(super) fn identities(desc: &TaskDesc, sources: &[Source]) -> Result<Vec<(Source, Fill)>, TaskError> {
    let mut fills = Vec::new();
    for desc::Operand { position, parameter, access } in desc.operands() {
        let Some(accumulator) = parameter.accumulator.as_ref().filter(|_| access.begins) else { continue };
        let bytes = access.layout.len() * accumulator.element().size_bytes;
        let fill = match accumulator.identity_word() {
            Some(word) => Fill::Words(word, bytes),
            None => {
                let mut identity = vec![0; bytes];
                caught(|| accumulator.fill_identity(&mut identity))?;
                Fill::Bytes(identity)
            }
        };
        fills.push((sources[position], fill));
    }
    Ok(fills)
}
