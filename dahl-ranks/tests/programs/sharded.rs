//! Arrays that their owner alone keeps.

use dahl_core::Runtime;
use dahl_core::ndarray::Axis;

use super::kernels::{V, mix, scale};
use crate::launch::on_ranks;

/// Other ranks receive the value for each task that reads it, also when it has changed, and the host gets it.
pub(crate) fn tasks_on_other_ranks_read_the_value() {
    let program = |is_sharded: bool, limit: usize| {
        move |rt: &Runtime| {
            let arena = rt.arena();
            arena.set_gathered_bytes(limit);
            let mut arrays: Vec<V> = Vec::new();
            for owner in 0..4 {
                let mut array = rt.from_vec([5000], vec![owner as f32; 5000])?;
                rt.set_owner(&array, owner % rt.ranks())?;
                arena.set_sharded(&mut array, is_sharded);
                arrays.push(array);
            }
            let (mut out, mut bits): (V, Vec<u32>) = (rt.zeros([5000])?, Vec::new());
            for step in 0..12 {
                let (read, written) = (step % 4, (step + 1) % 4);
                mix(&arrays[read], &arrays[(step + 2) % 4], &mut out, Some(step % rt.ranks()))?;
                scale(&mut arrays[written], step as f32, None)?;
                mix(&arrays[read], &arrays[read], &mut out, Some((step + 1) % rt.ranks()))?;
                if step % 5 == 0 {
                    bits.extend(arrays[written].to_vec()?.iter().chain(&out.to_vec()?).map(|x| x.to_bits()));
                }
            }
            for array in &mut arrays {
                arena.set_sharded(array, false);
                bits.extend(array.to_vec()?.iter().map(|x| x.to_bits()));
            }
            let peak = arena.peak_gathered_bytes();
            assert_eq!(is_sharded && rt.ranks() > 1, peak > 0, "{peak} bytes");
            // A task that reads two arrays has them together.
            assert!(peak <= limit.max(40_000), "{peak} bytes");
            Ok(bits)
        }
    };
    let builder = || Runtime::builder().cpu_workers(2);
    let alone = builder().build().expect("a runtime");
    let expected = program(false, 0)(&alone).expect("every call is right");
    for ranks in [1, 2, 3] {
        for limit in [0, 45_000, usize::MAX] {
            // This process may be one that is no rank.
            let Some(results) = on_ranks(ranks, 3, builder, program(true, limit)) else { continue };
            for result in results.expect("no rank fails") {
                assert!(result == expected, "{ranks} ranks, at most {limit} bytes");
            }
        }
    }
}

/// The elements of an array of several pages, one for each element.
const ELEMENTS: usize = 100_000;

/// What a guard shows does not change while tasks of other ranks read the array, though these drop their copies otherwise.
pub(crate) fn a_guard_keeps_the_copy() {
    let program = |rt: &Runtime| {
        let arena = rt.arena();
        let mut array: V = rt.from_vec([ELEMENTS], vec![3.0; ELEMENTS])?;
        rt.set_owner(&array, 0)?;
        arena.set_sharded(&mut array, true);
        let mut out: V = rt.zeros([ELEMENTS])?;
        let mut sums = Vec::new();
        for step in 0..3 {
            let guard = array.read()?;
            for rank in 0..rt.ranks() {
                mix(&array, &array, &mut out, Some(rank))?;
            }
            rt.wait()?;
            sums.push(guard.iter().map(|x| f64::from(*x)).sum::<f64>());
            assert!(guard.iter().all(|x| *x == guard[0]), "rank {}, step {step}", rt.rank());
            scale(&mut array, 2.0, Some(step % rt.ranks()))?;
        }
        sums.push(out.to_vec()?.into_iter().map(f64::from).sum());
        Ok(sums)
    };
    let Some(results) = on_ranks(3, 1, || Runtime::builder().cpu_workers(2), program) else { return };
    let results = results.expect("no rank fails");
    assert!(results.iter().all(|sums| *sums == results[0]), "{results:?}");
    assert_ne!(results[0][0], 0.0);
}

/// A rank has the memory of its own arrays, and not that of others' once their tasks have ended.
pub(crate) fn a_rank_has_the_memory_of_its_own_arrays() {
    let program = |rt: &Runtime| {
        let arena = rt.arena();
        let mut arrays: Vec<V> = Vec::new();
        for owner in 0..rt.ranks() {
            let mut array = rt.from_vec([ELEMENTS], vec![1.0; ELEMENTS])?;
            rt.set_owner(&array, owner)?;
            arena.set_sharded(&mut array, true);
            arrays.push(array);
        }
        let mut out: V = rt.zeros([ELEMENTS])?;
        for rank in 0..rt.ranks() {
            for array in &arrays {
                mix(array, array, &mut out, Some(rank))?;
            }
        }
        // Another rank than the owner changes it: the owner's copy has no value any more.
        scale(&mut arrays[0], 2.0, Some(1))?;
        rt.wait()?;
        // A page at either end is used for other bytes, too; pages have 64 KiB at most.
        let pages = 2 * 65_536;
        for (owner, array) in arrays.iter().enumerate() {
            let is_here = rt.rank() == if owner == 0 { 1 } else { owner };
            let Some(bytes) = array.resident_bytes() else { return Ok(false) };
            let expected = if is_here { 4 * ELEMENTS..=4 * ELEMENTS } else { 0..=pages };
            assert!(expected.contains(&bytes), "rank {} has {bytes} bytes of array {owner}", rt.rank());
        }
        Ok(true)
    };
    let Some(results) = on_ranks(3, 1, || Runtime::builder().cpu_workers(2), program) else { return };
    if !results.expect("no rank fails").iter().all(|is_known| *is_known) {
        println!("skipped: the system does not say which pages are in memory");
    }
}

/// Parts stay where they are, and tasks read them as before, also beyond the limit.
pub(crate) fn a_part_is_not_sharded() {
    let program = |rt: &Runtime| {
        let arena = rt.arena();
        arena.set_gathered_bytes(0);
        let mut whole: V = rt.from_vec([4000], vec![1.0; 4000])?;
        let mut out: V = rt.zeros([2000])?;
        for step in 0..4 {
            let mut parts = whole.partition_into_mut(Axis(0), 2)?;
            for part in parts.iter_mut() {
                arena.set_sharded(part, true);
                scale(part, step as f32, Some(step % rt.ranks()))?;
                for rank in 0..rt.ranks() {
                    mix(part, part, &mut out, Some(rank))?;
                }
            }
        }
        assert_eq!(arena.peak_gathered_bytes(), 0);
        whole.to_vec()
    };
    let Some(results) = on_ranks(3, 1, || Runtime::builder().cpu_workers(2), program) else { return };
    let expected = (0..4).fold(1.0_f32, |x, step| x * 0.7 + step as f32);
    for result in results.expect("no rank fails") {
        assert_eq!(result, [expected; 4000]);
    }
}
