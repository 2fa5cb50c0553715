use dahl::ops::AttentionGeometry;
use dahl::testing::gradient::{Operation, compare_gradients};
use dahl::testing::{Compared, Describes, Tier, compare_in, record, record_gradients};

use super::*;

/// An array of a test.
type A<T, const N: usize> = Array<'static, T, N>;

/// The arrays of [`ops::attention`].
type Forward<T> = (A<T, 4>, A<T, 4>, A<T, 4>, A<T, 4>, A<<T as Real>::Compute, 3>);

/// The arrays of [`ops::attention_backward`].
type Backward<T> = (
    A<T, 4>,
    A<T, 4>,
    A<T, 4>,
    A<T, 4>,
    A<<T as Real>::Compute, 3>,
    A<T, 4>,
    A<<T as Real>::Compute, 3>,
    A<T, 4>,
    A<T, 4>,
    A<T, 4>,
);

/// The arrays of [`ops::attention_masked`].
type MaskedForward<T> = (A<T, 4>, A<T, 4>, A<T, 4>, A<u8, 3>, A<T, 4>, A<<T as Real>::Compute, 3>);

/// The arrays of [`ops::attention_masked_backward`].
type MaskedBackward<T> = (
    A<T, 4>,
    A<T, 4>,
    A<T, 4>,
    A<u8, 3>,
    A<T, 4>,
    A<<T as Real>::Compute, 3>,
    A<T, 4>,
    A<<T as Real>::Compute, 3>,
    A<T, 4>,
    A<T, 4>,
    A<T, 4>,
);

/// Compares [`attention`](ops::attention) with its reference. (`numerics!` would not know the type of the logarithms.)
fn forward<T: Real>(op: &str, [batch, tokens, keys]: [usize; 3], geometry: AttentionGeometry) {
    let operands = (
        Describes::<T>::describe(within(-4.0, 4.0, [batch, 2 * batch, tokens, 7])),
        Describes::<T>::describe(within(-4.0, 4.0, [batch, batch, keys, 7])),
        Describes::<T>::describe(within(-100.0, 100.0, [batch, batch, keys, 5])),
        output([batch, 2 * batch, tokens, 5]),
        output([batch, 2 * batch, tokens]),
    );
    let compared = compare_in::<T, _, Forward<T>, _, _>(
        Tier::from_env(),
        op,
        ops::codelets::Attention,
        &operands,
        (geometry,),
    );
    keep(compared);
}

/// Compares [`attention_backward`](ops::attention_backward) with its reference.
fn backward<T: Real>(op: &str, [batch, tokens, keys]: [usize; 3], geometry: AttentionGeometry) {
    let [query, key, value] =
        [[batch, 2 * batch, tokens, 7], [batch, batch, keys, 7], [batch, batch, keys, 5]];
    let (out, sums) = ([batch, 2 * batch, tokens, 5], [batch, 2 * batch, tokens]);
    let operands = (
        Describes::<T>::describe(within(-2.0, 2.0, query)),
        Describes::<T>::describe(within(-2.0, 2.0, key)),
        Describes::<T>::describe(within(-10.0, 10.0, value)),
        Describes::<T>::describe(within(-10.0, 10.0, out)),
        Describes::<T::Compute>::describe(within(-1.0, 4.0, sums)),
        Describes::<T>::describe(within(-10.0, 10.0, out)),
        Describes::<T::Compute>::describe(within(-10.0, 10.0, sums)),
        output(query),
        output(key),
        output(value),
    );
    let compared = compare_in::<T, _, Backward<T>, _, _>(
        Tier::from_env(),
        op,
        ops::codelets::AttentionBackward,
        &operands,
        (geometry,),
    );
    keep(compared);
}

/// Compares [`attention_masked`](ops::attention_masked), and its gradients, with their references.
fn masked<T: Real>([batch, tokens, keys]: [usize; 3], geometry: AttentionGeometry) {
    let [query, key, value] =
        [[batch, 2 * batch, tokens, 7], [batch, batch, keys, 7], [batch, batch, keys, 5]];
    let (out, sums) = ([batch, 2 * batch, tokens, 5], [batch, 2 * batch, tokens]);
    let operands = (
        Describes::<T>::describe(within(-4.0, 4.0, query)),
        Describes::<T>::describe(within(-4.0, 4.0, key)),
        Describes::<T>::describe(within(-100.0, 100.0, value)),
        Describes::<u8>::describe(below(2, [batch, tokens, keys])),
        output(out),
        output(sums),
    );
    let compared = compare_in::<T, _, MaskedForward<T>, _, _>(
        Tier::from_env(),
        "attention_masked",
        ops::codelets::AttentionMasked,
        &operands,
        (geometry,),
    );
    keep(compared);
    let operands = (
        Describes::<T>::describe(within(-2.0, 2.0, query)),
        Describes::<T>::describe(within(-2.0, 2.0, key)),
        Describes::<T>::describe(within(-10.0, 10.0, value)),
        Describes::<u8>::describe(below(2, [1, tokens, keys])),
        Describes::<T>::describe(within(-10.0, 10.0, out)),
        Describes::<T::Compute>::describe(within(-1.0, 4.0, sums)),
        Describes::<T>::describe(within(-10.0, 10.0, out)),
        Describes::<T::Compute>::describe(within(-10.0, 10.0, sums)),
        output(query),
        output(key),
        output(value),
    );
    let compared = compare_in::<T, _, MaskedBackward<T>, _, _>(
        Tier::from_env(),
        "attention_masked_backward",
        ops::codelets::AttentionMaskedBackward,
        &operands,
        (geometry,),
    );
    keep(compared);
}

/// Records a comparison.
fn keep(compared: Compared) {
    match compared {
        Ok(summary) => record(env!("CARGO_PKG_NAME"), summary).unwrap(),
        Err(failure) => panic!("\n{failure}"),
    }
}

/// Tests of all, one for each element type.
macro_rules! attention {
    ($($name:ident: $element:ty),*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn attention() {
                forward::<$element>("attention", [2, 13, 31], AttentionGeometry::new(0.25));
            }

            #[test]
            fn attention_causal() {
                forward::<$element>("attention_causal", [1, 67, 131], AttentionGeometry::new(0.5).causal());
            }

            #[test]
            fn attention_masked() {
                masked::<$element>([2, 13, 31], AttentionGeometry::new(0.25));
            }

            #[test]
            fn attention_backward() {
                backward::<$element>("attention_backward", [2, 13, 31], AttentionGeometry::new(0.25));
            }

            #[test]
            fn attention_backward_causal() {
                backward::<$element>("attention_backward_causal", [1, 67, 131], AttentionGeometry::new(0.5).causal());
            }
        }
    )*};
}

attention!(f16: dahl::f16, bf16: dahl::bf16, f32: f32, f64: f64);

/// [`attention`](ops::attention) in one element type, to compare its gradients.
fn differentiated<T: Real>(geometry: AttentionGeometry) -> Operation {
    let operands = (
        Describes::<T>::describe([1, 2, 5, 7]),
        Describes::<T>::describe([1, 1, 6, 7]),
        Describes::<T>::describe([1, 1, 6, 3]),
        output([1, 2, 5, 3]),
        output([1, 2, 5]),
    );
    Operation::new::<T, _, Forward<T>, _, _>("attention", ops::codelets::Attention, &operands, (geometry,))
}

/// The same for [`attention_masked`](ops::attention_masked).
fn differentiated_masked<T: Real>(geometry: AttentionGeometry) -> Operation {
    let operands = (
        Describes::<T>::describe([1, 2, 5, 7]),
        Describes::<T>::describe([1, 1, 6, 7]),
        Describes::<T>::describe([1, 1, 6, 3]),
        Describes::<u8>::describe(below(2, [1, 5, 6])),
        output([1, 2, 5, 3]),
        output([1, 2, 5]),
    );
    let codelet = ops::codelets::AttentionMasked;
    Operation::new::<T, _, MaskedForward<T>, _, _>("attention_masked", codelet, &operands, (geometry,))
}

#[test]
fn gradients() {
    macro_rules! in_each_type {
        ($operation:ident, $geometry:expr) => {
            [
                $operation::<dahl::f16>($geometry),
                $operation::<dahl::bf16>($geometry),
                $operation::<f32>($geometry),
                $operation::<f64>($geometry),
            ]
        };
    }
    for operations in [
        in_each_type!(differentiated, AttentionGeometry::new(0.25)),
        in_each_type!(differentiated, AttentionGeometry::new(0.5).causal()),
        in_each_type!(differentiated_masked, AttentionGeometry::new(0.25)),
    ] {
        let found = compare_gradients(&operations).unwrap_or_else(|failure| panic!("\n{failure}"));
        record_gradients(env!("CARGO_PKG_NAME"), found).unwrap();
    }
}
