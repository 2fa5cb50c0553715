//! Arrays that their owner alone keeps.

use dahl_core::Runtime;

use super::kernels::{V, mix, scale};
use crate::launch::on_ranks;

/// Other ranks receive the value for each task that reads it, also when it has changed, and the host gets it.
pub(crate) fn tasks_on_other_ranks_read_the_value() {
    let run = |is_sharded: bool, limit: usize| {
        let program = move |rt: &Runtime| {
            let arena = rt.arena();
            arena.set_gathered_bytes(limit);
            let mut arrays: Vec<V> = Vec::new();
            for owner in 0..4 {
                let array = rt.from_vec([5000], vec![owner as f32; 5000])?;
                rt.set_owner(&array, owner % rt.ranks())?;
                arena.set_sharded(&array, is_sharded);
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
            for array in &arrays {
                arena.set_sharded(array, false);
                bits.extend(array.to_vec()?.iter().map(|x| x.to_bits()));
            }
            let peak = arena.peak_gathered_bytes();
            assert_eq!(is_sharded && rt.ranks() > 1, peak > 0, "{peak} bytes");
            // A task that reads two arrays has them together.
            assert!(peak <= limit.max(40_000), "{peak} bytes");
            Ok(bits)
        };
        move |ranks| on_ranks(ranks, 3, || Runtime::builder().cpu_workers(2), program)
    };
    let expected = run(false, 0)(1).expect("there is a rank").expect("no rank fails");
    for ranks in [1, 2, 3] {
        for limit in [0, 45_000, usize::MAX] {
            let Some(results) = run(true, limit)(ranks) else { return };
            for result in results.expect("no rank fails") {
                assert!(result == expected[0], "{ranks} ranks, at most {limit} bytes");
            }
        }
    }
}
