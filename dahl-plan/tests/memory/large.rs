//! Many buffers: the heuristics.

use dahl_plan::memory::{Buffer, Error, Options, allocate};

/// `count` buffers, of which some `live` live at a time.
fn random(count: u64, live: u64, seed: u64) -> Vec<Buffer> {
    let mut random = fastrand::Rng::with_seed(seed);
    let buffer = |id| {
        let lower = random.i64(0..count as i64);
        let upper = lower + random.i64(1..=2 * live as i64);
        Buffer { id, lower, upper, size: 1 << random.u64(0..12) }
    };
    (0..count).map(buffer).collect()
}

/// The most bytes that live at one time, by a sweep over time.
fn load(buffers: &[Buffer]) -> u64 {
    let starts = buffers.iter().map(|buffer| (buffer.lower, true, buffer.size));
    let ends = buffers.iter().map(|buffer| (buffer.upper, false, buffer.size));
    let mut events: Vec<_> = starts.chain(ends).collect();
    events.sort_unstable();
    let (mut live, mut most) = (0, 0);
    for (_, is_start, size) in events {
        live = if is_start { live + size } else { live - size };
        most = most.max(live);
    }
    most
}

/// Requires that no buffers overlap, by a sweep over time: the checker of small instances looks at all pairs.
fn check(buffers: &[Buffer], offsets: &[u64]) {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&index| buffers[index].lower);
    let mut live: Vec<usize> = Vec::new();
    for index in order {
        live.retain(|&other| buffers[other].upper > buffers[index].lower);
        let end = |index: usize| offsets[index] + buffers[index].size;
        for &other in &live {
            assert!(
                end(index) <= offsets[other] || end(other) <= offsets[index],
                "{:?} and {:?}",
                buffers[index],
                buffers[other]
            );
        }
        live.push(index);
    }
}

#[test]
fn of_many_buffers_the_heuristics_find_an_allocation() {
    // Few at a time, so that pairs of neighbours are counted in millions, and so many that they are not looked at.
    for (count, live) in [(20_000, 30), (20_000, 2_000)] {
        let buffers = random(count, live, count + live);
        let plan = allocate(&buffers, &Options { steps: 0, ..Options::default() }).expect("there is one");
        check(&buffers, &plan.offsets);
        let load = load(&buffers);
        assert_eq!(plan.lower_bound, load);
        let most = load + load / 4;
        assert!(plan.peak <= most, "the peak is {} and {load} bytes live at one time", plan.peak);
    }
}

#[test]
fn a_search_beyond_its_steps_is_not_begun() {
    let buffers = random(3_000, 1_000, 1);
    let least = load(&buffers);
    match allocate(&buffers, &Options { steps: 1_000, capacity: Some(least), ..Options::default() }) {
        Ok(plan) => check(&buffers, &plan.offsets),
        Err(Error::Undecided { best, .. }) => check(&buffers, &best.offsets),
        Err(other) => panic!("{other}"),
    }
}
