use half::bf16;

use super::{Filters, Order, Plane};
use crate::cpu::conv2d::{self, Convolution};
use crate::cpu::conv2d_relu::forward_relu;
use crate::cpu::direct::{Images, Write, convolve};
use crate::cpu::gemm::Cores;
use crate::cpu::im2col::Window;

fn numbers(len: usize) -> Vec<bf16> {
    (0..len).map(|number| bf16::from_f32((number * 31 % 17) as f32 / 8.0 - 1.0)).collect()
}

fn forward(batch: usize, [channels, filters]: [usize; 2], input: &[bf16]) -> Vec<bf16> {
    let window = Window { image: [5, 6], kernel: [3, 2], stride: [1, 1], padding: [1, 0] };
    let conv = Convolution { batch, in_channels: channels, out_channels: filters, window };
    let mut out = vec![bf16::NAN; batch * filters * 5 * 5];
    conv2d::forward(&conv, input, &numbers(filters * channels * 6), &mut out);
    out
}

#[test]
fn an_image_with_small_elements_changes_no_other() {
    for [channels, filters] in [[3, 8], [8, 8], [24, 32]] {
        let image_len = channels * 5 * 6;
        let mut input = numbers(3 * image_len);
        input[image_len + 7] = bf16::from_bits(1);
        let forward = |batch, input: &[bf16]| forward(batch, [channels, filters], input);
        let one_by_one: Vec<_> = input.chunks(image_len).flat_map(|image| forward(1, image)).collect();
        assert_eq!(forward(3, &input), one_by_one);
    }
}

/// A convolution of one element in each of some channels, plus a bias, rectified, by equal filters.
fn of_one(channels: usize, input: f32, filter: f32, bias: bf16) -> bf16 {
    let window = Window { image: [1, 1], kernel: [1, 1], stride: [1, 1], padding: [0, 0] };
    let conv = Convolution { batch: 1, in_channels: channels, out_channels: channels, window };
    let mut out = vec![bf16::NAN; channels];
    let (input, filters) =
        (vec![bf16::from_f32(input); channels], vec![bf16::from_f32(filter); channels * channels]);
    forward_relu(&conv, &input, &filters, &vec![bias; channels], &mut out);
    assert!(out.iter().all(|&value| value == out[0]));
    out[0]
}

#[test]
fn sums_that_are_subnormal_are_kept() {
    let tiny = 2.0_f32.powi(-65);
    for channels in [2, 8, 140] {
        let of_one = |input, filter, bias| of_one(channels, input, filter, bias);
        assert_eq!(of_one(tiny, tiny, bf16::ZERO), bf16::from_f32(channels as f32 * tiny * tiny));
        assert_eq!(of_one(0.0, 0.0, bf16::from_bits(1)), bf16::from_bits(1));
        assert_eq!(of_one(1.5, 2.0, bf16::ONE), bf16::from_f32(channels as f32 * 3.0 + 1.0));
    }
}

#[test]
fn no_part_of_a_sum_overflows() {
    for channels in [2, 8, 32, 140] {
        let window = Window { image: [1, 1], kernel: [1, 1], stride: [1, 1], padding: [0, 0] };
        let out_channels = if channels < 64 { 8 } else { 32 };
        let conv = Convolution { batch: 1, in_channels: channels, out_channels, window };
        let large = bf16::from_f32(2.0_f32.powi(126));
        let input: Vec<_> =
            (0..channels).map(|channel| if channel % 2 == 0 { large } else { -large }).collect();
        let mut out = vec![bf16::NAN; out_channels];
        conv2d::forward(&conv, &input, &vec![bf16::ONE; out_channels * channels], &mut out);
        assert!(out.iter().all(|&value| value == bf16::ZERO));
    }
}

/// Integers, whose sums are exact in `f32` in any order.
fn whole(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|number| ((number * 37 + seed * 5) % 9) as f32 - 4.0).collect()
}

fn rounded(numbers: &[f32]) -> Vec<bf16> {
    numbers.iter().map(|&number| bf16::from_f32(number)).collect()
}

#[test]
fn convolutions_and_gradients_are_those_of_f32() {
    let cases = [
        (2, [8, 8], [5, 6], [3, 3], [1, 1]),
        (1, [17, 33], [7, 9], [3, 3], [0, 0]),
        (2, [40, 16], [6, 33], [1, 7], [0, 3]),
        (1, [9, 70], [4, 5], [4, 2], [2, 0]),
        (3, [64, 31], [1, 3], [1, 1], [0, 0]),
        (66, [8, 40], [4, 3], [2, 2], [1, 0]),
        (1, [300, 70], [3, 4], [3, 3], [1, 1]),
        (2, [33, 40], [6, 29], [2, 7], [1, 3]),
        (2, [64, 32], [5, 24], [3, 3], [2, 2]),
        (1, [40, 32], [1, 130], [1, 41], [0, 0]),
    ];
    for (batch, [in_channels, out_channels], image, kernel, padding) in cases {
        let window = Window { image, kernel, stride: [1, 1], padding };
        let conv = Convolution { batch, in_channels, out_channels, window };
        let (input_len, out_len) = (batch * conv.image_len(), batch * out_channels * conv.positions());
        let filters_len = out_channels * in_channels * kernel[0] * kernel[1];
        let (input, filters, gradient) = (whole(input_len, 1), whole(filters_len, 2), whole(out_len, 3));
        let halves = [&input, &filters, &gradient].map(|numbers| rounded(numbers));

        let (mut out, mut in_halves) = (vec![f32::NAN; out_len], vec![bf16::NAN; out_len]);
        conv2d::forward(&conv, &input, &filters, &mut out);
        conv2d::forward(&conv, &halves[0], &halves[1], &mut in_halves);
        assert_eq!(in_halves, rounded(&out), "{conv:?}");

        let (mut by_input, mut in_halves) = (vec![f32::NAN; input_len], vec![bf16::NAN; input_len]);
        conv2d::backward_input(&conv, &gradient, &filters, &mut by_input);
        conv2d::backward_input(&conv, &halves[2], &halves[1], &mut in_halves);
        assert_eq!(in_halves, rounded(&by_input), "{conv:?} by the input");

        let (mut by_filters, mut of_halves) = (whole(filters_len, 4), whole(filters_len, 4));
        conv2d::backward_filters(Cores::One, &conv, &input, &gradient, &mut by_filters);
        conv2d::backward_filters(Cores::One, &conv, &halves[0], &halves[2], &mut of_halves);
        assert_eq!(of_halves, by_filters, "{conv:?} by the filters");

        // A gradient that is not aligned for pairs.
        let behind_one = [&[bf16::ONE], halves[2].as_slice()].concat();
        of_halves = whole(filters_len, 4);
        conv2d::backward_filters(Cores::One, &conv, &halves[0], &behind_one[1..], &mut of_halves);
        assert_eq!(of_halves, by_filters, "{conv:?} by the filters, at an odd place");

        // An image or a gradient that is not exact, among others that are.
        let places =
            [[Some(0), None], [Some(input_len - 1), None], [None, Some(0)], [None, Some(out_len - 1)]];
        for places in places {
            let [(of_input, input), (of_gradient, gradient)] = [(places[0], &input), (places[1], &gradient)]
                .map(|(place, numbers)| {
                    let (mut halves, mut numbers) = (rounded(numbers), numbers.clone());
                    if let Some(place) = place {
                        halves[place] = bf16::from_bits(1);
                        numbers[place] = halves[place].to_f32();
                    }
                    (halves, numbers)
                });
            let (mut by_filters, mut of_halves) = (whole(filters_len, 4), whole(filters_len, 4));
            conv2d::backward_filters(Cores::One, &conv, &input, &gradient, &mut by_filters);
            conv2d::backward_filters(Cores::One, &conv, &of_input, &of_gradient, &mut of_halves);
            let context = format!("{conv:?} by the filters, with a small element at {places:?}");
            assert_eq!(rounded(&of_halves), rounded(&by_filters), "{context}");
        }
    }
}

/// The bias alone, summed by filters in lanes, is rounded as numbers are.
#[test]
fn sums_are_narrowed_as_numbers_are() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.0 + 2.0_f32.powi(-8),
        1.0 + 3.0 * 2.0_f32.powi(-8),
        1.0 + 2.0_f32.powi(-9),
        2.0_f32.powi(-124),
        -1.5 * 2.0_f32.powi(-120),
        1e-30,
        3.4e38,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let bias: Vec<f32> = values.iter().copied().cycle().take(3 * values.len()).collect();
    for image in [[5, 7], [1, 24], [4, 8], [3, 1]] {
        let plane = Plane::borderless(image);
        let shape = Filters { out_channels: bias.len(), in_channels: 128, taps: 1 };
        let (images, filters) = (vec![bf16::ONE; 2 * 128 * plane.outputs()], vec![bf16::ZERO; shape.len()]);
        let mut out = vec![bf16::MIN_POSITIVE; 2 * bias.len() * plane.outputs()];
        let write = Write { out: &mut out, out_channels: bias.len() };
        convolve(
            plane,
            shape,
            Images::whole(&images, 128 * plane.outputs()),
            (&filters, Order::Forward),
            Some(&bias),
            write,
        );
        for (sums, bias) in out.chunks(plane.outputs()).zip(bias.iter().cycle()) {
            let expected = bf16::from_f32(bias + 0.0).to_bits(); // products of 0 are added: -0 becomes 0
            assert!(sums.iter().all(|sum| sum.to_bits() == expected), "{bias} is {sums:?}");
        }
    }
}
