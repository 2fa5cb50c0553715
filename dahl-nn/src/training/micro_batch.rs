//! The division of a batch into micro-batches.

/// Elements of the widest layer's output per task, by default: enough to make the cost of a task negligible, few enough
/// for a large batch to keep several workers busy. A model with more parameters than that uses their number, since each
/// micro-batch reads them all.
const ELEMENTS_PER_TASK: usize = 1 << 17;

/// Samples of a micro-batch: about as many as have enough elements.
pub(super) fn default_samples(batch_size: usize, parameters: usize, widest: usize) -> usize {
    let elements = ELEMENTS_PER_TASK.max(parameters);
    samples_of_micro_batch(batch_size, (elements / widest.max(1)).max(1))
}

/// Samples of each micro-batch except the last one, from half of `about` to one and a half of it: the number for which
/// two workers that alternate between micro-batches end earliest, without one waiting for the last micro-batch of the
/// other. A batch of at most `about` samples is one micro-batch.
fn samples_of_micro_batch(batch_size: usize, about: usize) -> usize {
    let until_both_end = |samples: usize| samples * batch_size.div_ceil(samples).div_ceil(2);
    let sizes = about.div_ceil(2)..=(about + about / 2).min(batch_size);
    let best = sizes.min_by_key(|&samples| (until_both_end(samples), samples.abs_diff(about)));
    best.filter(|_| batch_size > about).unwrap_or(batch_size)
}

#[cfg(test)]
mod tests {
    use super::samples_of_micro_batch;

    #[test]
    fn two_workers_share_a_batch() {
        for about in 1..100 {
            for batch_size in 1..500 {
                let samples = samples_of_micro_batch(batch_size, about);
                let sizes: Vec<_> = vec![(); batch_size].chunks(samples).map(<[()]>::len).collect();
                if batch_size <= about {
                    assert_eq!(sizes, [batch_size]);
                    continue;
                }
                assert!(
                    samples >= about.div_ceil(2) && samples <= about + about / 2,
                    "{batch_size}, {about}"
                );
                let first: usize = sizes.iter().step_by(2).sum();
                let all_sizes = about.div_ceil(2)..=about + about / 2;
                let least = all_sizes.map(|other| other * batch_size.div_ceil(other).div_ceil(2)).min();
                assert!(first <= least.unwrap_or(batch_size), "{batch_size} by {about}: {sizes:?}");
            }
        }
        let examples = [(64, 55), (256, 55), (500, 48), (100, 48), (64, 5), (100, 6)];
        assert_eq!(examples.map(|(all, about)| samples_of_micro_batch(all, about)), [32, 64, 50, 50, 4, 5]);
    }
}
