//! Model files: their contents, and the errors of invalid ones.

use std::env;
use std::process::Command;

use dahl_core::{Machine, Runtime, Speed, VirtualDevice};

#[test]
fn a_text_describes_what_calls_do() {
    let text = r#"
        [[device]]
        name = "gpu"
        speed = { gflops = 250, gbytes_per_s = 50, overhead_us = 0.2 }
        memory_mb = 0.5
        latency_us = 3
        link_gbytes_per_s = 8
        watts = 100
        idle_watts = 10
        fails_at = 4
        lost_after = 9
    "#;
    let device = VirtualDevice::new("gpu").speed(Speed::default().times(5.0)).memory_mb(0.5).link(3.0, 8.0);
    let device = device.power(100.0, 10.0).fails_at(4).lost_after(9);
    let machine = Machine { devices: vec![device], ..Machine::default() };
    assert_eq!(Machine::from_toml(text).expect("it is right"), machine);
    assert_eq!(Machine::from_toml("").expect("everything has a default"), Machine::default());
}

#[test]
fn a_wrong_text_is_an_error_that_names_the_line_or_the_figure() {
    let cases = [
        ("[cpu]\nspeed = { gflop = 3 }", "line 2"),
        ("[cpu]\nspeed = { gflop = 3 }", "unknown field `gflop`"),
        ("[[device]]\nname = 3", "line 2"),
        ("[[device]]\n\nmemory_mb = \"much\"", "line 3"),
        ("[device]\nname = \"gpu\"", "line 1"),
        ("[cpu]\nspeed = { gflops = 0 }", "cpu: gflops = 0: a rate is above 0"),
        ("[cpu]\nspeed = { gbytes_per_s = -1 }", "cpu: gbytes_per_s = -1: a rate is above 0"),
        ("[cpu]\nspeed = { overhead_us = -2 }", "cpu: overhead_us = -2: a time is 0 or more"),
        ("[cpu]\nwatts = -5", "cpu: watts = -5: a power is 0 or more"),
        ("[cpu.speed.codelets]\nstep = { us = nan }", "cpu: codelets.step.us = NaN"),
        (
            "[[device]]\nname = \"gpu\"\nspeed.codelets.step.gflops = inf",
            "device `gpu`: codelets.step.gflops = inf",
        ),
        ("[[device]]\nname = \"gpu\"\nlink_gbytes_per_s = 0", "device `gpu`: link_gbytes_per_s = 0"),
        ("[[device]]\nname = \"gpu\"\nlatency_us = -1", "device `gpu`: latency_us = -1"),
        ("[[device]]\nname = \"gpu\"\nmemory_mb = 0", "device `gpu`: memory_mb = 0"),
        ("[[device]]\nname = \"gpu\"\nidle_watts = inf", "device `gpu`: idle_watts = inf"),
        ("[[device]]\nname = \"gpu\"\nfails_at = 0", "device `gpu`: fails_at = 0: tasks are counted from 1"),
        ("[[device]]\nname = \"gpu\"\nlost_after = -1", "line 3"),
        ("[[device]]\nname = \"cpu\"", "device `cpu`: name"),
    ];
    for (text, expected) in cases {
        let error = Machine::from_toml(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}\n{error}\n{expected}");
        assert!(error.starts_with("D0010") && error.contains("tests/simulation/machine.rs"), "{error}");
    }
}

#[test]
fn what_calls_say_is_looked_at_likewise() {
    let device = VirtualDevice::new("gpu").memory_mb(f64::NAN);
    let error = Runtime::builder().virtual_device(device).build().expect_err("no such memory").to_string();
    assert!(
        error.contains("device `gpu`: memory_mb = NaN") && error.contains("tests/simulation/machine.rs"),
        "{error}"
    );
    let error = Machine::from_file("no/such/machine.toml").expect_err("no such file").to_string();
    assert!(error.contains("no/such/machine.toml"), "{error}");
}

/// Runs this test again, alone, on the machine of a file.
fn on_machine(path: &str) -> (bool, String) {
    let mut child = Command::new(env::current_exe().expect("this program"));
    child.args(["--exact", "simulation::machine::the_environment_names_a_machine", "--nocapture"]);
    let output = child.env("DAHL_MACHINE", path).output().expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_environment_names_a_machine() {
    if env::var_os("DAHL_MACHINE").is_some() {
        match Runtime::builder().cpu_workers(2).build() {
            Ok(rt) => println!("virtual: {}, {} workers", rt.clock().is_virtual(), rt.workers()),
            Err(error) => println!("{error}"),
        }
        return;
    }
    let path = env::temp_dir().join(format!("dahl-machine-{}.toml", std::process::id()));
    let name = path.display().to_string();
    std::fs::write(&path, "[[device]]\nname = \"gpu\"").expect("it can be written");
    let (ran, text) = on_machine(&name);
    assert!(ran && text.contains("virtual: true, 3 workers"), "{text}");
    std::fs::write(&path, "[[device]]\nname = \"gpu\"\nmemory_mb = -1").expect("it can be written");
    let (ran, text) = on_machine(&name);
    assert!(ran && text.contains(&name) && text.contains("memory_mb = -1"), "{text}");
    std::fs::remove_file(&path).expect("it was written");
    let (ran, text) = on_machine(&name);
    assert!(ran && text.contains(&name), "{text}");
}
