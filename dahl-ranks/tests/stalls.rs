//! The stall report of a rank says what it waits for: another rank goes on when the report is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Runtime, RuntimeBuilder, Task};

use crate::programs::kernels::{V, scale};

static IS_REPORTED: AtomicBool = AtomicBool::new(false);

fn wait_for_report() {
    while !IS_REPORTED.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

/// `x = x`, when the report is there
static HOLD: Codelet = Codelet::new("hold", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, ElementType::of::<f32>())])
    .kernels(&[Some(Kernel::new("rust", |_: &mut Views<'_>| wait_for_report()))]);

/// The first report of rank 0.
fn report(program: impl Fn(&Runtime) -> Result<()> + Sync) -> String {
    let report: Arc<Mutex<Option<String>>> = Arc::default();
    IS_REPORTED.store(false, Ordering::Release);
    let builder = || -> RuntimeBuilder {
        let report = Arc::clone(&report);
        let builder =
            Runtime::builder().cpu_workers(1).cuda_devices(0).stall_report_after(Duration::from_millis(20));
        builder.on_stall(move |text| {
            if text.starts_with("dahl: rank 0 of 2 stalled") {
                report.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text.to_owned());
                IS_REPORTED.store(true, Ordering::Release);
            }
        })
    };
    dahl_ranks::threads(2, 1, builder, program).expect("no rank fails");
    report.lock().unwrap_or_else(PoisonError::into_inner).take().expect("it is reported")
}

/// One after the other, since they share the flag.
pub(crate) fn a_report_names_what_a_rank_waits_for() {
    let text = report(|rt| {
        let (mut x, mut y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        scale(&mut y, 1.0, Some(1))?;
        let mut task = Task::new(&HOLD);
        task.write(&mut x);
        task.on_rank(1).submit()?;
        x.read().map(drop)
    });
    assert!(
        text.contains("1 awaited from other ranks:\n    array 1 of the program, after 1 writes, from rank 1"),
        "{text}"
    );
    assert!(text.contains("stalls.rs"), "{text}");

    let text = report(|rt| {
        if rt.rank() == 1 {
            wait_for_report();
        }
        let x: V = rt.zeros([3])?;
        x.read().map(drop)
    });
    let meeting = "1 awaited from other ranks:\n    rank 1, which has not come to: read of array 0 at";
    assert!(text.contains(meeting), "{text}");
}
