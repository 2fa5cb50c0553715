use dahl::ops::{CastTo, cast, cast_init};
use dahl::prelude::*;

/// `from` cast to another type, by `op` and by `op_init`.
fn cast_all<T: CastTo<U>, U: Element>(from: &[T]) -> Vec<U> {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([from.len()], from.to_vec()).unwrap();
    let mut out = rt.zeros([from.len()]).unwrap();
    cast(&input, &mut out).unwrap();
    let made: Vector<U> = cast_init(&arena, &input).unwrap();
    assert_eq!(*made.read().unwrap(), *out.read().unwrap());
    let out = out.read().unwrap();
    out.to_vec()
}

/// To each real type, a number is rounded once to nearest, ties to even, as `from_f64` does, which is tested on its
/// own.
fn rounds_once<T: Real + CastTo<f64>>()
where
    f64: CastTo<T>,
    f32: CastTo<T>,
    i32: CastTo<T>,
{
    let tie = 1.0 + T::EPSILON.to_f64() / 2.0;
    let above = f64::from_bits(tie.to_bits() + 1); // would become a tie if it were rounded to `f32` first
    let numbers = [0.1, -0.0, 1e300, -65520.0, tie, above, 3.0 * tie, 1e-7];
    assert_eq!(cast_all::<f64, T>(&numbers), numbers.map(T::from_f64));
    let numbers = [0.1_f32, 65519.0, 1e38, -3.5e-6];
    assert_eq!(cast_all::<f32, T>(&numbers), numbers.map(|x| T::from_f64(f64::from(x))));
    let integers = [0, -1, 2049, 2051, 65519, i32::MAX, i32::MIN];
    assert_eq!(cast_all::<i32, T>(&integers), integers.map(|x| T::from_f64(f64::from(x))));
    let exact = [T::ONE, T::MAX, T::MIN_POSITIVE, T::NEG_INFINITY];
    assert_eq!(cast_all::<T, f64>(&exact), exact.map(T::to_f64));
}

for_each_real!(rounds_once);

#[test]
fn large_integers_round_once() {
    // Halfway between two bf16, and one more, which rounds to the same f64.
    let tie = (1_i64 << 62) + (1 << 54);
    let between = |x: &[bf16]| x.iter().map(|x| x.to_f64() / 2.0_f64.powi(54)).collect::<Vec<_>>();
    assert_eq!(
        between(&cast_all::<i64, bf16>(&[tie, tie + 1, -tie, -tie - 1])),
        [256.0, 258.0, -256.0, -258.0]
    );
    assert_eq!(cast_all::<i64, f32>(&[i64::MAX]), [i64::MAX as f32]);
}

#[test]
fn to_integers_saturates() {
    assert_eq!(cast_all::<f32, u8>(&[-1.0, 3.9, 256.0, f32::NAN]), [0, 3, 255, 0]);
    assert_eq!(cast_all::<f16, i32>(&[-2.5, 65504.0].map(f16::from_f64)), [-2, 65504]);
    assert_eq!(cast_all::<i64, u32>(&[-1, 1 << 32]), [u32::MAX, 0]);
    assert_eq!(cast_all::<f16, bf16>(&[1.5, 65504.0].map(f16::from_f64)), [1.5, 65536.0].map(bf16::from_f64));
}
