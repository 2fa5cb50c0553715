//! [`ConvolutionPlan`]: the algorithm for a convolution of some shape, chosen once.
//!
//! cuDNN has several algorithms for each direction, and heuristics that order them by expected time. dahl takes the
//! first one that keeps its promises: it sums products, in the compute type, gives the same bits each time, and fits
//! into the memory that it may use. The choice depends on the shape and the device alone, so every run makes the same
//! one.

use std::ffi::c_int;

use dahl_cuda::call::{ConvolutionShape, CudaCallError, Direction, Precision};

use super::descriptor::Descriptors;
use super::functions::{Advice, Functions, Handle};

/// `cudnnMathType_t`: as the types say, which for `f32` may be TF32; on tensor cores, where elements are of half precision; by fused
/// multiplications and additions of the elements as they are.
const DEFAULT_MATH: c_int = 0;
const TENSOR_OP_MATH: c_int = 1;
const FMA_MATH: c_int = 3;
/// `CUDNN_DETERMINISTIC`.
const DETERMINISTIC: c_int = 1;

/// How a convolution is computed.
pub(super) struct ConvolutionPlan {
    pub(super) descriptors: Descriptors,
    pub(super) algorithm: c_int,
    pub(super) workspace_bytes: usize,
}

/// What a plan may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) allows_tf32: bool,
    /// The largest workspace.
    pub(super) most_bytes: usize,
}

impl Terms {
    /// What cuDNN is told before it is asked for algorithms.
    fn math(self, element: Precision) -> c_int {
        match element {
            Precision::F16 | Precision::Bf16 => TENSOR_OP_MATH,
            Precision::F32 if !self.allows_tf32 => FMA_MATH,
            Precision::F32 | Precision::F64 => DEFAULT_MATH,
        }
    }

    /// The first that will do.
    fn choose(self, shape: &ConvolutionShape, advice: &[Advice]) -> Option<Advice> {
        let keeps_precision = |math| shape.element != Precision::F32 || self.allows_tf32 || math == FMA_MATH;
        let will_do = |advice: &&Advice| {
            advice.status == 0
                && advice.determinism == DETERMINISTIC
                && keeps_precision(advice.math)
                && sums_products(shape.direction, advice.algorithm)
                && advice.workspace_bytes <= self.most_bytes
        };
        advice.iter().find(will_do).copied()
    }
}

/// Whether an algorithm adds up products of elements. Transforms (Fourier's, Winograd's) take other ways, on which an infinite
/// element reaches results that it has no part in, and errors grow with the largest elements around. Nor do those whose
/// threads add to one element as they come.
fn sums_products(direction: Direction, algorithm: c_int) -> bool {
    match direction {
        // IMPLICIT_GEMM, IMPLICIT_PRECOMP_GEMM, GEMM, DIRECT.
        Direction::Forward => (0..=3).contains(&algorithm),
        // ALGO_1 of both; 0 and 3 add by atomics.
        Direction::BackwardData | Direction::BackwardFilter => algorithm == 1,
    }
}

impl ConvolutionPlan {
    /// # Errors
    /// `Unsupported`, if cuDNN has no algorithm for this, or none on these terms.
    ///
    /// # Safety
    /// `handle` is one of the library's, and its device's context is current.
    pub(super) unsafe fn new(
        functions: &Functions,
        handle: Handle,
        shape: &ConvolutionShape,
        terms: Terms,
    ) -> Result<Self, CudaCallError> {
        let descriptors = Descriptors::new(functions, shape)?;
        descriptors.set_math(functions, terms.math(shape.element))?;
        let way = functions.way(shape.direction);
        let [first, second, written] = descriptors.arrays(shape.direction);
        // More than there are algorithms: some are named with several types of math.
        let (mut advice, mut count) = ([Advice::default(); 32], 0);
        // SAFETY: N, E, and the caller's; there is room for so many.
        let status = unsafe {
            (way.advise)(
                handle,
                first,
                second,
                descriptors.convolution(),
                written,
                advice.len() as c_int,
                &raw mut count,
                advice.as_mut_ptr(),
            )
        };
        functions.check(way.advise_name, status)?;
        let count = usize::try_from(count).unwrap_or(0).min(advice.len());
        let Some(chosen) = terms.choose(shape, &advice[..count]) else {
            return Err(CudaCallError::Unsupported(format!(
                "cuDNN has no algorithm of the same bits each time that adds up products in {} bytes or less, among {count}",
                terms.most_bytes
            )));
        };
        // The algorithm is meant together with its math.
        descriptors.set_math(functions, chosen.math)?;
        Ok(Self { descriptors, algorithm: chosen.algorithm, workspace_bytes: chosen.workspace_bytes })
    }
}

#[cfg(test)]
mod tests {
    use dahl_cuda::call::TensorShape;

    use super::{Advice, ConvolutionShape, DEFAULT_MATH, Direction, FMA_MATH, Precision, Terms};

    const TERMS: Terms = Terms { allows_tf32: false, most_bytes: 1000 };
    const GOOD: Advice = Advice {
        algorithm: 1,
        status: 0,
        time: -1.0,
        workspace_bytes: 1000,
        determinism: 1,
        math: FMA_MATH,
        reserved: [0; 3],
    };

    fn shape(direction: Direction, element: Precision) -> ConvolutionShape {
        let one = TensorShape { extents: [1; 4], strides: [1; 4] };
        ConvolutionShape {
            direction,
            element,
            compute: Precision::F32,
            input: one,
            filters: one,
            output: one,
            stride: [1; 2],
            padding: [0; 2],
        }
    }

    const DIRECTIONS: [Direction; 3] =
        [Direction::Forward, Direction::BackwardData, Direction::BackwardFilter];

    #[test]
    fn the_first_that_keeps_the_terms_is_taken() {
        let bad = [
            Advice { status: 3000, ..GOOD },
            Advice { determinism: 0, ..GOOD },
            Advice { math: DEFAULT_MATH, ..GOOD },
            Advice { workspace_bytes: 1001, ..GOOD },
            Advice { algorithm: 4, ..GOOD },
            Advice { algorithm: 5, ..GOOD },
            Advice { algorithm: 6, ..GOOD },
        ];
        for direction in DIRECTIONS {
            let shape = shape(direction, Precision::F32);
            assert_eq!(TERMS.choose(&shape, &bad), None);
            let last = Advice { workspace_bytes: 0, ..GOOD };
            let all: Vec<_> = bad.into_iter().chain([GOOD, last]).collect();
            assert_eq!(TERMS.choose(&shape, &all), Some(GOOD));
        }
    }

    #[test]
    fn gradients_are_not_added_by_atomics() {
        for algorithm in [0, 3] {
            let advice = [Advice { algorithm, ..GOOD }];
            let choose = |direction| TERMS.choose(&shape(direction, Precision::F32), &advice);
            assert_eq!(DIRECTIONS.map(|direction| choose(direction).is_some()), [true, false, false]);
        }
    }

    #[test]
    fn tf32_is_for_who_asks_for_it_and_halves_have_tensor_cores() {
        let shape = shape(Direction::Forward, Precision::F32);
        let tf32 = [Advice { math: DEFAULT_MATH, ..GOOD }];
        let allowing = Terms { allows_tf32: true, ..TERMS };
        assert_eq!(allowing.choose(&shape, &tf32), Some(tf32[0]));
        assert_eq!([TERMS, allowing].map(|terms| terms.math(Precision::F32)), [3, 0]);
        assert_eq!([Precision::F16, Precision::Bf16, Precision::F64].map(|of| TERMS.math(of)), [1, 1, 0]);
    }
}
