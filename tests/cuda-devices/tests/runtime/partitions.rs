//! Splits and joins of arrays that are on devices, and who waits for them.

use dahl_core::ndarray::Axis;

use crate::runtime::bed::{Bed, Gate, add_on_cpu, builder, cuda, map};

/// Orders of what streams hold: at once, as late as possible, and two that are drawn.
const SEEDS: std::ops::Range<u64> = 0..4;

#[test]
fn a_device_is_given_work_while_a_join_waits_for_it() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        let mut whole = rt.zeros([2, 2]).expect("it can be had");
        let mut sum = rt.zeros([2, 2]).expect("it can be had");
        let mut other = rt.zeros([1, 2]).expect("it can be had");
        let gate = Gate::before(&mut x);
        for part in whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut() {
            map(&x, &x, part, cuda(0)).expect("it is right");
        }
        add_on_cpu(&whole, &mut sum).expect("it is right");
        map(&x, &x, &mut other, cuda(0)).expect("it is right");
        let before = bed.calls("launch");
        let held = bed.hold_downloads();
        drop(gate);
        let came = held.comes(|| bed.calls("launch") - before == 3);
        drop(held);
        assert_eq!(sum.to_vec().expect("nothing failed"), [8, 16, 8, 16], "seed {seed}");
        assert_eq!(other.to_vec().expect("nothing failed"), [8, 16], "seed {seed}");
        assert!(came, "seed {seed}");
        drop((x, whole, sum, other, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn a_join_starts_all_its_copies_before_it_waits_for_one() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        let mut whole = rt.zeros([3, 2]).expect("it can be had");
        let mut sum = rt.zeros([3, 2]).expect("it can be had");
        let gate = Gate::before(&mut x);
        for part in whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut() {
            map(&x, &x, part, cuda(0)).expect("it is right");
        }
        add_on_cpu(&whole, &mut sum).expect("it is right");
        let before = bed.calls("copy");
        let held = bed.hold_downloads();
        drop(gate);
        // `x` goes to the device, three parts come back.
        let came = held.comes(|| bed.calls("copy") - before == 4);
        drop(held);
        assert_eq!(sum.to_vec().expect("nothing failed"), [8, 16, 8, 16, 8, 16], "seed {seed}");
        assert!(came, "seed {seed}");
        drop((x, whole, sum, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}
