//! Windows of a text of tokens.

use std::collections::BTreeSet;

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::assert_parts;

/// The first tokens of the windows in the next `batches` batches.
fn starts(windows: &TokenWindows<'_>, rt: &Runtime, seed: Option<u64>, batches: usize) -> Vec<u32> {
    let mut starts = Vec::new();
    let all = windows.batches(rt, 4);
    let all = match seed {
        Some(seed) => all.shuffle(seed),
        None => all,
    };
    for batch in all.take(batches) {
        let (inputs, targets) = batch.unwrap();
        assert_eq!((inputs.shape(), targets.shape()), ([4, 3], [4, 3]));
        let (inputs, targets) = (inputs.to_vec().unwrap(), targets.to_vec().unwrap());
        for (input, target) in inputs.chunks(3).zip(targets.chunks(3)) {
            assert_eq!([input[0], input[1], input[2]], [input[0], input[0] + 1, input[0] + 2]);
            assert_eq!([target[0], target[1], target[2]], [input[0] + 1, input[0] + 2, input[0] + 3]);
            starts.push(input[0]);
        }
    }
    starts
}

#[test]
fn windows_go_on_through_shuffled_epochs() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let text: Vec<u32> = (0..13).collect();
    let windows = TokenWindows::new(&text, 3);
    assert_eq!(windows.count(), 10);
    // Two batches of four from ten windows; the rest of the epoch is left out.
    assert_eq!(starts(&windows, &rt, None, 3), [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]);
    let shuffled = starts(&windows, &rt, Some(7), 4);
    assert_eq!(shuffled, starts(&windows, &rt, Some(7), 4));
    assert_ne!(shuffled, starts(&windows, &rt, Some(8), 4));
    let (first, second) = shuffled.split_at(8);
    assert_ne!(first, second);
    for epoch in [first, second] {
        assert_eq!(epoch.iter().collect::<BTreeSet<_>>().len(), 8, "a window comes once an epoch: {epoch:?}");
    }
    let strided = TokenWindows::new(&text, 3).stride(3);
    assert_eq!((strided.count(), strided.window(3)), (4, (&text[9..12], &text[10..13])));
}

#[test]
fn a_text_without_enough_windows_is_an_error_and_the_end() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let text = [1, 2, 3, 4];
    let windows = TokenWindows::new(&text, 3);
    assert_eq!((windows.count(), TokenWindows::new(&text, 4).count()), (1, 0));
    let mut batches = windows.batches(&rt, 2);
    assert_parts(&batches.next().unwrap().unwrap_err().to_string(), &["batch_size = 2", "token_windows.rs"]);
    assert!(batches.next().is_none());
    let empty = TokenWindows::new(&text, 0).stride(0);
    assert_parts(&empty.batches(&rt, 1).next().unwrap().unwrap_err().to_string(), &["len = 0"]);
}
