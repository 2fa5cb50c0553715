//! The examples on tiles, in small sizes: every scheduler, both types, sizes that are not multiples of the tiles, a
//! simulated machine.
#![allow(clippy::duplicate_mod, reason = "each example has the module that both share")]

#[path = "../examples/tiled_cholesky.rs"]
#[allow(dead_code, reason = "the example's command line")]
pub mod tiled_cholesky;
#[path = "../examples/tiled_matmul.rs"]
#[allow(dead_code, reason = "the example's command line")]
pub mod tiled_matmul;

use dahl::Runtime;

const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tiled/machine.toml");

fn cholesky(arguments: &[&str]) -> tiled_cholesky::Outcome {
    let program = std::iter::once(&"tiled_cholesky").chain(arguments);
    let settings = tiled_cholesky::Settings::parse(program).unwrap().expect("no help was asked for");
    tiled_cholesky::run_type(&settings).unwrap()
}

fn matmul(arguments: &[&str]) -> tiled_matmul::Outcome {
    let program = std::iter::once(&"tiled_matmul").chain(arguments);
    let settings = tiled_matmul::Settings::parse(program).unwrap().expect("no help was asked for");
    tiled_matmul::run_type(&settings).unwrap()
}

#[test]
fn cholesky_factors_multiply_to_the_matrix() {
    for scheduler in Runtime::schedulers() {
        for element in ["f32", "f64"] {
            for (n, tile) in [("100", "100"), ("150", "40"), ("7", "3"), ("5", "9")] {
                let run = cholesky(&[
                    "--n",
                    n,
                    "--tile",
                    tile,
                    "--type",
                    element,
                    "--scheduler",
                    scheduler,
                    "--workers",
                    "2",
                ]);
                let place = format!("{scheduler} {element} {n} {tile}");
                assert!(run.error <= run.bound, "{place}: {:e} > {:e}", run.error, run.bound);
                // A residual of 0 would mean that nothing was compared.
                assert!(run.error > 0.0, "{place}");
            }
        }
    }
}

#[test]
fn products_in_tiles_are_exact_in_f64() {
    for scheduler in Runtime::schedulers() {
        for (n, tile) in [("64", "64"), ("150", "40"), ("5", "9")] {
            let arguments = ["--n", n, "--tile", tile, "--scheduler", scheduler, "--workers", "2"];
            assert_eq!(matmul(&arguments).error, 0.0, "{scheduler} {n} {tile}");
            let run = matmul(&[&arguments[..], &["--type", "f32"]].concat());
            assert!(run.error <= run.bound, "{scheduler} {n} {tile}");
        }
    }
}

#[test]
fn a_simulated_machine_gives_the_same_factors_and_the_same_rate_each_time() {
    let arguments = ["--n", "160", "--tile", "32", "--workers", "2", "--scheduler", "eager"];
    let simulated = [&arguments[..], &["--machine", MACHINE]].concat();
    let (real, first, second) = (cholesky(&arguments), cholesky(&simulated), cholesky(&simulated));
    assert_eq!(real.error, first.error);
    assert_eq!((first.error, first.gflops), (second.error, second.gflops));
    assert!(first.gflops < 700.0, "{}: the machine's limit is 700", first.gflops);
}

#[test]
fn wrong_arguments_are_errors_that_name_them() {
    for (arguments, expected) in [
        (["--type", "f16"], "--type f16: expected f32 or f64"),
        (["--tile", "0"], "0: expected a number above 0"),
        (["--n", "many"], "cannot parse argument \"many\""),
        (["--size", "9"], "invalid option '--size'"),
    ] {
        let program = std::iter::once("tiled_matmul").chain(arguments);
        let error = tiled_matmul::Settings::parse(program).err().expect("they are wrong").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let program = ["tiled_matmul", "--machine", "no-such-machine.toml"];
    let settings = tiled_matmul::Settings::parse(program).unwrap().expect("no help was asked for");
    let error = tiled_matmul::run_type(&settings).err().expect("there is no such file").to_string();
    assert!(error.contains("no-such-machine.toml"), "{error}");
}
