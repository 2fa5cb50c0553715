//! Checked mode: kernels that violate their declarations are found, and correct ones pass.

use std::fmt::Debug;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use dahl_core::__private::{CKernel, CView, Kernel, Parameter, Views};
use dahl_core::ndarray::{Axis, Ix2};
use dahl_core::{
    AccessMode, Array, Codelet, Element, ElementType, Failure, Real, Result, Runtime, Task, bf16, f16,
};

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(1).check(true).build().expect("a runtime")
}

macro_rules! codelet {
    ($name:literal, $element:ty, [$($parameter:literal $mode:ident),*], $kernel:expr) => {
        const {
            &Codelet::new($name, module_path!(), 1)
                .parameters(const { &[$(
                    Parameter::new($parameter, AccessMode::$mode, ElementType::of::<$element>())
                ),*] })
                .kernels(const { &[$kernel] })
        }
    };
}

/// Writes every element but the last.
fn write_most<T: Real>(views: &mut Views<'_>) {
    let out = views.slice_mut::<T>();
    let len = out.len();
    for place in &mut out[..len.saturating_sub(1)] {
        *place = T::ONE;
    }
}

fn write_first_row<T: Real>(views: &mut Views<'_>) {
    views.view_mut::<T, Ix2>().row_mut(0).fill(T::ONE);
}

fn write_all<T: Element>(views: &mut Views<'_>) {
    views.slice_mut::<T>().fill(T::ONE);
}

fn write_runs<T: Element>(views: &mut Views<'_>) {
    views.for_each_run(|run| run.slice_mut::<T>().fill(T::ONE));
}

fn skip_in_runs<T: Element>(views: &mut Views<'_>) {
    views.for_each_run(|run| {
        for place in run.slice_mut::<T>().iter_mut().step_by(2) {
            *place = T::ONE;
        }
    });
}

#[track_caller]
fn fill<T: Element, const N: usize>(codelet: &'static Codelet, out: &mut Array<'_, T, N>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(out);
    task.submit()
}

#[track_caller]
fn map<T: Element, const N: usize>(
    codelet: &'static Codelet,
    x: &Array<'_, T, N>,
    out: &mut Array<'_, T, N>,
) -> Result<()> {
    let mut task = Task::new(codelet);
    task.read(x);
    task.write(out);
    task.submit()
}

/// The message of a failed `result`.
fn message<T: Debug>(result: Result<T>) -> String {
    match result.unwrap_err().kind() {
        dahl_core::ErrorKind::Task(failure) => {
            let failure: &Arc<Failure> = failure;
            assert_eq!(failure.location.file(), file!());
            failure.message.clone()
        }
        other => panic!("{other}"),
    }
}

fn an_unwritten_last_element_is_found<T: Real>() -> Result<()> {
    let rt = runtime();
    let mut out = rt.zeros::<T, 2>([3, 5])?;
    fill(codelet!("most", T, ["out" W], Some(Kernel::new("rust", write_most::<T>))), &mut out)?;
    let text = message(out.to_vec());
    for part in ["`rust`", "1 of 15", "`out`", "[2, 4]"] {
        assert!(text.contains(part), "{}: {text}", T::NAME);
    }
    fill(codelet!("all", T, ["out" W], Some(Kernel::new("rust", write_all::<T>))), &mut out)?;
    assert!(out.to_vec()?.iter().all(|x| *x == T::ONE));
    Ok(())
}

#[test]
fn an_unwritten_last_element_is_found_in_every_type() -> Result<()> {
    an_unwritten_last_element_is_found::<f16>()?;
    an_unwritten_last_element_is_found::<bf16>()?;
    an_unwritten_last_element_is_found::<f32>()?;
    an_unwritten_last_element_is_found::<f64>()
}

fn write_bytes_but_three(views: &mut Views<'_>) {
    let out = views.slice_mut::<u8>();
    for (i, place) in out.iter_mut().enumerate().skip(3) {
        *place = i as u8;
    }
}

fn write_every_byte(views: &mut Views<'_>) {
    for (i, place) in views.slice_mut::<u8>().iter_mut().enumerate() {
        *place = i as u8;
    }
}

fn write_integers<T: Element>(views: &mut Views<'_>) {
    let out = views.slice_mut::<T>();
    let last = out.len() - 1;
    out[..last].fill(T::ONE);
}

#[test]
fn unwritten_integers_are_found_and_written_ones_are_not() -> Result<()> {
    let rt = runtime();
    let mut bytes = rt.zeros::<u8, 1>([600])?;
    let most = codelet!("bytes", u8, ["out" W], Some(Kernel::new("rust", write_bytes_but_three)));
    fill(most, &mut bytes)?;
    let text = message(bytes.to_vec());
    assert!(text.contains("3 of 600") && text.contains("[0]"), "{text}");
    fill(codelet!("every byte", u8, ["out" W], Some(Kernel::new("rust", write_every_byte))), &mut bytes)?;
    assert_eq!(bytes.to_vec()?, (0..600).map(|i| i as u8).collect::<Vec<_>>());
    macro_rules! found {
        ($($integer:ty)*) => {$(
            let mut out = rt.zeros::<$integer, 1>([9])?;
            let codelet = codelet!(
                "integers", $integer, ["out" W], Some(Kernel::new("rust", write_integers::<$integer>))
            );
            fill(codelet, &mut out)?;
            let text = message(out.to_vec());
            assert!(text.contains("1 of 9") && text.contains("[8]"), "{text}");
        )*};
    }
    found!(u32 i32 i64);
    Ok(())
}

#[test]
fn unwritten_elements_of_strided_parts_are_found() -> Result<()> {
    let rt = runtime();
    let mut whole = rt.zeros::<f32, 2>([4, 6])?;
    let kernels = [
        codelet!("skips", f32, ["out" W], Some(Kernel::new("rust", skip_in_runs::<f32>))),
        codelet!("most", f32, ["out" W], Some(Kernel::new("rust", write_most::<f32>))),
        codelet!("row", f32, ["out" W], Some(Kernel::new("rust", write_first_row::<f32>))),
    ];
    for (codelet, count) in kernels.into_iter().zip(["8 of 16", "1 of 16", "12 of 16"]) {
        {
            let mut parts = whole.partition_mut(Axis(1), 4)?;
            fill(codelet, &mut parts[0])?;
            let text = message(parts[0].to_vec());
            assert!(text.contains(count), "{text}");
        }
        fill(codelet!("all", f32, ["out" W], Some(Kernel::new("rust", write_runs::<f32>))), &mut whole)?;
    }
    {
        let mut parts = whole.partition_mut(Axis(1), 4)?;
        fill(codelet!("all", f32, ["out" W], Some(Kernel::new("rust", write_all::<f32>))), &mut parts[0])?;
        fill(codelet!("runs", f32, ["out" W], Some(Kernel::new("rust", write_runs::<f32>))), &mut parts[1])?;
    }
    assert_eq!(whole.to_vec()?, [1.0; 24]);
    let mut empty = rt.zeros::<f32, 2>([0, 3])?;
    fill(codelet!("all", f32, ["out" W], Some(Kernel::new("rust", write_all::<f32>))), &mut empty)?;
    empty.to_vec()?;
    rt.wait()
}

/// `dahl_raw_view` of `dahl.h`.
#[repr(C)]
struct View {
    data: *mut f32,
    rank: usize,
    extents: *const usize,
    strides: *const isize,
}

/// A kernel "in C": `out = x` by strides, and where `x` is 13, `x = 0`.
#[allow(unsafe_code, clippy::multiple_unsafe_ops_per_block, reason = "written as in C")]
unsafe extern "C" fn copy_and_spoil(views: *const View, _: *const u8) {
    // SAFETY: the runtime passes two views of matrices of one shape, as the kernel is declared.
    unsafe {
        let (x, out) = (&*views, &*views.add(1));
        assert_eq!(x.rank, 2);
        for row in 0..*out.extents as isize {
            for column in 0..*out.extents.add(1) as isize {
                let from = x.data.offset(row * *x.strides + column * *x.strides.add(1));
                *out.data.offset(row * *out.strides + column * *out.strides.add(1)) = *from;
                if *from == 13.0 {
                    *from = 0.0;
                }
            }
        }
    }
}

#[allow(unsafe_code, reason = "as `dahl-build` writes it")]
static SPOIL_C: CKernel = {
    type Function = unsafe extern "C" fn(*const View, *const u8);
    // SAFETY: views are of `repr(C)` and have the same fields.
    let function = unsafe { std::mem::transmute::<Function, dahl_core::codelet::CFunction>(copy_and_spoil) };
    // SAFETY: it reads two views and no argument. Its write to the first is what the test is about.
    unsafe {
        CKernel::new(("spoil_c", "spoil", "check.rs:1"), &[CView::In, CView::Out], &[], Some(function), None)
    }
};

#[test]
fn a_c_kernel_that_changes_its_input_is_found_and_does_no_harm() -> Result<()> {
    let rt = runtime();
    let codelet: &'static Codelet = Box::leak(Box::new(
        Codelet::new("spoil", module_path!(), 1)
            .parameters(
                const {
                    &[
                        Parameter::new("x", AccessMode::R, ElementType::of::<f32>()),
                        Parameter::new("out", AccessMode::W, ElementType::of::<f32>()),
                    ]
                },
            )
            .kernels(Box::leak(Box::new([SPOIL_C.kernel::<f32>()]))),
    ));
    let elements: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let mut x = rt.from_vec([4, 6], elements.clone())?;
    let mut out = rt.zeros::<f32, 2>([4, 6])?;
    map(codelet, &x, &mut out)?;
    let text = message(out.to_vec());
    assert!(text.contains("spoil_c") && text.contains("`x`") && text.contains("[2, 1]"), "{text}");
    assert_eq!(x.to_vec()?, elements);
    // Strided parts without and with the element that is overwritten.
    let mut outs = out.partition_mut(Axis(1), 1)?;
    let parts = x.partition_mut(Axis(1), 1)?;
    map(codelet, &parts[0], &mut outs[0])?;
    assert_eq!(outs[0].to_vec()?, [0.0, 6.0, 12.0, 18.0]);
    map(codelet, &parts[1], &mut outs[1])?;
    let text = message(outs[1].to_vec());
    assert!(text.contains("[2, 0]"), "{text}");
    assert_eq!(parts[1].to_vec()?, [1.0, 7.0, 13.0, 19.0]);
    Ok(())
}

fn square<T: Real>(views: &mut Views<'_>) {
    let (x, out) = (views.slice::<T>(), views.slice_mut::<T>());
    for (x, out) in x.iter().zip(out) {
        *out = T::narrow(x.widen() * x.widen());
    }
}

fn ratio(views: &mut Views<'_>) {
    let (x, out) = (views.slice::<f64>(), views.slice_mut::<f64>());
    for (x, out) in x.iter().zip(out) {
        *out = 2.0 * x / x;
    }
}

#[test]
fn what_is_not_finite_is_noted_where_it_began() -> Result<()> {
    let rt = runtime();
    let squares = codelet!("square", f16, ["x" R, "out" W], Some(Kernel::new("rust", square::<f16>)));
    let x = rt.from_vec([2, 2], [1.0, 2.0, 3.0, 300.0].map(f16::from_f32).to_vec())?;
    let mut out = rt.zeros([2, 2])?;
    let mut again = rt.zeros([2, 2])?;
    for _ in 0..3 {
        map(squares, &x, &mut out)?;
    }
    map(squares, &out, &mut again)?;
    let ratios = codelet!("ratio", f64, ["x" R, "out" W], Some(Kernel::new("rust", ratio)));
    let zeros = rt.zeros::<f64, 1>([3])?;
    let mut ones = rt.zeros([3])?;
    map(ratios, &zeros, &mut ones)?;
    rt.wait()?;
    let notes = rt.check_notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!((notes[0].codelet, notes[0].parameter, &notes[0].index[..]), ("square", "out", &[1, 1][..]));
    assert_eq!(notes[0].value, f64::INFINITY);
    assert_eq!((notes[1].codelet, &notes[1].index[..]), ("ratio", &[0][..]));
    assert!(notes[1].value.is_nan() && notes[1].to_string().contains(file!()), "{}", notes[1]);
    Ok(())
}

#[test]
fn the_mode_can_be_off() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).check(false).build()?;
    let mut out = rt.zeros::<f32, 1>([2])?;
    fill(codelet!("most", f32, ["out" W], Some(Kernel::new("rust", write_most::<f32>))), &mut out)?;
    assert_eq!(out.to_vec()?, [1.0, 0.0]);
    Ok(())
}

static GATE: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);
static ORDER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn wait_at_the_gate(views: &mut Views<'_>) {
    views.slice_mut::<u8>().fill(0);
    let gate = GATE.lock().unwrap().take();
    gate.expect("a gate").recv().expect("a sender");
}

fn log_order(views: &mut Views<'_>) {
    ORDER.lock().unwrap().push(views.slice::<u8>()[0]);
    views.slice_mut::<u8>().fill(0);
}

/// The order in which eight independent tasks run that become ready at the same time.
fn order(seed: u64) -> Result<Vec<u8>> {
    let (open, gate) = mpsc::channel();
    *GATE.lock().unwrap() = Some(gate);
    ORDER.lock().unwrap().clear();
    let rt = Runtime::builder().cpu_workers(1).check(true).check_seed(seed).build()?;
    assert_eq!(rt.scheduler(), "ws");
    let gate = codelet!("gate", u8, ["out" W], Some(Kernel::new("rust", wait_at_the_gate)));
    let log = codelet!("log", u8, ["x" R, "out" W], Some(Kernel::new("rust", log_order)));
    let mut held = rt.zeros::<u8, 1>([1])?;
    fill(gate, &mut held)?;
    while GATE.lock().unwrap().is_some() {
        std::thread::yield_now(); // the gate is closed before the others come
    }
    let numbers = (0..8_u8).map(|i| rt.from_vec([1], vec![i])).collect::<Result<Vec<_>>>()?;
    let mut outputs = (0..8).map(|_| rt.zeros::<u8, 1>([1])).collect::<Result<Vec<_>>>()?;
    for (number, out) in numbers.iter().zip(&mut outputs) {
        map(log, number, out)?;
    }
    open.send(()).expect("a kernel that waits");
    rt.wait()?;
    Ok(ORDER.lock().unwrap().clone())
}

#[test]
fn independent_tasks_run_in_the_order_of_a_seed() -> Result<()> {
    let orders = [order(1)?, order(2)?, order(1)?];
    assert_eq!(orders[0], orders[2]);
    assert_ne!(orders[0], orders[1]);
    let mut sorted = orders[0].clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
    Ok(())
}
