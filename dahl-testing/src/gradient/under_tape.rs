//! [`gradients!`](crate::gradients): tests of the gradients of an operation under a tape.

use dahl_core::{Array, Runtime};

use super::Outcome;

/// The result of an operation: its output, and perhaps something else.
#[doc(hidden)]
pub trait Forwarded {
    /// The output's type.
    type Output;

    /// The output.
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

/// A runtime for a test.
///
/// # Errors
/// If there is no memory.
#[doc(hidden)]
pub fn runtime() -> Outcome<Runtime> {
    Ok(Runtime::builder().cpu_workers(2).build()?)
}

/// A gradient; zeros if what it is of does not depend on the array.
///
/// # Errors
/// If the gradient fails.
#[doc(hidden)]
pub fn or_zeros<const N: usize>(
    gradient: dahl_core::Result<Array<'_, f64, N>>,
    by: &Array<'_, f64, N>,
) -> Outcome<Vec<f64>> {
    match gradient {
        Ok(gradient) => Ok(gradient.to_vec()?),
        Err(error) if matches!(error.code(), "D0018" | "D0020") => Ok(vec![0.0; by.len()]),
        Err(error) => Err(error.into()),
    }
}

/// Weights of outputs: as many numbers of both signs, all different.
#[doc(hidden)]
pub fn weights(len: usize) -> Vec<f64> {
    (0..len).map(|i| (0.7 + 0.37 * i as f64) * if i % 3 == 1 { -1.0 } else { 1.0 }).collect()
}

/// Adds an input to a check: values from a range, or of magnitudes from 0.5 to 1.
#[doc(hidden)]
#[macro_export]
macro_rules! __drawn {
    ($gradient:expr, $input:ident, $shape:expr) => {
        $gradient.drawn(stringify!($input), &$shape)
    };
    ($gradient:expr, $input:ident, $shape:expr, $range:expr) => {
        $gradient.drawn_from(stringify!($input), &$shape, $range)
    };
}

/// Tests the gradients of an operation by a tape, in f64: the first ones against differences of the operation, and the second
/// ones against differences of the first.
///
/// Inputs of the given shapes are drawn, from a range if one is given; then comes the operation under a tape. `tangent` gives
/// the first derivative by another way, with which the first gradients are compared to all digits: for a map that is
/// [`forward_mode`](crate::forward_mode), `tangent forward_mode(|x, out| Exp::cpu(x[0], out))`. `with` adds settings of [`Gradient`](crate::gradient::Gradient), `first only` says that the gradient cannot be differentiated again.
/// The result is a module with the tests `first` and `second`.
///
/// ```ignore
/// dahl::testing::gradients!(swish: [x: [4, 5] in -3.0..3.0, slope: [4, 5]], |tape| swish_init(tape, x, slope));
/// ```
#[macro_export]
macro_rules! gradients {
    (
        $test:ident: [$($input:ident: $shape:tt $(in $range:expr)?),+ $(,)?],
        |$tape:ident| $forward:expr,
        with linear() $(,)?
    ) => {
        mod $test {
            #[allow(unused_imports)]
            use super::*;

            $crate::gradients!(@first [$($input: $shape $(in $range)?),+], |$tape| $forward, [linear()]);
            $crate::gradients!(@second [$($input: $shape $(in $range)?),+], |$tape| $forward, []);
        }
    };
    (
        $test:ident: [$($input:ident: $shape:tt $(in $range:expr)?),+ $(,)?],
        |$tape:ident| $forward:expr
        $(, tangent $tangent:expr)?
        $(, with $($setting:ident($($value:expr)?)),*)? $(,)?
    ) => {
        mod $test {
            #[allow(unused_imports)]
            use super::*;

            $crate::gradients!(
                @first [$($input: $shape $(in $range)?),+],
                |$tape| $forward,
                [$(tangent($tangent),)? $($($setting($($value)?)),*)?]
            );
            $crate::gradients!(@second [$($input: $shape $(in $range)?),+], |$tape| $forward, [$($($setting($($value)?)),*)?]);
        }
    };
    (
        $test:ident: [$($input:ident: $shape:tt $(in $range:expr)?),+ $(,)?],
        |$tape:ident| $forward:expr
        $(, with $($setting:ident($($value:expr)?)),*)?, first only
    ) => {
        mod $test {
            #[allow(unused_imports)]
            use super::*;

            $crate::gradients!(@first [$($input: $shape $(in $range)?),+], |$tape| $forward, [$($($setting($($value)?)),*)?]);
        }
    };
    // The gradients of each first gradient, added up for each input.
    (@each $arena:ident $outer:ident $tape:ident $output:ident $seed:ident $rest:ident $sums:ident, [], [$($all:ident)+]) => {};
    (@each $arena:ident $outer:ident $tape:ident $output:ident $seed:ident $rest:ident $sums:ident, [$by:ident $($tail:ident)*], [$($all:ident)+]) => {
        let first = $tape.gradients_from($output, &$seed, $by)?;
        let (own, others) = $rest.split_at(first.len());
        $rest = others;
        let own = $arena.from_slice(first.shape(), own)?;
        let gradients = [$(or_zeros($outer.gradients_from(&first, &own, $all), $all)?),+];
        for (sum, gradient) in $sums.iter_mut().zip(gradients) {
            sum.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient);
        }
        $crate::gradients!(@each $arena $outer $tape $output $seed $rest $sums, [$($tail)*], [$($all)+]);
    };
    (@first [$($input:ident: $shape:tt $(in $range:expr)?),+], |$tape:ident| $forward:expr, [$($setting:ident($($value:expr)?)),* $(,)?]) => {
        #[test]
        fn first() {
            use $crate::gradient::Forwarded;

            let gradient = $crate::gradient::Gradient::new(
                module_path!(),
                |inputs| {
                    let rt = $crate::gradient::runtime()?;
                    let (arena, $tape) = (&rt.arena(), &rt.tape());
                    let mut inputs = inputs.iter();
                    $(let $input = &arena.from_slice($shape, inputs.next().expect("an input"))?;)+
                    Ok($forward?.output().to_vec()?)
                },
                |inputs, gradient| {
                    let rt = $crate::gradient::runtime()?;
                    let (arena, $tape) = (&rt.arena(), &rt.tape());
                    let mut inputs = inputs.iter();
                    $(let $input = &arena.from_slice($shape, inputs.next().expect("an input"))?;)+
                    let forwarded = $forward?;
                    let output = forwarded.output();
                    let seed = arena.from_slice(output.shape(), gradient)?;
                    Ok(vec![$($tape.gradients_from(output, &seed, $input)?.to_vec()?),+])
                },
            );
            let gradient = gradient$(.$setting($($value)?))*;
            $(let gradient = $crate::__drawn!(gradient, $input, $shape $(, $range)?);)+
            gradient.assert();
        }
    };
    (@second [$($input:ident: $shape:tt $(in $range:expr)?),+], |$tape:ident| $forward:expr, [$($setting:ident($($value:expr)?)),*]) => {
        #[test]
        fn second() {
            use $crate::gradient::{Forwarded, or_zeros, weights};

            let gradient = $crate::gradient::Gradient::new(
                concat!(module_path!(), ": second"),
                |inputs| {
                    let rt = $crate::gradient::runtime()?;
                    let (arena, $tape) = (&rt.arena(), &rt.tape());
                    let mut inputs = inputs.iter();
                    $(let $input = &arena.from_slice($shape, inputs.next().expect("an input"))?;)+
                    let forwarded = $forward?;
                    let output = forwarded.output();
                    let seed = arena.from_slice(output.shape(), &weights(output.len()))?;
                    let mut first = Vec::new();
                    $(first.extend($tape.gradients_from(output, &seed, $input)?.to_vec()?);)+
                    Ok(first)
                },
                |inputs, gradient| {
                    let rt = $crate::gradient::runtime()?;
                    let (arena, outer) = (&rt.arena(), &rt.tape());
                    let $tape = &outer.tape();
                    let mut inputs = inputs.iter();
                    $(let $input = &arena.from_slice($shape, inputs.next().expect("an input"))?;)+
                    let forwarded = $forward?;
                    let output = forwarded.output();
                    let seed = arena.from_slice(output.shape(), &weights(output.len()))?;
                    let mut sums: Vec<Vec<f64>> = vec![$(vec![0.0; $input.len()]),+];
                    let mut rest = gradient;
                    $crate::gradients!(@each arena outer $tape output seed rest sums, [$($input)+], [$($input)+]);
                    assert!(rest.is_empty(), "as many numbers as elements of the first gradients");
                    Ok(sums)
                },
            );
            let gradient = gradient$(.$setting($($value)?))*;
            $(let gradient = $crate::__drawn!(gradient, $input, $shape $(, $range)?);)+
            gradient.assert();
        }
    };
}
