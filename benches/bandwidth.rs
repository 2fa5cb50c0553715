//! Maps and a reduction of large arrays on one worker, by the memory bandwidth that a plain copy of such arrays reaches.
//!
//! `cargo bench -p dahl-benches --bench bandwidth [-- --type f32 --json]`. Calls of an op and of the copy take turns; shown are medians.

use std::hint::black_box;
use std::time::Instant;

use dahl::Result;
use dahl::ops;
use dahl::prelude::*;
use lexopt::prelude::*;

/// Of each array: more than caches have.
const BYTES: usize = 64 << 20;

const CALLS: usize = 15;

/// Gigabytes per second of the median call, without the first one.
fn median_gb_per_s(mut seconds: Vec<f64>, bytes: usize) -> f64 {
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    bytes as f64 / seconds[seconds.len() / 2] / 1e9
}

fn seconds(task: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    task()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// An op on arrays that are read or written whole, so many of them.
struct Case<'c> {
    op: &'static str,
    arrays: usize,
    task: Box<dyn FnMut() -> Result<()> + 'c>,
}

/// What is measured, and how it is shown.
#[derive(Default)]
struct Settings {
    element: Option<String>,
    is_json: bool,
}

impl Settings {
    fn parse() -> std::result::Result<Self, lexopt::Error> {
        let mut settings = Self::default();
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("type") => settings.element = Some(parser.value()?.string()?),
                Long("json") => settings.is_json = true,
                Long("bench") => {} // cargo says so
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }

    fn rows<T: Real>(&self, rt: &Runtime, element: &str) -> Result<()> {
        if self.element.as_ref().is_some_and(|wanted| wanted != element) {
            return Ok(());
        }
        let len = BYTES / size_of::<T>();
        let numbers =
            |step: usize| (0..len).map(move |i| T::from_f64((i * step % 4001) as f64 / 1000.3 - 2.0));
        let array = |numbers: &mut dyn Iterator<Item = T>| {
            let mut array = rt.zeros::<T, 1>([len])?;
            array.write()?.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
            Ok(array)
        };
        // What is copied lies in the same kind of pages as what ops read and write.
        let (x, y, source) =
            (array(&mut numbers(7919))?, array(&mut numbers(104_729))?, array(&mut numbers(7919))?);
        let mut target = array(&mut numbers(1))?;
        let (mut relu, mut sum) = (rt.zeros::<T, 1>([len])?, rt.zeros::<T, 1>([len])?);
        let mut mean = rt.zeros::<T, 0>([])?;
        let cases = [
            Case {
                op: "relu",
                arrays: 2,
                task: Box::new(|| ops::relu(&x, &mut relu).and_then(|()| rt.wait())),
            },
            Case {
                op: "add",
                arrays: 3,
                task: Box::new(|| ops::add(&x, &y, &mut sum).and_then(|()| rt.wait())),
            },
            Case {
                op: "mean",
                arrays: 1,
                task: Box::new(|| ops::mean(&x, &mut mean).and_then(|()| rt.wait())),
            },
        ];
        let (source, mut target) = (source.read()?, target.write()?);
        let whole = "elements of an array lie side by side";
        let (source, target) = (source.as_slice().expect(whole), target.as_slice_mut().expect(whole));
        for case in cases {
            self.row(element, case, source, target)?;
        }
        Ok(())
    }

    fn row<T: Copy>(&self, element: &str, mut case: Case<'_>, source: &[T], target: &mut [T]) -> Result<()> {
        let (mut of_op, mut of_copy) = (Vec::new(), Vec::new());
        for _ in 0..CALLS {
            of_op.push(seconds(&mut case.task)?);
            of_copy.push(seconds(|| {
                black_box(&mut *target).copy_from_slice(black_box(source));
                Ok(())
            })?);
        }
        let speed = median_gb_per_s(of_op, case.arrays * BYTES);
        let copy = median_gb_per_s(of_copy, 2 * BYTES);
        if self.is_json {
            let line = serde_json::json!({ "op": case.op, "type": element, "gb_per_s": speed, "copy_gb_per_s": copy });
            println!("{line}");
        } else {
            println!("{:<6} {element:<5} {speed:>7.1} GB/s, a copy {copy:>7.1} GB/s", case.op);
        }
        Ok(())
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::parse()?;
    let rt = Runtime::builder().cpu_workers(1).check(false).build()?;
    settings.rows::<f32>(&rt, "f32")?;
    settings.rows::<f64>(&rt, "f64")?;
    settings.rows::<f16>(&rt, "f16")?;
    settings.rows::<bf16>(&rt, "bf16")?;
    Ok(())
}
