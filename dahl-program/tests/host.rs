//! What a call of a program takes the host.

use std::panic::Location;

use dahl_core::__program::Bindings;
use dahl_core::{Codelet, Machine, Result, Runtime};
use dahl_program::{Arguments, Body, Program};

use crate::numbers::{COUNT_DOWN, Number, change};

static BODY: Body =
    Body { codelet: Codelet::new("count", module_path!(), 1), parameters: &["x"], draws: false };

struct Argument<'a>(&'a mut Number<'static>);

impl Arguments for Argument<'_> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.write(self.0);
    }

    fn name(&self, parameters: &[&str], names: &mut Vec<String>) {
        names.extend(parameters.iter().map(|&name| name.to_owned()));
    }
}

#[test]
fn a_call_is_one_submission_of_the_host() -> Result<()> {
    // The argument has 8 bytes: 1 us beside the 5.
    let machine = Machine::from_toml(
        "cpu.speed.codelets.count_down.us = 2\n\
         [[cpu.submission]]\ncodelet = \"count\"\nus = 5\nus_per_mb = 131072\n\
         [[cpu.submission]]\ncodelet = \"count_down\"\nus = 100\n",
    )?;
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
    let mut program = Program::new(&rt, &BODY);
    let mut x: Number<'_> = rt.zeros([])?;
    let mut begin_ns = 0;
    let mut times = Vec::new();
    for _ in 0..3 {
        program.call::<_, ()>(&mut Argument(&mut x), Location::caller(), |Argument(x), _, _| {
            (0..3).try_for_each(|_| change(&COUNT_DOWN, x))
        })?;
        let called_ns = rt.clock().now_ns() - begin_ns;
        rt.wait()?;
        times.push((called_ns, rt.clock().now_ns() - begin_ns));
        begin_ns = rt.clock().now_ns();
    }
    // A recording submits nothing, so it takes no time. The three tasks of a call take 6 us.
    assert_eq!(times, [(6_000, 12_000); 3]);
    assert_eq!(x.to_vec()?, [-9]);
    Ok(())
}
