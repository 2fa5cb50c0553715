//! A long training takes no more memory than a short one.

use std::fs;

use dahl::prelude::*;
use dahl_nn::prelude::*;

/// Epochs of one `fit`.
const CHUNK: usize = 10;
const CHUNKS: usize = 100;
/// How much resident memory may grow after the first chunk: by pools and the allocator, not by the training.
const GROWTH_BYTES: usize = 2 << 20;

/// The resident bytes of this process; none if the system does not report them.
fn resident_bytes() -> Option<usize> {
    let pages: usize =
        fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[test]
fn a_thousand_epochs_take_the_memory_of_the_first() {
    let rt = Runtime::builder().cpu_workers(2).check(false).tasks_in_flight(256).build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[1, 10, 10], 4, 32, 5);
    let model = Sequential::<f32>::new(&arena, [1, 10, 10], 3).conv2d(2, 3).unwrap().relu().unwrap();
    let mut model = model.max_pool2d(2).unwrap().flatten().unwrap().dense(4).unwrap();
    let mut after_first = None;
    for chunk in 1..=CHUNKS {
        let optimizer = Sgd::new(0.01);
        let trainer = Trainer::new(&mut model, CrossEntropy, optimizer).batch_size(16).micro_batch_size(8);
        trainer.epochs(CHUNK).fit(&data).unwrap();
        rt.wait().unwrap();
        let node = &rt.memory()[0];
        let now = (node.reserved_bytes, node.current_bytes, resident_bytes());
        let (reserved, current, resident) = *after_first.get_or_insert(now);
        let epoch = chunk * CHUNK;
        // Only the model remains between two calls. Workers' buffers may differ, and so may the private buffers of
        // gradients: how many are needed, up to their bound, depends on the workers' timing.
        assert!(now.1 <= current + (64 << 10), "epoch {epoch}: {} after {current} bytes: {node:?}", now.1);
        assert!(now.0 <= reserved + (64 << 10), "epoch {epoch}: {} after {reserved} bytes: {node:?}", now.0);
        match (now.2, resident) {
            (Some(now), Some(first)) => {
                assert!(now <= first + GROWTH_BYTES, "epoch {epoch}: {now} bytes resident after {first}");
                if chunk == CHUNKS {
                    println!("resident: {first} bytes after {CHUNK} epochs, {now} after {epoch}");
                }
            }
            _ if chunk == 1 => println!("skipped for resident memory: no /proc/self/statm"),
            _ => {}
        }
    }
}
