//! Arrays and guards as text.

use dahl_core::Runtime;

#[test]
fn arrays_and_guards() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let mut x = rt.from_vec([2, 2], vec![1.0_f32, 0.5, -2.0, 1.0 / 3.0]).unwrap();
    assert_eq!(format!("{:.2}", x.display().unwrap()), "[[ 1.    0.5 ]\n [-2.    0.33]]");
    assert_eq!(format!("{:.2}", x.read().unwrap()), "[[ 1.    0.5 ]\n [-2.    0.33]]");
    assert_eq!(format!("{:.0e}", x.write().unwrap()), "[[ 1.e+00  5.e-01]\n [-2.e+00  3.e-01]]");
    assert_eq!(x.read().unwrap().display().precision(1).to_string(), "[[ 1.   0.5]\n [-2.   0.3]]");
    let debug = "Array<f32, 2>[2, 2]:\n[[ 1.    0.5 ]\n [-2.    0.33]]";
    assert_eq!(format!("{:.2?}", x.read().unwrap()), debug);
    assert_eq!(format!("{:.2?}", x.write().unwrap()), debug);
    assert_eq!(format!("{x:.2?}"), debug);
    let scalar = rt.from_vec([], vec![3_i64]).unwrap();
    assert_eq!(format!("{} {:?}", scalar.read().unwrap(), scalar), "3 Array<i64, 0>[]:\n3");
}

#[test]
fn debug_is_short_at_any_rank() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let large = rt.from_vec([100_000], vec![1.0 / 3.0; 100_000]).unwrap();
    assert_eq!(
        format!("{large:?}"),
        "Array<f64, 1>[100000]:\n[0.33333333 0.33333333 0.33333333 ... 0.33333333 0.33333333 0.33333333]"
    );
    let deep = rt.from_vec([4; 8], vec![7_u8; 1 << 16]).unwrap();
    let text = format!("{deep:?}");
    assert_eq!(text.matches('7').count(), 256, "two elements of each axis");
    assert!(text.len() < 4000, "{} characters", text.len());
    assert_eq!(deep.display().unwrap().threshold(1 << 16).to_string().matches('7').count(), 1 << 16);
}
