//! `dahl simulate` and `dahl machine calibrate`: a traced run in virtual time is simulated again to the nanosecond.

use dahl::{Machine, Runtime, Submission};
use serde_json::Value;

use super::folder::{Folder, text};
use super::plan_of_run::{cholesky, machine};

/// Traces the program on a machine, and returns its nanoseconds, the transfers and their bytes.
fn traced(folder: &Folder, machine: &Machine, cpus: usize) -> (u64, u64, u64) {
    let builder = Runtime::builder().virtual_machine(machine.clone()).cpu_workers(cpus).scheduler("eager");
    let rt = builder.trace(folder.path("run.json")).build().expect("a runtime");
    cholesky(&rt, 5).expect("the tasks succeed");
    let transfers = rt.transfers();
    let sum = |of: fn(&dahl::TransferTotal) -> u64| transfers.iter().map(of).sum();
    (rt.clock().now_ns(), sum(|total| total.count), sum(|total| total.bytes))
}

fn object(printed: &str) -> Value {
    serde_json::from_str(printed).expect("JSON")
}

fn sum(value: &Value, of: &str) -> u64 {
    value["transfers"].as_array().expect("a list").iter().map(|row| row[of].as_u64().expect("a number")).sum()
}

#[test]
fn a_run_is_simulated_again_to_the_nanosecond_and_the_byte() {
    for (cpus, link) in [(1, None), (2, None), (3, None), (1, Some(1.0)), (2, Some(0.01))] {
        let (folder, machine) = (Folder::new(), machine(link));
        folder.write("cholesky.toml", &toml::to_string(&machine).expect("a machine is TOML"));
        let (nanoseconds, transfers, bytes) = traced(&folder, &machine, cpus);
        let words =
            format!("simulate run.json --machine cholesky.toml --cpus {cpus} --scheduler eager --json");
        let found = object(&folder.prints(&words));
        assert_eq!(found["nanoseconds"], nanoseconds, "{cpus} workers, link {link:?}: {found}");
        assert_eq!((sum(&found, "count"), sum(&found, "bytes")), (transfers, bytes), "{found}");
        assert_eq!(found["recorded_nanoseconds"], nanoseconds, "{found}");
    }
}

#[test]
fn what_if_the_machine_were_another_one() {
    let (folder, slow) = (Folder::new(), machine(Some(0.01)));
    folder.write("cholesky.toml", &toml::to_string(&slow).expect("a machine is TOML"));
    traced(&folder, &slow, 2);
    let simulate = |words: &str| {
        let words = format!("simulate run.json --machine cholesky.toml --json {words}");
        object(&folder.prints(&words))["nanoseconds"].as_u64().expect("a number")
    };
    let as_it_is = simulate("--scheduler eager");
    assert!(simulate("--scheduler eager --set device.gpu.link_gbytes_per_s=100") < as_it_is);
    assert!(simulate("--scheduler eager --set cpu.speed.codelets.gemm.us=6700") > as_it_is);
    let output = folder.dahl("simulate run.json --machine cholesky.toml --set device.npu.watts=3");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no `npu`: expected one of gpu"), "{output:?}");
    let output = folder.dahl("simulate cholesky.toml --machine cholesky.toml");
    assert!(text(&output.stderr).contains("expected the trace of a run, or a saved program"), "{output:?}");
}

#[test]
fn a_simulation_follows_a_plan() {
    let (folder, machine) = (Folder::new(), machine(None));
    folder.write("cholesky.toml", &toml::to_string(&machine).expect("a machine is TOML"));
    traced(&folder, &machine, 2);
    let of_machine = "run.json --machine cholesky.toml --cpus 2";
    let plan =
        object(&folder.prints(&format!("plan schedule {of_machine} --steps 2000 --out best.plan --json")));
    let found = object(&folder.prints(&format!("simulate {of_machine} --plan best.plan --json")));
    assert_eq!(found["nanoseconds"], plan["plans"][0]["nanoseconds"]);
    assert_eq!(
        (&found["plan_divergences"], &found["scheduler"]),
        (&Value::Array(Vec::new()), &"static".into())
    );
}

#[test]
fn a_machine_is_measured_from_traces() {
    let (folder, machine) = (Folder::new(), machine(Some(1.0)));
    let (nanoseconds, ..) = traced(&folder, &machine, 1);
    let printed = folder.prints("machine calibrate --trace run.json");
    folder.write("measured.toml", &printed);
    let measured = Machine::from_toml(&printed).expect("it is a machine file");
    let us = |name: &str| measured.cpu.speed.codelets[name].measured[0].us;
    assert_eq!((us("potrf"), us("gemm")), (11.0, 67.0));
    let device = &measured.devices[0];
    assert_eq!((&*device.name, device.speed.codelets["gemm"].measured[0].us), ("gpu", 22.333));
    let words = "simulate run.json --machine measured.toml --cpus 1 --scheduler eager --json";
    let again = object(&folder.prints(words))["nanoseconds"].as_u64().expect("a number");
    assert!(again.abs_diff(nanoseconds) * 50 < nanoseconds, "{again} ns of {nanoseconds} on\n{printed}");
}

#[test]
fn what_the_host_does_before_submissions_is_measured_from_traces() {
    let (folder, mut machine) = (Folder::new(), machine(None));
    let submission = |(codelet, after, us): (&str, Option<&str>, f64)| Submission {
        codelet: codelet.to_owned(),
        after: after.map(str::to_owned),
        us,
        us_per_mb: 0.0,
    };
    let times = [
        ("gemm", Some("gemm"), 3.5),
        ("gemm", Some("syrk"), 2.25),
        ("gemm", None, 9.0),
        ("potrf", None, 4.0),
        ("syrk", None, 26.0),
        ("trsm", None, 1.0),
    ];
    machine.cpu.submissions = times.map(submission).into();
    let (nanoseconds, ..) = traced(&folder, &machine, 2);
    let printed = folder.prints("machine calibrate --trace run.json");
    let measured = Machine::from_toml(&printed).expect("it is a machine file").cpu.submissions;
    let us = |codelet, after| Submission::find(&measured, codelet, Some(after)).map(|own| own.us_of(0.0));
    let found = [us("gemm", "gemm"), us("gemm", "syrk"), us("syrk", "trsm"), us("trsm", "potrf")];
    assert_eq!(found, [3.5, 2.25, 26.0, 1.0].map(Some), "{measured:?}");
    assert_eq!(us("potrf", "nothing that it came after"), Some(4.0));
    machine.cpu.submissions = measured;
    assert_eq!(traced(&folder, &machine, 2).0, nanoseconds);
    // The tasks that stand in for those of the trace have the host's time too.
    folder.write("measured.toml", &toml::to_string(&machine).expect("a machine is TOML"));
    let simulate = |cpus: usize| {
        let words =
            format!("simulate run.json --machine measured.toml --cpus {cpus} --scheduler eager --json");
        object(&folder.prints(&words))["nanoseconds"].as_u64().expect("a number")
    };
    // A trace begins with the first submission: `potrf`, 4 us after the run did.
    assert_eq!(simulate(2), nanoseconds - 4_000);
    // More workers have more cores.
    machine.cpu.cores = Some(2);
    folder.write("measured.toml", &toml::to_string(&machine).expect("a machine is TOML"));
    assert!(simulate(8) <= simulate(2));
}

#[test]
fn a_saved_program_is_simulated_and_planned() {
    let folder = Folder::new();
    let printed = folder.prints("simulate step.program --machine machine.toml --cpus 2 --scheduler heft");
    assert!(printed.contains("tasks by heft"), "{printed}");
    let plan = "plan schedule step.program --machine machine.toml --steps 500 --json";
    assert!(object(&folder.prints(plan))["tasks"].as_u64().is_some_and(|tasks| tasks > 5));
    let output = folder.dahl("simulate step.program");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("say what it runs on by `--machine FILE`"), "{output:?}");
    let output = folder.dahl("plan schedule step.program");
    assert_eq!(output.status.code(), Some(2));
}
