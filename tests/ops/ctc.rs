//! CTC compared with the sum over all paths, one by one.

use dahl::ops::{CtcOptions, ctc_backward_init, ctc_init};
use dahl::prelude::*;

use crate::reference::{array, assert_close, assert_refused, exact};

const OPTIONS: CtcOptions = CtcOptions { blank: 0, zero_infinity: false, per_target: false };

/// What a path spells: without repetitions, and without blanks.
fn spelled(path: &[usize], blank: usize) -> Vec<usize> {
    let mut spelled = path.to_vec();
    spelled.dedup();
    spelled.retain(|class| *class != blank);
    spelled
}

/// The probability of a target, and for each step and class that of the paths through it, over all paths.
fn of_all_paths(input: &[Vec<f64>], target: &[usize], blank: usize) -> (f64, Vec<Vec<f64>>) {
    let classes = input.first().map_or(1, Vec::len);
    let (mut sum, mut through) = (0.0, vec![vec![0.0; classes]; input.len()]);
    for number in 0..classes.pow(input.len() as u32) {
        let path =
            (0..input.len()).map(|step| number / classes.pow(step as u32) % classes).collect::<Vec<_>>();
        if spelled(&path, blank) == target {
            let probability = path.iter().zip(input).map(|(class, row)| row[*class]).sum::<f64>().exp();
            sum += probability;
            path.iter().zip(&mut through).for_each(|(class, row)| row[*class] += probability);
        }
    }
    (sum, through)
}

fn as_the_sum_over_all_paths<T: Real>() {
    const STEPS: usize = 6;
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let targets: [&[usize]; 6] = [&[1, 2, 3], &[2, 2], &[], &[3], &[1, 1, 1], &[3, 1, 2]];
    let steps = [6, 5, 4, 1, 5, 3];
    let mut padded = vec![7_u32; 6 * 4];
    for (row, target) in padded.chunks_mut(4).zip(targets) {
        row.iter_mut().zip(target).for_each(|(to, from)| *to = *from as u32);
    }
    let input = array::<T, 3>(&rt, [STEPS, 6, 4], 3);
    let padded = rt.from_vec([6, 4], padded).unwrap();
    let input_lengths = rt.from_vec([6], steps.map(|steps| steps as u32).to_vec()).unwrap();
    let target_lengths = rt.from_vec([6], targets.map(|target| target.len() as u32).to_vec()).unwrap();
    let gradient = array::<T, 1>(&rt, [6], 4);
    for per_target in [false, true] {
        let options = CtcOptions { per_target, ..OPTIONS };
        let loss = ctc_init(&arena, &input, &padded, &input_lengths, &target_lengths, options).unwrap();
        let by =
            ctc_backward_init(&arena, &input, &padded, &input_lengths, &target_lengths, &gradient, options);
        let (loss, by) = (loss.to_vec().unwrap(), exact(&by.unwrap()));
        let (values, gradient) = (exact(&input), exact(&gradient));
        for (i, target) in targets.iter().enumerate() {
            let row = |step| (0..4).map(|class| values[[step, i, class]]).collect::<Vec<_>>();
            let rows = (0..steps[i]).map(row).collect::<Vec<_>>();
            let (sum, through) = of_all_paths(&rows, target, 0);
            let share = if per_target { 1.0 / target.len().max(1) as f64 } else { 1.0 };
            assert_close(loss[i], -sum.ln() * share, 12.0, 64);
            for step in 0..STEPS {
                for class in 0..4 {
                    let part = through.get(step).map_or(0.0, |row| row[class] / sum);
                    let expected = -gradient[[i]] * share * part;
                    let scale = gradient[[i]].abs();
                    assert_close(T::from_f64(by[[step, i, class]]), expected, scale, 512);
                }
            }
        }
    }
}

fn the_impossible<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    // The same label twice needs a blank between; one step spells no two labels; no step spells nothing, and nothing else.
    let targets = rt.from_vec([4, 2], vec![1_u32, 1, 1, 2, 0, 0, 1, 0]).unwrap();
    let input_lengths = rt.from_vec([4], vec![2_u32, 1, 0, 0]).unwrap();
    let target_lengths = rt.from_vec([4], vec![2_u32, 2, 0, 1]).unwrap();
    let input = array::<T, 3>(&rt, [2, 4, 3], 1);
    let loss = ctc_init(&arena, &input, &targets, &input_lengths, &target_lengths, OPTIONS).unwrap();
    let losses = loss.to_vec().unwrap().into_iter().map(T::to_f64).collect::<Vec<_>>();
    assert_eq!(losses, [f64::INFINITY, f64::INFINITY, 0.0, f64::INFINITY]);
    let options = CtcOptions { zero_infinity: true, ..OPTIONS };
    let loss = ctc_init(&arena, &input, &targets, &input_lengths, &target_lengths, options).unwrap();
    assert_eq!(loss.to_vec().unwrap(), [T::ZERO; 4]);
    let ones = rt.from_vec([4], vec![T::ONE; 4]).unwrap();
    let by = ctc_backward_init(&arena, &input, &targets, &input_lengths, &target_lengths, &ones, options);
    assert_eq!(by.unwrap().to_vec().unwrap(), [T::ZERO; 24]);
}

for_each_real!(as_the_sum_over_all_paths, the_impossible);

/// A product of the probabilities would be 0.
#[test]
fn long_sequences_do_not_underflow() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let steps = 2000;
    let input = rt.from_vec([steps, 1, 2], vec![-3.0_f32; 2 * steps]).unwrap();
    let targets = rt.from_vec([1, 1], vec![1_u32]).unwrap();
    let (input_lengths, target_lengths) =
        (rt.from_vec([1], vec![steps as u32]).unwrap(), rt.from_vec([1], vec![1_u32]).unwrap());
    let loss = ctc_init(&arena, &input, &targets, &input_lengths, &target_lengths, OPTIONS).unwrap();
    let loss = f64::from(loss.to_vec().unwrap()[0]);
    // The label from one step up to another.
    let paths = (steps * (steps + 1) / 2) as f64;
    assert!((loss / (3.0 * steps as f64 - paths.ln()) - 1.0).abs() < 1e-5, "{loss}");
}

#[test]
fn what_is_out_of_range_fails_the_task() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [4, 1, 3], 1);
    let fails = |target: u32, steps: u32, labels: u32, expected: &str| {
        let targets = rt.from_vec([1, 2], vec![target; 2]).unwrap();
        let steps = rt.from_vec([1], vec![steps]).unwrap();
        let labels = rt.from_vec([1], vec![labels]).unwrap();
        let loss = ctc_init(&arena, &input, &targets, &steps, &labels, OPTIONS).unwrap();
        let message = loss.read().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    fails(3, 4, 1, "target 3 of sequence 0 is not one of 3 classes");
    fails(1, 5, 1, "input length 5 of sequence 0 is above the 4 steps");
    fails(1, 4, 3, "target length 3 of sequence 0 is above the 2 targets");
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [4, 2, 3], 1);
    let (targets, lengths) = (rt.zeros([3, 2]).unwrap(), rt.zeros([2]).unwrap());
    assert_refused(ctc_init(&arena, &input, &targets, &lengths, &lengths, OPTIONS), &["ctc", "[3, 2]"]);
    let targets = rt.zeros([2, 2]).unwrap();
    let options = CtcOptions { blank: 3, ..OPTIONS };
    assert_refused(ctc_init(&arena, &input, &targets, &lengths, &lengths, options), &["ctc", "options"]);
}
