//! The parameters of a kernel, as they lie in memory: views, arguments, what the task has beside them.

use std::ffi::c_void;

use dahl::testing::RawOperand;

/// Room for one parameter, aligned for any.
type Words = Vec<u64>;

/// The most axes of a view of any rank.
const MAX_RANK: usize = 8;

/// A `View<T, rank>` of `dahl.cuh`; of any rank if it is -1.
pub(crate) fn view(operand: &RawOperand, rank: i32) -> Words {
    let mut words = vec![operand.start as u64];
    let room = if rank < 0 {
        words.push(operand.extents.len() as u64);
        MAX_RANK
    } else {
        assert_eq!(operand.extents.len(), rank as usize, "the rank that the kernel takes");
        rank as usize
    };
    // What is past the rank must not matter.
    let fill = |numbers: Vec<u64>| numbers.into_iter().chain(std::iter::repeat(0x5A5A_5A5A)).take(room);
    words.extend(fill(operand.extents.iter().map(|&extent| extent as u64).collect()));
    words.extend(fill(operand.strides.iter().map(|&stride| stride as u64).collect()));
    words
}

/// What `cuLaunchKernel` gets: a pointer to each parameter.
pub(crate) struct Parameters {
    words: Vec<Words>,
    arguments: Vec<u8>,
}

impl Parameters {
    /// Views, then arguments, of which the kernel knows the sizes, then pointers to scratch memory and to the failure.
    pub(crate) fn new(views: Vec<Words>, arguments: &[u8]) -> Self {
        Self { words: views, arguments: arguments.to_vec() }
    }

    /// Adds a parameter.
    pub(crate) fn push(&mut self, words: Words) {
        self.words.push(words);
    }

    /// Pointers to the views and what was added, with the arguments between them, one behind the other at one address.
    pub(crate) fn pointers(&mut self, views: usize) -> Vec<*mut c_void> {
        let mut pointers: Vec<*mut c_void> =
            self.words.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
        pointers.insert(views, self.arguments.as_mut_ptr().cast());
        pointers
    }
}
