//! Loading batches by threads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dahl::prelude::*;
use dahl_nn::dataset::transform::{RandomCrop, RandomHorizontalFlip};
use dahl_nn::loader::{Sampler, WeightedSampler};
use dahl_nn::prelude::*;

use super::assert_parts;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(1).build().unwrap()
}

/// The batches of an epoch: indices, features, labels.
fn batches<D: Dataset + 'static>(
    loader: &DataLoader<D>,
    rt: &Runtime,
    epoch: u64,
) -> Vec<(Vec<usize>, Vec<f32>, Vec<u32>)> {
    let batch = |batch: dahl::Result<dahl_nn::loader::Batch<f32>>| {
        let batch = batch.unwrap();
        (batch.indices, batch.features.to_vec().unwrap(), batch.labels.to_vec().unwrap())
    };
    loader.batches(rt, epoch).unwrap().map(batch).collect()
}

#[test]
fn batches_do_not_depend_on_the_number_of_threads() {
    let rt = runtime();
    let data = Arc::new(Synthetic::new(&[1, 6, 6], 3, 25, 1));
    let loader = |threads| {
        let augment = (RandomCrop::new([4, 4]).padding(1), RandomHorizontalFlip::new());
        let data = data.clone().transformed(augment, 5).unwrap();
        DataLoader::new(data).batch_size(4).shuffle(3).threads(threads)
    };
    for epoch in 0..2 {
        let alone = batches(&loader(0), &rt, epoch);
        assert_eq!(alone.len(), 7);
        for threads in [1, 2, 5, 40] {
            assert_eq!(batches(&loader(threads), &rt, epoch), alone, "{threads} threads");
            assert_eq!(batches(&loader(threads).ahead(1), &rt, epoch), alone, "{threads} threads");
        }
        for (indices, features, labels) in &alone {
            assert_eq!(features.len(), 16 * indices.len());
            assert_eq!(*labels, indices.iter().map(|&index| data.label(index)).collect::<Vec<_>>());
        }
        let mut seen: Vec<usize> = alone.into_iter().flat_map(|batch| batch.0).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..25).collect::<Vec<_>>());
    }
    assert_ne!(batches(&loader(0), &rt, 0)[0].0, batches(&loader(0), &rt, 1)[0].0);
}

#[test]
fn the_last_batch_is_kept_or_dropped() {
    let rt = runtime();
    let data = Arc::new(Synthetic::new(&[2], 2, 10, 1));
    let sizes = |loader: DataLoader<Arc<Synthetic>>| {
        batches(&loader, &rt, 0).iter().map(|batch| batch.0.len()).collect::<Vec<_>>()
    };
    let loader = || DataLoader::new(data.clone()).batch_size(4).threads(2);
    assert_eq!(sizes(loader()), [4, 4, 2]);
    assert_eq!(sizes(loader().drop_last(true)), [4, 4]);
    assert_eq!(sizes(loader().drop_last(true).batch_size(5)), [5, 5]);
    assert_eq!(sizes(loader().drop_last(true).batch_size(11)), [0; 0]);
    let mut batches = loader().batches::<f32>(&rt, 0).unwrap();
    assert_eq!(batches.len(), 3);
    assert!(batches.next().unwrap().is_ok());
    assert_eq!(batches.len(), 2);
    for wrong in [loader().batch_size(0), loader().ahead(0)] {
        let error = wrong.batches::<f32>(&rt, 0).map(|_| ()).unwrap_err().to_string();
        assert_parts(&error, &["DataLoader: ", " = 0", "loading.rs"]);
    }
}

/// A data set that records the batch of each sample that is read, and knows how many batches were taken.
struct Watched {
    batch_size: usize,
    ahead: usize,
    taken: AtomicUsize,
    too_early: Mutex<Vec<usize>>,
    read: AtomicUsize,
}

impl Dataset for Watched {
    fn len(&self) -> usize {
        120
    }

    fn sample_shape(&self) -> &[usize] {
        &[1]
    }

    fn classes(&self) -> usize {
        1
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        let batch = index / self.batch_size;
        // `taken` counts a batch before it is taken, so this bound is never too strict.
        if batch >= self.taken.load(Ordering::SeqCst) + self.ahead {
            self.too_early.lock().unwrap().push(batch);
        }
        self.read.fetch_add(1, Ordering::SeqCst);
        features[0] = T::from_f64(index as f64);
    }

    fn label(&self, _: usize) -> u32 {
        0
    }
}

#[test]
fn threads_are_ahead_by_no_more_than_the_bound() {
    let rt = runtime();
    for (threads, ahead) in [(1, 1), (3, 2), (2, 5), (4, 1)] {
        let (taken, too_early) = (AtomicUsize::new(0), Mutex::default());
        let data = Arc::new(Watched { batch_size: 4, ahead, taken, too_early, read: AtomicUsize::new(0) });
        let loader = DataLoader::new(data.clone()).batch_size(4).threads(threads).ahead(ahead);
        let mut batches = loader.batches::<f32>(&rt, 0).unwrap();
        for number in 0..30 {
            data.taken.fetch_add(1, Ordering::SeqCst);
            let batch = batches.next().unwrap().unwrap();
            assert_eq!(batch.features.to_vec().unwrap()[0], (4 * number) as f32);
        }
        assert!(batches.next().is_none());
        assert_eq!(*data.too_early.lock().unwrap(), [0_usize; 0]);
        assert_eq!(data.read.load(Ordering::SeqCst), 120);
    }
}

#[test]
fn dropping_the_iterator_ends_its_threads() {
    let rt = runtime();
    let (taken, too_early) = (AtomicUsize::new(0), Mutex::default());
    let data = Arc::new(Watched { batch_size: 4, ahead: 2, taken, too_early, read: AtomicUsize::new(0) });
    let loader = DataLoader::new(data.clone()).batch_size(4).threads(3).ahead(2);
    let mut batches = loader.batches::<f32>(&rt, 0).unwrap();
    assert!(batches.next().unwrap().is_ok());
    drop(batches);
    drop(loader);
    assert_eq!(Arc::strong_count(&data), 1, "no thread has the data set");
    assert!(data.read.load(Ordering::SeqCst) <= 4 * 3);
}

/// A data set of which some samples cannot be read.
struct Faulty(Vec<usize>);

impl Dataset for Faulty {
    fn len(&self) -> usize {
        8
    }

    fn sample_shape(&self) -> &[usize] {
        &[1]
    }

    fn classes(&self) -> usize {
        2
    }

    fn copy_sample<T: Real>(&self, index: usize, _: &mut [T]) {
        assert!(!self.0.contains(&index), "no sample {index} here");
    }

    fn label(&self, index: usize) -> u32 {
        if index == 6 { 2 } else { 0 }
    }
}

#[test]
fn a_sample_that_cannot_be_read_is_the_error_of_its_batch() {
    let rt = runtime();
    for threads in 0..3 {
        let loader = DataLoader::new(Faulty(vec![2])).batch_size(2).threads(threads);
        let batches: Vec<_> = loader.batches::<f32>(&rt, 0).unwrap().collect();
        let error = |batch: usize| batches[batch].as_ref().unwrap_err().to_string();
        assert!(batches[0].is_ok() && batches[2].is_ok());
        assert_parts(&error(1), &["sample 2", "panicked", "no sample 2 here"]);
        assert_parts(&error(3), &["sample 6", "label 2", "below 2"]);
    }
}

/// How often each sample is drawn in so many epochs.
fn drawn(sampler: &impl Sampler, samples: usize, epochs: u64) -> Vec<usize> {
    let mut counts = vec![0; samples];
    for index in (0..epochs).flat_map(|epoch| sampler.order(samples, epoch).unwrap()) {
        counts[index] += 1;
    }
    counts
}

#[test]
fn samples_are_drawn_by_their_weights() {
    let sampler = WeightedSampler::new([0.0, 1.0, 3.0, 0.0, 4.0, 0.0], 8000, 1);
    let counts = drawn(&sampler, 6, 1);
    for (count, expected) in counts.iter().zip([0_usize, 1000, 3000, 0, 4000, 0]) {
        // Five standard deviations.
        assert!(count.abs_diff(expected) < if expected == 0 { 1 } else { 230 }, "{counts:?}");
    }
    assert_eq!(sampler.order(6, 3).unwrap(), sampler.order(6, 3).unwrap());
    assert_ne!(sampler.order(6, 3).unwrap(), sampler.order(6, 4).unwrap());
}

#[test]
fn without_replacement_a_sample_is_drawn_once() {
    let sampler = WeightedSampler::new([1.0, 0.0, 2.0, 1.0], 2, 1).replacement(false);
    let (mut first, mut pairs) = ([0_usize; 4], BTreeSet::new());
    for epoch in 0..4000 {
        let order = sampler.order(4, epoch).unwrap();
        assert!(order.len() == 2 && order[0] != order[1]);
        first[order[0]] += 1;
        pairs.insert((order[0], order[1]));
    }
    // The first one by its weight; four standard deviations are about 126.
    assert!(first[0].abs_diff(1000) < 140 && first[2].abs_diff(2000) < 140, "{first:?}");
    assert_eq!((first[1], pairs.len()), (0, 6));
    let error = |sampler: WeightedSampler| sampler.order(4, 0).unwrap_err().to_string();
    let many = WeightedSampler::new([1.0, 0.0, 2.0, 1.0], 4, 1);
    assert!(many.order(4, 0).is_ok());
    assert_parts(&error(many.replacement(false)), &["count = 4", "without replacement", "loading.rs"]);
    assert_parts(&error(WeightedSampler::new([1.0], 1, 1)), &["1 numbers for 4 samples", "loading.rs"]);
    for wrong in [vec![0.0; 4], vec![1.0, -1.0, 1.0, 1.0], vec![f64::NAN; 4], vec![f64::INFINITY; 4]] {
        assert_parts(&error(WeightedSampler::new(wrong, 1, 1)), &["WeightedSampler: weights", "loading.rs"]);
    }
}

#[test]
fn classes_are_balanced() {
    // Nine samples of class 0, one of class 1.
    let labels = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    let data = ArrayDataset::new([1], [0.0; 10], labels).unwrap();
    let counts = drawn(&WeightedSampler::balanced(&data, 1), 10, 1000);
    assert!(counts[4].abs_diff(5000) < 250, "{counts:?}");
}

/// A sampler that names a sample that is not there.
struct Beyond;

impl Sampler for Beyond {
    fn order(&self, samples: usize, _: u64) -> dahl::Result<Vec<usize>> {
        Ok(vec![samples])
    }
}

#[test]
fn a_sampler_may_name_only_samples_that_are_there() {
    let rt = runtime();
    let loader = DataLoader::new(Synthetic::new(&[1], 1, 3, 1)).sampler(Beyond);
    let error = loader.batches::<f32>(&rt, 0).map(|_| ()).unwrap_err().to_string();
    assert_parts(&error, &["no sample 3", "3 samples"]);
}

/// A data set that records the epochs of each sample that is read, and of which one cannot be read in epoch 2.
struct Dated(Mutex<Vec<Vec<u64>>>);

impl Dataset for Dated {
    fn len(&self) -> usize {
        70
    }

    fn sample_shape(&self) -> &[usize] {
        &[1]
    }

    fn classes(&self) -> usize {
        2
    }

    fn copy_sample<T: Real>(&self, _: usize, _: &mut [T]) {
        unreachable!("training reads samples of an epoch");
    }

    fn label(&self, index: usize) -> u32 {
        (index % 2) as u32
    }

    fn read_sample<T: Real>(&self, index: usize, epoch: u64, features: &mut [T]) -> dahl::Result<()> {
        self.0.lock().unwrap()[index].push(epoch);
        features[0] = T::from_f64(1.0);
        if (index, epoch) == (69, 2) {
            self.take_one_that_is_not_there()?;
        }
        Ok(())
    }
}

impl Dated {
    fn take_one_that_is_not_there(&self) -> dahl::Result<()> {
        self.subset([70]).map(|_| ())
    }
}

#[test]
fn a_trainer_reads_the_samples_of_each_epoch_and_returns_their_errors() {
    let rt = runtime();
    let network = rt.arena();
    let data = Dated(Mutex::new(vec![Vec::new(); 70]));
    let train = |epochs| {
        let mut model = Sequential::<f32>::new(&network, [1], 1).dense(2).unwrap();
        let trainer =
            Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(16).micro_batch_size(3);
        trainer.epochs(epochs).fit(&data)
    };
    train(2).unwrap();
    assert!(data.0.lock().unwrap().iter().all(|epochs| *epochs == [0, 1]));
    assert_parts(&train(3).unwrap_err().to_string(), &["no sample 70"]);
}
