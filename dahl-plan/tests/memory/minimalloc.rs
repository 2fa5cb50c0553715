//! The instances of MiniMalloc's paper: buffers of machine learning models, which must fit into 1 MiB.

use dahl_plan::memory::{Buffer, Error, Options, allocate};

use super::checker::{check, load};

const CAPACITY: u64 = 1 << 20;

/// The lines `id,lower,upper,size` of an instance.
fn read(name: &str) -> Vec<Buffer> {
    let path = format!("{}/tests/minimalloc/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let number = |cell: &str| cell.parse::<i64>().unwrap_or_else(|error| panic!("{path}: `{cell}`: {error}"));
    let line = |line: &str| match line.split(',').map(number).collect::<Vec<_>>()[..] {
        [id, lower, upper, size] => Buffer { id: id as u64, lower, upper, size: size as u64 },
        _ => panic!("{path}: `{line}`"),
    };
    text.lines().skip(1).map(line).collect()
}

fn fits(name: &str) {
    let buffers = read(name);
    let options = Options { capacity: Some(CAPACITY), steps: 10_000_000_000, ..Options::default() };
    let plan = allocate(&buffers, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    check(&buffers, &plan, 1);
    assert!(plan.peak <= CAPACITY, "{name}: {}", plan.peak);
}

#[test]
fn a() {
    fits("A");
}

#[test]
fn b() {
    fits("B");
}

#[test]
fn c() {
    fits("C");
}

#[test]
fn d() {
    fits("D");
}

#[test]
fn e() {
    fits("E");
}

#[test]
fn f() {
    fits("F");
}

#[test]
fn a_byte_less_than_live_at_one_time_is_refused() {
    for name in ["A", "B", "C", "D", "E", "F"] {
        let buffers = read(name);
        let lower_bound = load(&buffers);
        let capacity = lower_bound - 1;
        let refused = allocate(&buffers, &Options { capacity: Some(capacity), ..Options::default() });
        assert_eq!(refused, Err(Error::DoesNotFit { capacity, lower_bound, is_load: true }));
    }
}
