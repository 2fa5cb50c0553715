//! Tests of estimates, on made-up durations.

use std::sync::Arc;
use std::time::Duration;

use super::entry::{Earlier, ModelEntry, Rules};
use super::estimate::Basis;
use super::family::Family;
use super::history::History;
use super::prediction::{ErrorSum, Errors};
use super::regression::Curve;
use super::samples::Totals;
use super::statistics::Window;
use super::store::Store;
use super::table::Table;
use super::work::Work;
use crate::codelet::Codelet;

static CODELET: Codelet = Codelet::new("codelet", module_path!(), 1);
const WORKERS: usize = 2;
const REAL: Rules = Rules { required: 2, is_first_apart: true, calibrates: false };

fn family() -> Arc<Family> {
    Arc::new(Family::new(&CODELET, "rust", "cpu", WORKERS))
}

/// The entry of a task that moves `bytes` bytes.
fn entry(family: &Arc<Family>, bytes: f64, earlier: Earlier, rules: Rules) -> Arc<ModelEntry> {
    let work = Work { flops: None, bytes };
    let entry = Arc::new(ModelEntry::new(
        Arc::clone(family),
        vec![vec![bytes as usize]],
        work,
        earlier,
        WORKERS,
        rules,
    ));
    family.add(&entry);
    entry
}

fn expected(entry: &ModelEntry) -> Option<(u64, Basis)> {
    entry.estimate().map(|estimate| (estimate.ns, estimate.basis))
}

#[test]
fn one_slow_outlier_is_never_believed() {
    let entry = entry(&family(), 1.0, Earlier::default(), REAL);
    entry.add(0, 1_000_000); // the first call
    assert_eq!(expected(&entry), None);
    entry.add(0, 900_000); // an outlier: nothing is expected of a single duration
    assert_eq!(expected(&entry), None);
    entry.add(0, 100);
    assert_eq!(expected(&entry), Some((100, Basis::Measured)));
    for round in 0..200 {
        entry.add(0, if round % 5 == 4 { 10_000_000 } else { 100 + round % 3 });
        let (ns, _) = expected(&entry).expect("it has been measured");
        assert!((100..=102).contains(&ns), "round {round}: {ns} ns");
    }
    let history = History::of_all(&entry).expect("it has been measured");
    assert_eq!((history.count, history.first_us), (203, Some(1000.0)));
    assert!(history.median_us < 0.103 && history.spread_us < 0.01, "{history:?}");
    assert!(history.mean_us > 1000.0 && history.max_us == 10_000.0, "{history:?}");
}

#[test]
fn what_no_longer_holds_is_forgotten() {
    let entry = entry(&family(), 1.0, Earlier::default(), REAL);
    (0..100).for_each(|_| entry.add(0, 100));
    (0..48).for_each(|_| entry.add(0, 700));
    assert_eq!(expected(&entry), Some((700, Basis::Measured)));
}

#[test]
fn the_first_call_of_each_worker_is_kept_apart() {
    let entry = entry(&family(), 1.0, Earlier::default(), REAL);
    for (worker, first, others) in [(0, 5000, 100), (1, 7000, 100), (WORKERS, 9000, 130)] {
        entry.add(worker, first);
        (0..20).for_each(|_| entry.add(worker, others));
    }
    let history = History::of_all(&entry).expect("it has been measured");
    assert_eq!((history.count, history.first_us, history.median_us), (63, Some(7.0), 0.1));
    assert_eq!((history.min_us, history.max_us, history.mean_us), (0.1, 0.13, 0.11));
    let rows: Vec<_> = History::of_workers(&entry, WORKERS).collect();
    let row = |worker: usize| {
        let history = &rows[worker].history;
        (rows[worker].worker, history.count, history.first_us, history.median_us)
    };
    assert_eq!(row(0), (Some(0), 21, Some(5.0), 0.1));
    assert_eq!(row(1), (Some(1), 21, Some(7.0), 0.1));
    assert_eq!(row(2), (None, 21, Some(9.0), 0.13));
}

#[test]
fn a_first_call_alone_is_shown_but_nothing_is_expected_of_it() {
    let entry = entry(&family(), 1.0, Earlier::default(), REAL);
    entry.add(1, 5000);
    assert_eq!(expected(&entry), None);
    let history = History::of_all(&entry).expect("it has been measured");
    assert_eq!((history.count, history.median_us, history.first_us), (1, 5.0, Some(5.0)));
}

#[test]
fn earlier_runs_give_way_to_this_one() {
    let ns = 100_000.0;
    let totals = Totals {
        count: 32,
        sum_ns: 32.0 * ns,
        squares: 32.0 * ns * ns,
        min_ns: ns,
        max_ns: ns,
        ..Totals::default()
    };
    let earlier = Earlier { totals, recent: vec![100_000; 32] };
    let entry = entry(&family(), 1.0, earlier, REAL);
    assert_eq!(expected(&entry), Some((100_000, Basis::Measured)));
    entry.add(0, 1_000_000_000); // the first call of this run
    (0..3).for_each(|_| entry.add(0, 300_000));
    assert_eq!(expected(&entry), Some((100_000, Basis::Measured)));
    (0..29).for_each(|_| entry.add(0, 300_000));
    assert_eq!(expected(&entry), Some((300_000, Basis::Measured)));
    assert_eq!(History::of_all(&entry).expect("it has been measured").count, 32 + 33);
}

#[test]
fn medians_and_deviations() {
    let window = |ns: &[u64]| {
        let mut window = Window::new();
        ns.iter().for_each(|&ns| window.push(ns));
        window
    };
    assert_eq!(window(&[]).median(), None);
    assert_eq!(window(&[7]).median(), Some(7));
    assert_eq!(window(&[9, 7]).median(), Some(7));
    let (median, spread) = window(&[1, 2, 3, 4, 1000]).median_and_spread().expect("there are some");
    assert_eq!((median, spread), (3.0, 1.4826));
}

#[test]
fn a_curve_is_found_and_one_bad_measurement_does_not_bend_it() {
    for (a, b, c) in
        [(3.0, 1.5, 500.0), (0.25, 1.0, 0.0), (0.01, 2.8, 1e4), (0.0, 1.0, 4000.0), (80.0, 0.5, 9.0)]
    {
        let ns = |size: f64| a * size.powf(b) + c;
        let mut points: Vec<_> =
            (1..=8).map(|step| f64::from(step) * 1000.0).map(|size| (size, ns(size))).collect();
        for outlier in [None, Some(3), Some(7)] {
            if let Some(place) = outlier {
                points[place].1 *= 20.0;
            }
            let curve = Curve::fit(&points).unwrap_or_else(|| panic!("{a} n^{b} + {c} is a curve"));
            for size in [1500.0, 5300.0, 7000.0, 20_000.0_f64] {
                let (found, exact) = (curve.at(size).expect("the size is near") as f64, ns(size).round());
                assert!(
                    (found - exact).abs() <= 0.02 * exact + 1.0,
                    "{a} n^{b} + {c} at {size}: {found}, {exact}"
                );
            }
            if let Some(place) = outlier {
                points[place].1 /= 20.0;
            }
        }
    }
}

#[test]
fn no_curve_without_enough_sizes_or_with_no_law_or_far_away() {
    let line = |size: f64| (size, 100.0 * size);
    let three: Vec<_> = [10.0, 20.0, 30.0, 30.0, 20.0].into_iter().map(line).collect();
    assert_eq!(Curve::fit(&three), None);
    let lawless = [(1.0, 5.0), (2.0, 9000.0), (3.0, 7.0), (4.0, 80_000.0), (5.0, 1.0), (6.0, 600_000.0)];
    assert_eq!(Curve::fit(&lawless), None);
    assert_eq!(Curve::fit(&[(0.0, 1.0), (1.0, 0.0)]), None);
    let four: Vec<_> = [10.0, 20.0, 30.0, 40.0].into_iter().map(line).collect();
    let curve = Curve::fit(&four).expect("four sizes on a line");
    assert_eq!((curve.at(25.0), curve.at(0.9), curve.at(401.0)), (Some(2500), None, None));
}

#[test]
fn other_footprints_tell_of_an_unseen_one() {
    let family = family();
    let unseen = entry(&family, 5000.0, Earlier::default(), REAL);
    assert_eq!(expected(&unseen), None);
    let measured = [1000, 2000, 4000, 8000].map(|bytes| {
        let entry = entry(&family, f64::from(bytes), Earlier::default(), REAL);
        (0..4).for_each(|_| entry.add(0, 300 + 2 * bytes as u64));
        entry
    });
    let (ns, basis) = expected(&unseen).expect("four other sizes are known");
    assert!(ns.abs_diff(10_300) < 200 && basis == Basis::Extrapolated, "{ns} {basis:?}");
    (0..3).for_each(|_| unseen.add(0, 77));
    assert_eq!(expected(&unseen), Some((77, Basis::Measured)));
    drop(measured);
}

#[test]
fn calibrating_nothing_is_expected_before_enough_is_measured() {
    let rules = Rules { required: 5, is_first_apart: true, calibrates: true };
    let family = family();
    let mut measured = Vec::new();
    for bytes in [1000, 2000, 3000, 4000] {
        let entry = entry(&family, f64::from(bytes), Earlier::default(), rules);
        for calls in 0..6 {
            assert_eq!(expected(&entry), None, "after {calls} calls");
            entry.add(0, bytes as u64);
        }
        assert_eq!(expected(&entry), Some((bytes as u64, Basis::Measured)));
        measured.push(entry);
    }
    let unseen = entry(&family, 2500.0, Earlier::default(), rules);
    assert_eq!(expected(&unseen), None);
}

#[test]
fn errors_are_relative_to_what_tasks_took() {
    let errors = Errors::default();
    let entry = entry(&family(), 1.0, Earlier::default(), REAL);
    (0..4).for_each(|_| entry.add(0, 1000));
    let estimate = entry.estimate();
    errors.add(None, 7);
    (0..6).for_each(|_| errors.add(estimate, 800)); // 25 % off
    (0..4).for_each(|_| errors.add(estimate, 1000));
    errors.add(estimate, 10); // 9900 % off
    let mut sum = ErrorSum::new();
    sum.add(&errors);
    let error = sum.error();
    assert_eq!((error.count, error.unexpected, error.extrapolated), (11, 1, 0));
    let median = error.median.expect("there are tasks");
    assert!((0.23..=0.27).contains(&median), "{median}");
    assert!(error.ninth_decile.expect("there are tasks") < 0.3);
    assert_eq!(error.extrapolated_median, None);
    let mut none = ErrorSum::new();
    none.add(&Errors::default());
    assert_eq!(none.error().median, None);
}

#[test]
fn a_lock_that_is_never_let_go_is_not_waited_for_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open("performance_dir", folder.path(), None).expect("it can be written");
    let held = store.lock_within(Duration::ZERO).expect("nobody holds it");
    let error = store.lock_within(Duration::ZERO).expect_err("it is held");
    assert!(error.to_string().contains("another process has held"), "{error}");
    drop(held);
    assert!(store.lock_within(Duration::ZERO).is_ok());
}

#[test]
fn a_table_finds_every_key_however_they_collide() {
    let table = Table::default();
    let family = family();
    let entry = entry(&family, 1.0, Earlier::default(), REAL);
    // Many share their low bits, so that levels fill up.
    let keys: Vec<u64> = (0..2000_u64).map(|number| number << 10 | (number % 3)).collect();
    for &key in &keys {
        assert!(table.get(key).is_none());
        table.insert(key, &entry);
        assert!(table.get(key).is_some());
    }
    let found = keys.iter().filter(|&&key| table.get(key).is_some()).count();
    assert_eq!(found, keys.len());
    assert!(table.get(7 << 50).is_none());
}
