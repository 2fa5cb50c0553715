//! The parameters of a kernel in their memory layout: views, arguments, and the other data of the task.

use std::ffi::c_void;

use dahl::cuda::{CudaInstance, CudaLen};
use dahl::testing::RawOperand;

/// Memory for one parameter, aligned for any type.
type Words = Vec<u64>;

/// The most axes of a view of any rank.
const MAX_RANK: usize = 8;

/// The value beyond the rank of a view, which must not matter.
const UNUSED: u64 = 0x5A5A_5A5A;

/// The parameters of `cuLaunchKernel`: a pointer to each.
pub(crate) struct Parameters {
    words: Vec<Words>,
}

impl Parameters {
    /// The views of the operands, then the arguments.
    pub(crate) fn new(instance: &CudaInstance, operands: &[RawOperand], arguments: &[u8]) -> Self {
        let views = operands.iter().zip(instance.kernel.views);
        let mut words: Vec<Words> = views.map(|(operand, taken)| view(operand, taken.rank)).collect();
        for (argument, bytes) in instance.kernel.arguments.iter().zip(instance.arguments(arguments)) {
            let values = bytes.chunks(8).map(word);
            words.push(match argument.len {
                CudaLen::Any => {
                    let count = values.len() as u64;
                    std::iter::once(count)
                        .chain(values)
                        .chain(std::iter::repeat(UNUSED))
                        .take(1 + MAX_RANK)
                        .collect()
                }
                CudaLen::One | CudaLen::Items(_) => values.collect(),
            });
        }
        Self { words }
    }

    /// Adds a `Scratch`, or, if there is a place where the kernel reports failure, a `Task`.
    pub(crate) fn push_scratch(&mut self, memory: *mut u64, failure: Option<*mut u64>) {
        self.words.push([memory].into_iter().chain(failure).map(|pointer| pointer as u64).collect());
    }

    /// A pointer to each parameter.
    pub(crate) fn pointers(&mut self) -> Vec<*mut c_void> {
        self.words.iter_mut().map(|words| words.as_mut_ptr().cast()).collect()
    }
}

/// Up to 8 bytes at the beginning of a word.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}

/// A `View<T, RANK>` of `dahl.cuh`; a `View<T, ANY>` if there is no rank.
fn view(operand: &RawOperand, rank: Option<usize>) -> Words {
    let mut words = vec![operand.start as u64];
    if rank.is_none() {
        words.push(operand.extents.len() as u64);
    }
    let room = rank.unwrap_or(MAX_RANK);
    assert!(rank.is_none_or(|rank| rank == operand.extents.len()), "the rank that the kernel takes");
    let fill = |numbers: Vec<u64>| numbers.into_iter().chain(std::iter::repeat(UNUSED)).take(room);
    words.extend(fill(operand.extents.iter().map(|&extent| extent as u64).collect()));
    words.extend(fill(operand.strides.iter().map(|&stride| stride as u64).collect()));
    words
}
