//! Random numbers of further distributions: their means and shares, their places in a sequence, and what has none.

use dahl::ops::{
    Philox, arg_max_init, bernoulli_init, categorical_init, exponential, gumbel, softmax_init, uniform,
};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

const COUNT: usize = 100_000;

/// Asserts that a mean of [`COUNT`] numbers of this deviation is within 5 of its own.
#[track_caller]
fn assert_mean(mean: f64, expected: f64, deviation: f64) {
    let bound = 5.0 * deviation / (COUNT as f64).sqrt();
    assert!((mean - expected).abs() < bound, "{mean} is not within {bound} of {expected}");
}

#[test]
fn exponential_and_gumbel_are_transforms_of_uniform() {
    let rt = Runtime::new().unwrap();
    let mut drawn = [(); 3].map(|()| rt.zeros::<f64, 1>([COUNT]).unwrap());
    let [uniforms, exponentials, gumbels] = &mut drawn;
    uniform(uniforms, 0.0, 1.0, Philox::new(5)).unwrap();
    exponential(exponentials, 2.0, Philox::new(5)).unwrap();
    gumbel(gumbels, Philox::new(5)).unwrap();
    let [uniforms, exponentials, gumbels] = drawn.each_ref().map(exact);
    let is_near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * (1.0 + y.abs());
    for i in 0..COUNT {
        let waited = -(-uniforms[[i]]).ln_1p();
        assert!(is_near(2.0 * exponentials[[i]], waited) && is_near(gumbels[[i]], -waited.ln()), "{i}");
    }
    assert!(exponentials.iter().all(|x| *x > 0.0) && gumbels.iter().all(|x| x.is_finite()));
    assert_mean(exponentials.mean().unwrap(), 0.5, 0.5);
    let euler = 0.5772156649015329;
    assert_mean(gumbels.mean().unwrap(), euler, std::f64::consts::PI / 6.0_f64.sqrt());
}

fn in_each_type<T: Real>() {
    let rt = Runtime::new().unwrap();
    let (mut exact_numbers, mut numbers) =
        (rt.zeros::<f64, 1>([3000]).unwrap(), rt.zeros::<T, 1>([2995]).unwrap());
    gumbel(&mut exact_numbers, Philox::new(9)).unwrap();
    gumbel(&mut numbers, Philox::new(9).skip(5)).unwrap();
    let rounded = exact_numbers.to_vec().unwrap()[5..].iter().map(|x| T::from_f64(*x)).collect::<Vec<_>>();
    assert_eq!(numbers.to_vec().unwrap(), rounded);
    exponential(&mut exact_numbers, 3.0, Philox::new(9)).unwrap();
    exponential(&mut numbers, 3.0, Philox::new(9).skip(5)).unwrap();
    let rounded = exact_numbers.to_vec().unwrap()[5..].iter().map(|x| T::from_f64(*x)).collect::<Vec<_>>();
    assert_eq!(numbers.to_vec().unwrap(), rounded);
}

fn bernoulli_has_its_share<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for probability in [0.0, 0.25, 1.0] {
        let probabilities = rt.from_vec([COUNT], vec![T::from_f64(probability); COUNT]).unwrap();
        let drawn = exact(&bernoulli_init(&arena, &probabilities, Philox::new(3)).unwrap());
        assert!(drawn.iter().all(|x| *x == 0.0 || *x == 1.0));
        let deviation = (probability * (1.0 - probability)).sqrt() + 1e-9;
        assert_mean(drawn.mean().unwrap(), probability, deviation);
    }
}

for_each_real!(in_each_type, bernoulli_has_its_share);

#[test]
fn classes_have_the_shares_of_their_logits() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let row = [0.5_f32, -1.0, 2.0, f32::NEG_INFINITY];
    let logits = rt.from_vec([COUNT, 4], row.repeat(COUNT)).unwrap();
    for temperature in [0.5, 1.0, 3.0] {
        let scaled = rt.from_vec([1, 4], row.iter().map(|x| f64::from(*x) / temperature).collect()).unwrap();
        let shares = softmax_init(&arena, &scaled, 1).unwrap().to_vec().unwrap();
        let drawn = categorical_init(&arena, &logits, temperature, Philox::new(1)).unwrap().to_vec().unwrap();
        for (class, share) in shares.into_iter().enumerate() {
            let count = drawn.iter().filter(|drawn| **drawn == class as u32).count();
            assert_mean(count as f64 / COUNT as f64, share, (share * (1.0 - share)).sqrt() + 1e-9);
        }
    }
}

#[test]
fn a_low_temperature_takes_the_largest() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let logits = array::<f32, 2>(&rt, [100, 7], 1);
    let drawn = categorical_init(&arena, &logits, 1e-6, Philox::new(1)).unwrap().to_vec().unwrap();
    let largest = arg_max_init(&arena, &logits, 1).unwrap().to_vec().unwrap();
    assert_eq!(drawn, largest);
}

/// The rest of a batch, from the number of the elements before it on.
#[test]
fn parts_of_a_batch_draw_what_the_whole_does() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let logits = array::<f32, 2>(&rt, [100, 30], 1);
    let rest = rt.from_vec([60, 30], logits.to_vec().unwrap()[40 * 30..].to_vec()).unwrap();
    let drawn = categorical_init(&arena, &logits, 1.0, Philox::new(2)).unwrap().to_vec().unwrap();
    let of_rest = categorical_init(&arena, &rest, 1.0, Philox::new(2).skip(40 * 30)).unwrap();
    assert_eq!(of_rest.to_vec().unwrap(), drawn[40..]);
}

#[test]
fn what_has_no_distribution_fails() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let numbers = Philox::new(1);
    let draw = |logits: [f32; 2]| {
        let logits = rt.from_vec([1, 2], logits.to_vec()).unwrap();
        categorical_init(&arena, &logits, 1.0, numbers).unwrap().read().map(|_| ()).unwrap_err().to_string()
    };
    let none = draw([f32::NEG_INFINITY; 2]);
    assert!(none.contains("sample 0 has no class to draw"), "{none}");
    for wrong in [f32::NAN, f32::INFINITY] {
        let message = draw([0.0, wrong]);
        assert!(message.contains("of class 1 of sample 0 has no probability"), "{message}");
    }
    for wrong in [-0.5, 1.5, f32::NAN] {
        let probabilities = rt.from_vec([1], vec![wrong]).unwrap();
        let message =
            bernoulli_init(&arena, &probabilities, numbers).unwrap().read().unwrap_err().to_string();
        assert!(message.contains("is not a probability"), "{message}");
    }
    let logits = rt.zeros::<f32, 2>([1, 2]).unwrap();
    for wrong in [0.0, -1.0, f64::NAN] {
        assert_refused(categorical_init(&arena, &logits, wrong, numbers), &["categorical", "temperature"]);
        assert_refused(exponential(&mut rt.zeros::<f32, 1>([1]).unwrap(), wrong, numbers), &["exponential"]);
    }
}
