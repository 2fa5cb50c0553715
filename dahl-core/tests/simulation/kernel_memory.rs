//! Memory that kernels take for themselves: each simulated worker keeps its own, as the thread of a real one does.

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::codelet::KernelMemory;
use dahl_core::{
    AccessMode, Codelet, ElementType, Machine, Result, Runtime, RuntimeBuilder, Task, VirtualDevice,
};

use super::kernels::V;

/// A kernel that needs as many lines as its array has elements, and another one inside as many again.
static NEEDY: Codelet = Codelet::new("needy", module_path!(), 20)
    .parameters(&[Parameter::new("x", AccessMode::RW, ElementType::of::<i64>())])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let lines = views.slice_mut::<i64>().len();
        let (mut outer, mut inner) = (KernelMemory::take(), KernelMemory::take());
        assert_eq!(outer.lines(lines).len() + inner.lines(lines).len(), 2 * lines);
        inner.give_back();
        outer.give_back();
    }))]);

/// Runs tasks of these elements on these workers, and returns the peak of main memory.
fn peak_bytes(builder: RuntimeBuilder, tasks: &[(usize, usize)]) -> Result<usize> {
    let rt = builder.check(false).build()?;
    let mut arrays: Vec<V<'_>> = tasks.iter().map(|&(len, _)| rt.zeros([len])).collect::<Result<_>>()?;
    for (x, &(_, worker)) in arrays.iter_mut().zip(tasks) {
        let mut task = Task::new(&NEEDY);
        task.write(x);
        task.on(worker).submit()?;
    }
    rt.wait()?;
    Ok(rt.memory()[0].peak_bytes)
}

#[test]
fn a_simulated_run_has_the_peak_of_the_real_one() -> Result<()> {
    let real = |workers| Runtime::builder().cpu_workers(workers);
    let simulated = |workers| real(workers).virtual_machine(Machine::default());
    let programs: [(usize, &[(usize, usize)]); 4] = [
        (1, &[(100, 0), (300, 0), (200, 0)]),
        (2, &[(100, 0), (300, 1), (200, 0)]),
        (2, &[(100, 0), (300, 0)]),
        (3, &[(500, 2), (100, 0), (500, 1), (700, 0)]),
    ];
    for (workers, tasks) in programs {
        let expected = peak_bytes(real(workers), tasks)?;
        for _ in 0..2 {
            assert_eq!(peak_bytes(simulated(workers), tasks)?, expected, "{workers} workers: {tasks:?}");
        }
    }
    Ok(())
}

#[test]
fn what_stands_in_for_a_kernel_of_a_device_takes_no_main_memory() -> Result<()> {
    let machine = Machine { devices: vec![VirtualDevice::new("gpu")], ..Machine::default() };
    let builder = || Runtime::builder().cpu_workers(1).virtual_machine(machine.clone());
    let line_bytes = 64;
    let (on_cpu, on_device) = (peak_bytes(builder(), &[(100, 0)])?, peak_bytes(builder(), &[(100, 1)])?);
    assert_eq!(on_cpu - on_device, 2 * 100 * line_bytes);
    Ok(())
}
