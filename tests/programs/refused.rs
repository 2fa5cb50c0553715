//! Calls and functions that are refused, each with the line.

use dahl::ops::{add, add_init, sum_init};
use dahl::prelude::*;

#[program]
fn sum_of<'s>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, f64>,
    y: &Vector<'_, f64>,
) -> dahl::Result<Vector<'s, f64>> {
    add_init(scope, x, y)
}

#[program]
fn reads<'s>(scope: &'s Recording<'_>, x: &Vector<'_, f64>) -> dahl::Result<Scalar<'s, f64>> {
    let sum = sum_init(scope, x)?;
    if sum.to_vec()?[0] > 0.0 { Ok(sum) } else { sum_init(scope, x) }
}

#[program]
fn writes(_scope: &Recording<'_>, x: &mut Vector<'_, f64>) -> dahl::Result<()> {
    x.write()?.fill(1.0);
    Ok(())
}

#[program]
fn adds(_scope: &Recording<'_>, x: &mut Vector<'_, f64>, y: &mut Vector<'_, f64>) -> dahl::Result<()> {
    dahl::ops::add_self(x, y)
}

#[program]
fn returns_constant<'s>(scope: &'s Recording<'_>, _x: &Vector<'_, f64>) -> dahl::Result<Vector<'s, f64>> {
    scope.arena().filled([2], 1.0)
}

#[program]
fn swaps(_scope: &Recording<'_>, arrays: &mut [Vector<'_, f64>]) -> dahl::Result<()> {
    arrays.swap(0, 1);
    Ok(())
}

#[program]
fn panics(_scope: &Recording<'_>, x: &Vector<'_, f64>) -> dahl::Result<()> {
    let _parts = x.partition_into(Axis(0), 2)?;
    panic!("while it is recorded")
}

/// `y += x`, of a tuple.
#[program]
fn of_tuple(_scope: &Recording<'_>, xy: (&Vector<'_, f64>, &mut Vector<'_, f64>)) -> dahl::Result<()> {
    dahl::ops::add_self(xy.1, xy.0)
}

std::thread_local! {
    static ELSEWHERE: std::cell::RefCell<Option<[Vector<'static, f64>; 2]>> = const { std::cell::RefCell::new(None) };
}

#[program]
fn uses_others(_scope: &Recording<'_>, x: &Vector<'_, f64>) -> dahl::Result<()> {
    ELSEWHERE.with(|arrays| {
        let mut arrays = arrays.borrow_mut();
        let [other, out] = arrays.as_mut().expect("it was put there");
        let _ = x;
        add(&*other, &*other, out)
    })
}

/// The text of an error, which names a line of this file.
#[track_caller]
fn refusal<R>(result: dahl::Result<R>) -> String {
    let text = match result {
        Ok(_) => panic!("it should be refused"),
        Err(error) => error.to_string(),
    };
    assert!(text.contains("refused.rs:"), "{text}");
    text
}

#[test]
fn what_cannot_be_recorded_or_called() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let array = || rt.from_vec([2], vec![1.0, 2.0]);
    let x = array()?;

    let text = refusal(SumOf::new(&rt).call(&x, &x));
    assert!(text.starts_with("D0027: sum_of: arrays 0 and 1 of its arguments"), "{text}");

    let text = refusal(Reads::new(&rt).call(&x));
    assert!(text.starts_with("D0026: read: a program is being recorded"), "{text}");

    let text = refusal(Writes::new(&rt).call(&mut array()?));
    assert!(text.starts_with("D0026: write: a program is being recorded"), "{text}");

    let other = Runtime::builder().cpu_workers(1).build()?;
    let foreign = other.from_vec([2], vec![0.0, 0.0])?;
    let text = refusal(SumOf::new(&rt).call(&x, &foreign));
    assert!(text.starts_with("D0004: sum_of: its arrays belong to two runtimes"), "{text}");

    let text = refusal(ReturnsConstant::new(&rt).call(&x));
    assert!(text.starts_with("D0027: returns_constant: it returns an array that it has filled"), "{text}");

    ELSEWHERE.set(Some([array()?, array()?]));
    let text = refusal(UsesOthers::new(&rt).call(&x));
    assert!(text.starts_with("D0028: add: one of its arrays is neither an argument"), "{text}");
    let untouched = ELSEWHERE.take().expect("it was put there");
    assert_eq!(untouched[1].to_vec()?, [1.0, 2.0], "nothing ran");

    let mut program = Swaps::new(&rt);
    let mut arrays = [array()?, array()?];
    for _ in 0..2 {
        let text = refusal(program.call(&mut arrays));
        assert!(text.contains("it has put another array in the place of an argument"), "{text}");
    }
    assert_eq!(program.recordings(), 0);

    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Panics::new(&rt).call(&x)));
    assert!(panic.is_err());

    let mut y = array()?;
    OfTuple::new(&rt).call((&x, &mut y))?;
    assert_eq!(y.to_vec()?, [2.0, 4.0]);

    let shorter = rt.from_vec([3], vec![0.0; 3])?;
    let text = refusal(SumOf::new(&rt).call(&x, &shorter));
    assert!(text.starts_with("D0001: add: the shapes differ"), "{text}");

    // After all that, programs and arrays work as before.
    assert_eq!(SumOf::new(&rt).call(&x, &array()?)?.to_vec()?, [2.0, 4.0]);
    let (mut one, mut two) = (array()?, array()?);
    Adds::new(&rt).call(&mut one, &mut two)?;
    assert_eq!((one.to_vec()?, two.to_vec()?), (vec![2.0, 4.0], vec![1.0, 2.0]));
    Ok(())
}

#[test]
fn a_program_outlives_its_runtime_and_is_refused_then() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let (x, y) = (rt.from_vec([1], vec![1.0])?, rt.from_vec([1], vec![2.0])?);
    let mut program = SumOf::new(&rt);
    assert_eq!(program.call(&x, &y)?.to_vec()?, [3.0]);
    drop(rt);
    let text = refusal(program.call(&x, &y));
    assert!(text.starts_with("D0008: sum_of: its runtime has been dropped"), "{text}");
    Ok(())
}
