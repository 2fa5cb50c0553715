//! Backward operations compared with differences of their forward operations, in f64 (those of fused operations are
//! compared with the operations that they replace); and, in `checker`, a test that the check finds mistakes.

use std::error::Error;

use dahl::prelude::*;

/// The result of a forward operation: its output, and perhaps something else that its backward operation needs.
trait Forwarded {
    type Output;
    fn output(&self) -> &Self::Output;
}

impl<const N: usize> Forwarded for Array<'_, f64, N> {
    type Output = Self;
    fn output(&self) -> &Self {
        self
    }
}

impl<'m, Rest, const N: usize> Forwarded for (Array<'m, f64, N>, Rest) {
    type Output = Array<'m, f64, N>;
    fn output(&self) -> &Array<'m, f64, N> {
        &self.0
    }
}

/// The output of an operation that writes or adds to an array of the shape of `like`.
fn into<'m, const N: usize>(
    arena: &'m Arena,
    like: &Array<'_, f64, N>,
    op: impl FnOnce(&mut Array<'m, f64, N>) -> dahl::Result<()>,
) -> dahl::Result<Array<'m, f64, N>> {
    let mut out = arena.zeros(like.shape())?;
    op(&mut out)?;
    Ok(out)
}

fn runtime() -> Result<Runtime, Box<dyn Error>> {
    Ok(Runtime::builder().cpu_workers(2).build()?)
}

/// Adds an input to a check: values from a range, or of magnitudes from 0.5 to 1.
macro_rules! drawn {
    ($gradient:expr, $input:ident, $shape:expr) => {
        $gradient.drawn(stringify!($input), &$shape)
    };
    ($gradient:expr, $input:ident, $shape:expr, $range:expr) => {
        $gradient.drawn_from(stringify!($input), &$shape, $range)
    };
}

/// A test of a forward operation's backward operation. Inputs of the given shapes are drawn, from a range if one is
/// given; then come the forward operation and, for each input, an expression for the gradient by it. `with` adds
/// settings of the check.
macro_rules! gradients {
    (
        $test:ident: [$($input:ident: $shape:tt $(in $range:expr)?),+ $(,)?],
        |$arena:ident| $forward:expr,
        |$output:pat_param, $gradient:ident| [$($backward:expr),+ $(,)?]
        $(, with $($setting:ident($($value:expr)?)),*)? $(,)?
    ) => {
        #[test]
        fn $test() {
            use $crate::gradients::Forwarded;

            #[allow(unused_variables, reason = "not each backward needs all of them")]
            let gradient = dahl::testing::gradient::Gradient::new(
                stringify!($test),
                |inputs| {
                    let rt = $crate::gradients::runtime()?;
                    let $arena = &rt.arena();
                    let mut inputs = inputs.iter();
                    $(let $input = &$arena.from_slice($shape, inputs.next().expect("an input"))?;)+
                    Ok($forward?.output().to_vec()?)
                },
                |inputs, gradient| {
                    let rt = $crate::gradients::runtime()?;
                    let $arena = &rt.arena();
                    let mut inputs = inputs.iter();
                    $(let $input = &$arena.from_slice($shape, inputs.next().expect("an input"))?;)+
                    let forwarded = $forward?;
                    let $gradient = &$arena.from_slice(forwarded.output().shape(), gradient)?;
                    let $output = &forwarded;
                    Ok(vec![$($backward?.to_vec()?),+])
                },
            );
            let gradient = gradient$($(.$setting($($value)?))*)?;
            $(let gradient = drawn!(gradient, $input, $shape $(, $range)?);)+
            gradient.assert();
        }
    };
}

/// A test of a function of single elements. Its backward operation gets the first item in its brackets, the output or
/// the input `x`, then the gradient, then the same arguments as the forward operation.
macro_rules! function {
    ($test:ident: $forward:ident, $backward:ident(output $(, $argument:expr)*), x in $range:expr $(, kink $kink:expr)*) => {
        gradients!($test: [x: [4, 5] in $range],
            |arena| $forward(arena, x $(, $argument)*),
            |output, gradient| [$backward(arena, output, gradient $(, $argument)*)],
            with $(kink($kink)),*
        );
    };
    ($test:ident: $forward:ident, $backward:ident(x $(, $argument:expr)*), x in $range:expr $(, kink $kink:expr)*) => {
        gradients!($test: [x: [4, 5] in $range],
            |arena| $forward(arena, x $(, $argument)*),
            |_, gradient| [$backward(arena, x, gradient $(, $argument)*)],
            with $(kink($kink)),*
        );
    };
}

mod activation;
mod arithmetic;
mod bias;
mod checker;
mod comparison;
mod conv2d;
mod cross_entropy;
mod diag;
mod error_function;
mod exponential;
mod gather;
mod hard_activation;
mod hyperbolic;
mod matmul;
mod norm;
mod pool2d;
mod product;
mod reduce;
mod regression;
mod slice;
mod softmax;
mod tile;
mod trigonometric;
mod variance;
