//! Compares the three directions with plain loops, for random shapes. Elements are small integers, so all sums are
//! exact and each result must be the rounded sum.

use dahl_core::{Element, Real};
use fastrand::Rng;

use super::*;
use crate::cpu::lanes::Lanes;

/// The number of random shapes.
const SHAPES: usize = 400;

/// `[batch, in_channels, out_channels]` of a convolution, and its planes.
struct Case {
    extents: [usize; 3],
    plane: Plane,
}

impl Case {
    fn draw(rng: &mut Rng) -> Self {
        let extents = [rng.usize(1..=3), rng.usize(1..=20), rng.usize(1..=40)];
        let kernel = [rng.usize(1..=5), rng.usize(1..=6)];
        let dilation = [rng.usize(1..=3), rng.usize(1..=3)];
        let spanned = [0, 1].map(|axis| (kernel[axis] - 1) * dilation[axis] + 1);
        let padding = spanned.map(|extent| rng.usize(0..extent));
        let least = [0, 1].map(|axis| spanned[axis].saturating_sub(2 * padding[axis]).max(1));
        let mut image = least.map(|least| rng.usize(least..=17));
        if rng.u8(..) < 16 {
            image = [least[0], rng.usize(120..=300)]; // rows longer than what is transposed at once
        }
        Self { extents, plane: Plane { image, kernel, dilation, padding } }
    }

    fn output(&self) -> [usize; 2] {
        let Plane { image, kernel, dilation, padding } = self.plane;
        [0, 1].map(|axis| image[axis] + 2 * padding[axis] - (kernel[axis] - 1) * dilation[axis])
    }

    /// The lengths of the images, the filters and the output.
    fn lengths(&self) -> [usize; 3] {
        let [batch, inputs, outputs] = self.extents;
        let area = |[rows, columns]: [usize; 2]| rows * columns;
        [
            batch * inputs * area(self.plane.image),
            outputs * inputs * area(self.plane.kernel),
            batch * outputs * area(self.output()),
        ]
    }

    /// Calls `take` with the indices of the image's element, of the filter's and of the output's for each product of a
    /// sum.
    fn for_each_product(&self, mut take: impl FnMut([usize; 3])) {
        let ([batch, channels, filters], [rows, columns]) = (self.extents, self.output());
        let Plane { image, kernel, dilation, padding } = self.plane;
        for [number, filter, channel] in triples([batch, filters, channels]) {
            for [row, column, tap] in triples([rows, columns, kernel[0] * kernel[1]]) {
                let of_kernel = [tap / kernel[1], tap % kernel[1]];
                let of_image = [
                    (row + of_kernel[0] * dilation[0]).wrapping_sub(padding[0]),
                    (column + of_kernel[1] * dilation[1]).wrapping_sub(padding[1]),
                ];
                if of_image[0] < image[0] && of_image[1] < image[1] {
                    take([
                        ((number * channels + channel) * image[0] + of_image[0]) * image[1] + of_image[1],
                        (filter * channels + channel) * kernel[0] * kernel[1] + tap,
                        ((number * filters + filter) * rows + row) * columns + column,
                    ]);
                }
            }
        }
    }
}

/// All triples of numbers below `extents`.
fn triples([first, second, third]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..first).flat_map(move |a| (0..second).flat_map(move |b| (0..third).map(move |c| [a, b, c])))
}

fn assert_exact<T: Real<Compute: Lanes>>(case: &Case, rng: &mut Rng) {
    let (lengths, [batch, in_channels, out_channels], plane) = (case.lengths(), case.extents, case.plane);
    let mut integers = |length: usize| (0..length).map(|_| f64::from(rng.i8(-4..=4))).collect::<Vec<_>>();
    let [images, filters, gradient_of_output] = lengths.map(&mut integers);
    let bias = integers(out_channels);
    let [mut to_images, mut to_filters, mut to_output] = lengths.map(|length| vec![0.0; length]);
    for (place, sum) in to_output.iter_mut().enumerate() {
        *sum = bias[place / plane.outputs() % out_channels];
    }
    case.for_each_product(|[image, filter, output]| {
        to_output[output] += images[image] * filters[filter];
        to_images[image] += gradient_of_output[output] * filters[filter];
        to_filters[filter] += gradient_of_output[output] * images[image];
    });

    let [images, filters, gradient_of_output] = [images, filters, gradient_of_output]
        .map(|values| values.into_iter().map(T::from_f64).collect::<Vec<T>>());
    let bias: Vec<T::Compute> = bias.into_iter().map(T::Compute::from_f64).collect();
    let taps = plane.taps();
    let context = format!("{} {:?} {:?}", T::NAME, case.extents, plane);
    let assert_rounded = |got: &[T], exact: &[f64]| {
        assert!(got.iter().zip(exact).all(|(&got, &exact)| got == T::from_f64(exact)), "{context}");
    };

    let mut out = vec![T::NAN; lengths[2]];
    let shape = Filters { out_channels, in_channels, taps };
    let write = Write { out: &mut out, out_channels };
    let images = Images::whole(&images, lengths[0] / batch);
    convolve(plane, shape, images, (&filters, Order::Forward), Some(&bias), write);
    assert_rounded(&out, &to_output);

    let mut out = vec![T::NAN; lengths[0]];
    let back = Filters { out_channels: in_channels, in_channels: out_channels, taps };
    let reversed = plane.reversed().expect("the padding is below the kernel's extents");
    let write = Write { out: &mut out, out_channels: in_channels };
    let gradients = Images::whole(&gradient_of_output, lengths[2] / batch);
    convolve(reversed, back, gradients, (&filters, Order::Reversed), None, write);
    assert_rounded(&out, &to_images);

    // The gradient is added to these.
    let mut out = vec![T::Compute::ONE; lengths[1]];
    gradient(plane, shape, images, Given { gradient: &gradient_of_output, out_channels }, &mut out);
    assert!(out.iter().zip(&to_filters).all(|(out, exact)| out.to_f64() == exact + 1.0), "{context}");
}

fn assert_exact_for_shapes<T: Real<Compute: Lanes>>() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..SHAPES {
        assert_exact::<T>(&Case::draw(&mut rng), &mut rng);
    }
}

#[test]
fn all_directions_are_exact_in_f16() {
    assert_exact_for_shapes::<half::f16>();
}

#[test]
fn all_directions_are_exact_in_bf16() {
    assert_exact_for_shapes::<half::bf16>();
}

#[test]
fn all_directions_are_exact_in_f32() {
    assert_exact_for_shapes::<f32>();
}

#[test]
fn all_directions_are_exact_in_f64() {
    assert_exact_for_shapes::<f64>();
}
