//! Checked mode for declared codelets: wrong kernels are found, correct ones pass.

use dahl::ndarray::{ArrayView2, ArrayViewMut2, Axis};
use dahl::prelude::*;
use dahl::{ErrorKind, Result};

/// `out = 2 x`, but for the last element of each row.
#[codelet(R, W, shape(out = x), in_place = x)]
fn forgets_a_column<T: Real>(x: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    for (x, mut out) in x.rows().into_iter().zip(out.rows_mut()) {
        for i in 0..x.len().saturating_sub(1) {
            out[i] = x[i] + x[i];
        }
    }
}

/// `out = 2 x`, but for the first element.
#[codelet(R, W)]
fn forgets_the_first<T: Real>(x: &[T], out: &mut [T]) {
    for (x, out) in x.iter().zip(out).skip(1) {
        *out = *x + *x;
    }
}

/// `out = x / y`.
#[codelet(R, R, W)]
fn ratio<T: Real>(x: T, y: T) -> T {
    x / y
}

/// `out = x * x`.
#[codelet(R, W)]
fn square<T: Real>(x: T) -> T {
    x * x
}

/// Doubles the first element only, which `RW` permits.
#[codelet(RW)]
fn double_the_first<T: Real>(x: &mut [T]) {
    if let Some(first) = x.first_mut() {
        *first = *first + *first;
    }
}

/// Adds to the first element only, which `REDUX` permits.
#[codelet(R, REDUX)]
fn add_to_the_first<T: Real>(x: &[T], out: &mut [T]) {
    out[0] += x[0];
}

/// `out = x`, every byte there is.
#[codelet(R, W)]
fn copy_bytes(x: &[u8], out: &mut [u8]) {
    out.copy_from_slice(x);
}

fn checked() -> Result<Runtime> {
    Runtime::builder().cpu_workers(2).check(true).build()
}

fn message(result: Result<Vec<f32>>) -> String {
    let error = result.expect_err("a wrong kernel");
    let ErrorKind::Task(failure) = error.kind() else { panic!("{error}") };
    assert_eq!(failure.location.file(), file!());
    failure.message.clone()
}

#[test]
fn unwritten_elements_fail_the_task_in_every_variant() -> Result<()> {
    let rt = checked()?;
    let arena = rt.arena();
    let x = arena.filled([4, 3], 1.0_f32)?;
    let mut out = arena.zeros([4, 3])?;
    forgets_a_column(&x, &mut out)?;
    let text = message(out.to_vec());
    assert!(text.contains("`out`") && text.contains("[0, 2]") && text.contains('4'), "{text}");
    let out = forgets_a_column_init(&arena, &x)?;
    assert!(message(out.to_vec()).contains("[0, 2]"));
    // In place, the runtime writes to a spare buffer and renames it.
    let mut renamed = arena.filled([4, 3], 1.0_f32)?;
    forgets_a_column_self(&mut renamed)?;
    assert!(message(renamed.to_vec()).contains("[0, 2]"));
    // A strided part, of which a kernel gets a packed copy.
    let mut whole = arena.zeros([4, 3])?;
    {
        let (inputs, mut parts) = (x.partition(Axis(1), 2)?, whole.partition_mut(Axis(1), 2)?);
        forgets_the_first(&inputs[0], &mut parts[0])?;
        assert!(message(parts[0].to_vec()).contains("[0, 0]"));
    }
    square(&x, &mut whole)?;
    assert_eq!(whole.to_vec()?, [1.0; 12]); // healed
    Ok(())
}

#[test]
fn what_is_not_finite_is_noted_once_where_it_began() -> Result<()> {
    let rt = checked()?;
    let arena = rt.arena();
    let zero = arena.zeros::<f32, 1>([3])?;
    let mut nan = arena.zeros([3])?;
    for _ in 0..3 {
        ratio(&zero, &zero, &mut nan)?;
    }
    let mut spread = arena.zeros([3])?;
    square(&nan, &mut spread)?; // not where it began
    let big = arena.filled([2], f16::from_f32(300.0))?;
    let mut overflow = arena.zeros([2])?;
    square(&big, &mut overflow)?;
    rt.wait()?;
    let notes: Vec<String> = rt.check_notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains("ratio") && notes[0].contains("NaN") && notes[0].contains(file!()),
        "{notes:?}"
    );
    assert!(notes[1].contains("square") && notes[1].contains("inf"), "{notes:?}");
    Ok(())
}

#[test]
fn right_kernels_are_left_in_peace() -> Result<()> {
    let rt = checked()?;
    let arena = rt.arena();
    fn all<T: Real>(arena: &Arena) -> Result<()> {
        let x = arena.filled([5, 4], T::ONE)?;
        let mut out = arena.zeros([5, 4])?;
        ratio(&x, &x, &mut out)?;
        double_the_first(&mut out)?;
        add_to_the_first(&x, &mut out)?;
        for part in out.partition_mut(Axis(1), 3)?.iter_mut() {
            double_the_first(part)?;
        }
        square_self(&mut out)?;
        square(&arena.zeros::<T, 2>([0, 4])?, &mut arena.zeros([0, 4])?)?;
        out.to_vec().map(drop)
    }
    all::<f16>(&arena)?;
    all::<bf16>(&arena)?;
    all::<f32>(&arena)?;
    all::<f64>(&arena)?;
    for value in 0..=255 {
        let x = arena.filled([300], value)?;
        assert_eq!(copy_bytes_init_checked(&arena, &x)?, [value; 300]);
    }
    rt.wait()?;
    assert!(rt.check_notes().is_empty());
    Ok(())
}

fn copy_bytes_init_checked(arena: &Arena, x: &Vector<'_, u8>) -> Result<Vec<u8>> {
    let mut out = arena.zeros([300])?;
    copy_bytes(x, &mut out)?;
    out.to_vec()
}
