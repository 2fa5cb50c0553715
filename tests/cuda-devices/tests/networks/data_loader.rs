//! The next batches are decoded and copied to the device before the present one has been computed.

use std::sync::Mutex;

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::bed::{Bed, Gate, on_gated_device};

const BATCH: usize = 8;
const BATCHES: usize = 5;

/// A data set that records the progress of the runtime whenever the first sample of a batch is requested, and that
/// opens the gate of the device with the last batch.
struct Watching<'r> {
    data: Synthetic,
    rt: &'r Runtime,
    gate: Gate,
    /// For each batch, the number of arrays that had been copied to the device when it was decoded, and of tasks that
    /// had run.
    seen: Mutex<Vec<(u64, u64)>>,
}

fn tasks_run(rt: &Runtime) -> u64 {
    rt.statistics().codelets.iter().map(|codelet| codelet.count).sum()
}

impl Dataset for Watching<'_> {
    fn len(&self) -> usize {
        self.data.len()
    }

    fn sample_shape(&self) -> &[usize] {
        self.data.sample_shape()
    }

    fn classes(&self) -> usize {
        self.data.classes()
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        if index.is_multiple_of(BATCH) {
            let up = self
                .rt
                .transfers()
                .iter()
                .find(|total| (total.from, total.to) == (0, 1))
                .map(|total| total.count);
            self.seen.lock().unwrap().push((up.unwrap_or(0), tasks_run(self.rt)));
            if index / BATCH == BATCHES - 1 {
                self.gate.open();
            }
        }
        self.data.copy_sample(index, features);
    }

    fn label(&self, index: usize) -> u32 {
        self.data.label(index)
    }
}

/// As long as the gate is closed, nothing is computed. Still, when batch `n` is decoded, the samples and labels of the
/// batches before it have been copied.
#[test]
fn batches_are_on_the_device_before_the_one_before_has_been_computed() {
    let bed = Bed::new();
    // Seed 0: work in a stream is done as soon as it is submitted, so the copies that were issued are done.
    bed.reset(0);
    let (runtime, _, gate) = on_gated_device();
    // Single tasks go through the gate.
    let rt = runtime.cuda_graphs(false).build().unwrap();
    let arena = rt.arena();
    let model = Sequential::<f32>::new(&arena, [1, 8, 8], 3).conv2d(2, 3).unwrap().relu().unwrap();
    let mut model = model.max_pool2d(2).unwrap().flatten().unwrap().dense(3).unwrap();
    let data = Synthetic::new(&[1, 8, 8], 3, BATCHES * BATCH, 2);
    let data = Watching { data, rt: &rt, gate: gate.clone(), seen: Mutex::default() };
    // The parameters have their first values.
    rt.wait().unwrap();
    let run_before = tasks_run(&rt);
    gate.close();
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(BATCH).no_shuffle();
    let history = trainer.fit(&data).unwrap();
    assert!(history.epochs[0].loss.is_finite());
    let expected: Vec<_> = (0..BATCHES as u64).map(|batch| (2 * batch, run_before)).collect();
    assert_eq!(*data.seen.lock().unwrap(), expected);
    drop(data);
    drop(model);
    drop(arena);
    drop(rt);
    assert_eq!(bed.findings(), "");
}
