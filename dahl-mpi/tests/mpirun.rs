//! Starts this program again by `mpirun`.

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::failing;

/// What says that the process is a rank, and which program it runs.
pub(crate) const AS_RANK: &str = "as-rank";

/// The options of this `mpirun` for more ranks than processors; none if there is no `mpirun`.
fn options() -> Option<Vec<&'static str>> {
    let output = Command::new("mpirun").arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_open_mpi = version.contains("Open MPI") || version.contains("OpenRTE");
    Some(if is_open_mpi { vec!["--allow-run-as-root", "--oversubscribe"] } else { Vec::new() })
}

fn mpirun(options: &[&str], ranks: usize, program: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command.args(options).args(["-n", &ranks.to_string()]).arg(program);
    command
}

fn start(options: &[&str], ranks: usize, what: &str) -> Result<Output, Failed> {
    let mut command = mpirun(options, ranks, &std::env::current_exe()?);
    command.args([AS_RANK, what]);
    // Each of them is a run of several processes.
    if std::env::var_os("PROPTEST_CASES").is_none() {
        command.env("PROPTEST_CASES", "60");
    }
    Ok(command.output()?)
}

/// An example, which `cargo test` has built.
fn example(options: &[&str], name: &str, arguments: &[&str]) -> Result<(), Failed> {
    let own = std::env::current_exe()?;
    let built = own.ancestors().nth(2).ok_or("no folder of programs")?.join("examples");
    let output = mpirun(options, 2, &built.join(name)).args(arguments).output()?;
    let text = text(&output);
    let is_same = text.contains("the same bits as on one rank") && text.contains("rank 1 of 2");
    if output.status.success() && is_same { Ok(()) } else { Err(text.into()) }
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

pub(crate) fn tests() -> ExitCode {
    let options = options();
    if options.is_none() {
        println!("skipped: there is no mpirun (Debian: openmpi-bin)");
    }
    let is_missing = options.is_none();
    let options = options.unwrap_or_default();
    let mut trials = Vec::new();
    for ranks in [2, 4] {
        let options = options.clone();
        trials.push(Trial::test(format!("programs_on_{ranks}_ranks"), move || {
            let output = start(&options, ranks, "programs")?;
            let text = text(&output);
            if output.status.success() { Ok(()) } else { Err(text.into()) }
        }));
    }
    for (test, name, arguments) in [
        ("the_example_laptop", "laptop", [].as_slice()),
        ("the_example_train", "train", &[]),
        ("the_example_train_as_a_pipeline", "train", &["pipeline"]),
        ("the_example_train_with_replicas", "train", &["replicas"]),
        ("the_example_train_with_sharded_parameters", "train", &["sharded"]),
        ("the_example_gpt", "gpt", &["160"]),
    ] {
        let options = options.clone();
        trials.push(Trial::test(test, move || example(&options, name, arguments)));
    }
    for &(what, said) in failing::ALL {
        let options = options.clone();
        trials.push(Trial::test(what, move || {
            let output = start(&options, 3, what)?;
            let text = text(&output);
            if output.status.success() {
                return Err(format!("mpirun ends well: {text}").into());
            }
            let says =
                |said: &str| text.lines().any(|line| said.split(" .. ").all(|piece| line.contains(piece)));
            match said.iter().find(|said| !says(said)) {
                Some(said) => Err(format!("it does not say `{said}`: {text}").into()),
                None => Ok(()),
            }
        }));
    }
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(is_missing)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
