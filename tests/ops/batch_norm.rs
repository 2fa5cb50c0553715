use dahl::ndarray::ArrayD;
use dahl::ops::{batch_norm_backward_init, batch_norm_inference_init, batch_norm_init, bias_init, mul_init};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

/// What is normalised together, computed in `f64`.
pub(crate) struct Reference {
    /// The set of each element, and its channel.
    places: Vec<[usize; 2]>,
    sets: usize,
    channels: usize,
    epsilon: f64,
}

/// A result, and the magnitudes of its terms.
pub(crate) type Result = (ArrayD<f64>, ArrayD<f64>);

impl Reference {
    /// Of an array of this shape; `set` gives the set of an element of a sample and a channel.
    pub(crate) fn new(shape: &[usize], epsilon: f64, set: impl Fn(usize, usize) -> usize) -> Self {
        let plane: usize = shape[2..].iter().product();
        let places: Vec<_> = (0..shape.iter().product())
            .map(|element| element / plane)
            .map(|index| [set(index / shape[1], index % shape[1]), index % shape[1]])
            .collect();
        let sets = places.iter().map(|place| place[0] + 1).max().unwrap_or(0);
        Self { places, sets, channels: shape[1], epsilon }
    }

    /// The means over the sets of a function of the elements' numbers.
    fn means(&self, f: impl Fn(usize) -> f64) -> Vec<f64> {
        let (mut sums, mut counts) = (vec![0.0; self.sets], vec![0.0; self.sets]);
        for (element, &[set, _]) in self.places.iter().enumerate() {
            sums[set] += f(element);
            counts[set] += 1.0;
        }
        sums.iter().zip(counts).map(|(sum, count)| sum / count).collect()
    }

    /// The mean and the variance of each set.
    pub(crate) fn statistics(&self, input: &ArrayD<f64>) -> [Vec<f64>; 2] {
        let input = input.as_slice().unwrap();
        let mean = self.means(|element| input[element]);
        let variance = self.means(|element| (input[element] - mean[self.places[element][0]]).powi(2));
        [mean, variance]
    }

    /// The normalised input, and the magnitudes of its terms.
    fn normalised(&self, input: &ArrayD<f64>) -> [Vec<f64>; 2] {
        let [mean, variance] = self.statistics(input);
        let largest = input.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let each = input.iter().zip(&self.places);
        each.map(|(value, &[set, _])| {
            let factor = (variance[set] + self.epsilon).sqrt().recip();
            ((value - mean[set]) * factor, (value.abs() + largest) * factor)
        })
        .unzip::<f64, f64, Vec<_>, Vec<_>>()
        .into()
    }

    pub(crate) fn forward(&self, [input, weight, bias]: [&ArrayD<f64>; 3]) -> Result {
        let [values, sizes] = self.normalised(input);
        let of = |values: Vec<f64>, absolute: bool| {
            let size = |value: f64| if absolute { value.abs() } else { value };
            let affine = values
                .iter()
                .zip(&self.places)
                .map(|(value, &[_, channel])| value * size(weight[[channel]]) + size(bias[[channel]]));
            ArrayD::from_shape_vec(input.raw_dim(), affine.collect()).unwrap()
        };
        (of(values, false), of(sizes, true))
    }

    /// The gradients by the input, the weight and the bias.
    pub(crate) fn backward(&self, [input, weight, gradient]: [&ArrayD<f64>; 3]) -> [Result; 3] {
        let [normalised, sizes] = self.normalised(input);
        let [_, variance] = self.statistics(input);
        let g = gradient.as_slice().unwrap();
        let weighted = |element: usize| g[element] * weight[[self.places[element][1]]];
        let (offset, offset_size) = (self.means(weighted), self.means(|e| weighted(e).abs()));
        let slope = self.means(|e| weighted(e) * normalised[e]);
        let slope_size = self.means(|e| weighted(e).abs() * sizes[e]);
        let (mut by_input, mut by_input_size) = (input.clone(), input.clone());
        for (e, (by, size)) in by_input.iter_mut().zip(&mut by_input_size).enumerate() {
            let set = self.places[e][0];
            let factor = (variance[set] + self.epsilon).sqrt().recip();
            *by = (weighted(e) - offset[set] - normalised[e] * slope[set]) * factor;
            *size = (weighted(e).abs() + offset_size[set] + sizes[e] * slope_size[set]) * factor;
        }
        let by_channel = |f: &dyn Fn(usize) -> f64| {
            let mut sums = ArrayD::zeros(vec![self.channels]);
            for (element, &[_, channel]) in self.places.iter().enumerate() {
                sums[[channel]] += f(element);
            }
            sums
        };
        [
            (by_input, by_input_size),
            (by_channel(&|e| g[e] * normalised[e]), by_channel(&|e| g[e].abs() * sizes[e])),
            (by_channel(&|e| g[e]), by_channel(&|e| g[e].abs())),
        ]
    }
}

/// Compares a batch normalisation and its gradients, of any rank.
fn compare<T: Real, const N: usize>(shape: [usize; N]) {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let epsilon = T::from_f64(1.0 / 1024.0);
    let channels = shape[1];
    let (input, gradient) = (array::<T, N>(&rt, shape, 1), array::<T, N>(&rt, shape, 4));
    let (weight, bias) = (array::<T, 1>(&rt, [channels], 2), array::<T, 1>(&rt, [channels], 3));
    let reference = Reference::new(&shape, epsilon.to_f64(), |_, channel| channel);
    let terms = 4 * (input.len() / channels) + 16;

    let (out, mean, variance) = batch_norm_init(&arena, &input, &weight, &bias, epsilon).unwrap();
    let (expected, size) = reference.forward([&exact(&input), &exact(&weight), &exact(&bias)]);
    assert_all_close(&out, &expected, &size, terms);
    let [means, variances] =
        reference.statistics(&exact(&input)).map(|of| ArrayD::from_shape_vec(vec![channels], of).unwrap());
    assert_all_close(&mean, &means, &means.mapv(|_| 2.0), terms);
    assert_all_close(&variance, &variances, &variances, terms);

    let made = batch_norm_backward_init(&arena, &input, &weight, &gradient, epsilon).unwrap();
    let expected = reference.backward([&exact(&input), &exact(&weight), &exact(&gradient)]);
    assert_all_close(&made.0, &expected[0].0, &expected[0].1, terms);
    for (made, (expected, size)) in [&made.1, &made.2].into_iter().zip(&expected[1..]) {
        assert_all_close(made, expected, size, terms);
    }
}

fn each_rank<T: Real>() {
    compare::<T, 2>([7, 5]);
    compare::<T, 2>([300, 3]);
    compare::<T, 3>([3, 2, 11]);
    compare::<T, 4>([2, 3, 5, 1300]);
    compare::<T, 5>([2, 1, 2, 3, 4]);
}

/// Without a second pass the variance would have no correct digit.
fn a_large_mean_does_not_cancel<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let mean = T::EPSILON.to_f64().recip();
    let values = (0..1000).map(|i| T::from_f64(mean + f64::from(i % 2))).collect();
    let input = rt.from_vec([10, 1, 100], values).unwrap();
    let (one, zero) = (rt.from_vec([1], vec![T::ONE]).unwrap(), rt.zeros([1]).unwrap());
    let (out, _, variance) = batch_norm_init(&arena, &input, &one, &zero, T::ZERO).unwrap();
    assert_eq!(variance.to_vec().unwrap()[0].to_f64(), 0.25);
    assert!(
        out.to_vec()
            .unwrap()
            .into_iter()
            .enumerate()
            .all(|(i, out)| out.to_f64() == (2 * (i % 2)) as f64 - 1.0)
    );
}

for_each_real!(each_rank, a_large_mean_does_not_cancel);

#[test]
fn inference_with_the_statistics_of_the_batch_is_training() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f64, 4>(&rt, [3, 2, 4, 5], 1);
    let (weight, bias) = (array::<f64, 1>(&rt, [2], 2), array::<f64, 1>(&rt, [2], 3));
    let (out, mean, variance) = batch_norm_init(&arena, &input, &weight, &bias, 1e-5).unwrap();
    let wide = |array: Array<'_, f64, 1>| rt.from_vec([1, 2, 1, 1], array.to_vec().unwrap()).unwrap();
    let (weight, bias, mean, variance) = (wide(weight), wide(bias), wide(mean), wide(variance));
    let made = batch_norm_inference_init(&arena, &input, &weight, &bias, &mean, &variance, 1e-5).unwrap();
    assert_all_close(&made, &exact(&out), &exact(&out).mapv(|out| out.abs() + 8.0), 10);
}

#[test]
fn a_batch_of_nothing_has_no_statistics() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [0, 2, 3], 1);
    let (weight, bias) = (array::<f32, 1>(&rt, [2], 2), array::<f32, 1>(&rt, [2], 3));
    let (out, mean, variance) = batch_norm_init(&arena, &input, &weight, &bias, 1e-5).unwrap();
    assert_eq!(out.len(), 0);
    assert!(mean.to_vec().unwrap().into_iter().chain(variance.to_vec().unwrap()).all(f32::is_nan));
    let (_, by_weight, by_bias) = batch_norm_backward_init(&arena, &input, &weight, &input, 1e-5).unwrap();
    assert_eq!([by_weight.to_vec().unwrap(), by_bias.to_vec().unwrap()].concat(), [0.0; 4]);
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [4, 2, 3], 1);
    let (two, three) = (array::<f32, 1>(&rt, [2], 2), array::<f32, 1>(&rt, [3], 3));
    assert_refused(batch_norm_init(&arena, &input, &three, &two, 0.1), &["batch_norm", "[4, 2, 3]", "[3]"]);
    assert_refused(batch_norm_init(&arena, &input, &two, &three, 0.1), &["batch_norm", "[4, 2, 3]", "[3]"]);
    assert_refused(batch_norm_init(&arena, &two, &two, &two, 0.1), &["batch_norm", "[2]"]);
    let other = array::<f32, 3>(&rt, [4, 2, 2], 1);
    assert_refused(
        batch_norm_backward_init(&arena, &input, &two, &other, 0.1),
        &["batch_norm_backward", "[4, 2, 2]"],
    );
}

/// The result is that of operations of its own definition, so the ones of the library agree with each other.
#[test]
fn weight_and_bias_are_those_of_channels() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f64, 3>(&rt, [3, 2, 4], 1);
    let (weight, bias) = (array::<f64, 1>(&rt, [2], 2), array::<f64, 1>(&rt, [2], 3));
    let (one, zero) = (rt.from_vec([2], vec![1.0; 2]).unwrap(), rt.zeros([2]).unwrap());
    let plain = batch_norm_init(&arena, &input, &one, &zero, 1e-5).unwrap().0;
    let scaled = mul_init(&arena, &plain, &*weight.reshaped([1, 2, 1]).unwrap()).unwrap();
    let expected = bias_init(&arena, &scaled, &bias, 1).unwrap();
    let out = batch_norm_init(&arena, &input, &weight, &bias, 1e-5).unwrap().0;
    assert_all_close(&out, &exact(&expected), &exact(&expected).mapv(|out| out.abs() + 8.0), 10);
}
