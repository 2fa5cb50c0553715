//! Compares all directions with plain loops, for random shapes, strides, dilations and groups. Elements are small integers,
//! so all sums are exact and each result must be the rounded sum, by whatever way it is computed.

use fastrand::Rng;

use super::*;
use crate::cpu::volume::Slide;

/// The number of random shapes.
const SHAPES: usize = 150;

fn draw(rng: &mut Rng) -> Convolution {
    let axes = rng.usize(1..=3);
    let are_dense = rng.bool();
    let slides: Vec<_> = (0..axes)
        .map(|_| {
            let [kernel, dilation] = [rng.usize(1..=if axes == 3 { 2 } else { 4 }), rng.usize(1..=3)];
            let (span, padding) = ((kernel - 1) * dilation + 1, rng.usize(0..=if axes == 3 { 1 } else { 4 }));
            let least = span.saturating_sub(2 * padding).max(1);
            let extent = rng.usize(least..=least + if axes == 3 { 3 } else { 20 });
            Slide { extent, kernel, stride: if are_dense { 1 } else { rng.usize(1..=4) }, padding, dilation }
        })
        .collect();
    let (groups, is_depthwise) = (rng.usize(1..=3), rng.bool());
    let [of_inputs, of_outputs] =
        [if is_depthwise { 1 } else { rng.usize(1..=9) }, rng.usize(1..=if is_depthwise { 3 } else { 12 })];
    Convolution {
        batch: rng.usize(1..=3),
        in_channels: groups * of_inputs,
        out_channels: groups * of_outputs,
        groups,
        volume: Volume::new(slides.into_iter()),
    }
}

/// Calls `take` with the indices of the input's element, of the filter's and of the output's for each product of a sum.
fn for_each_product(conv: &Convolution, mut take: impl FnMut([usize; 3])) {
    let (volume, group) = (&conv.volume, Group::of(conv));
    let [_, rows, columns] = volume.0.map(|axis| axis.positions());
    let in_channels = conv.in_channels / conv.groups;
    for (sample, filter) in
        (0..conv.batch).flat_map(|sample| (0..conv.out_channels).map(move |f| (sample, f)))
    {
        for (channel, position) in
            (0..in_channels).flat_map(|channel| (0..group.positions).map(move |p| (channel, p)))
        {
            let of_input = sample * conv.in_channels + filter / group.out_channels * in_channels + channel;
            let place = [position / (rows * columns), position / columns % rows, position % columns];
            for (number, tap) in volume.each_tap().enumerate() {
                let line = volume.line([place[0], place[1]], tap);
                let Some((line, column)) = line.zip(volume.0[2].source(place[2], tap[2])) else { continue };
                take([
                    of_input * volume.len() + line.start + column,
                    filter * group.filter + channel * volume.taps() + number,
                    (sample * conv.out_channels + filter) * group.positions + position,
                ]);
            }
        }
    }
}

fn assert_exact<T: Real>(conv: &Convolution, rng: &mut Rng) {
    let group = Group::of(conv);
    let lengths = [
        conv.batch * conv.groups * group.input,
        conv.groups * group.filters(),
        conv.batch * conv.groups * group.output,
    ];
    let mut integers = |length: usize| (0..length).map(|_| f64::from(rng.i8(-4..=4))).collect::<Vec<_>>();
    let [input, filters, gradient] = lengths.map(&mut integers);
    let [mut to_input, mut to_filters, mut to_output] = lengths.map(|length| vec![0.0; length]);
    for_each_product(conv, |[from, filter, to]| {
        to_output[to] += input[from] * filters[filter];
        to_input[from] += gradient[to] * filters[filter];
        to_filters[filter] += gradient[to] * input[from];
    });
    let [input, filters, gradient] =
        [input, filters, gradient].map(|values| values.into_iter().map(T::from_f64).collect::<Vec<T>>());
    let assert_rounded = |direction: &str, got: &[T], exact: &[f64]| {
        let place = got.iter().zip(exact).position(|(&got, &exact)| got != T::from_f64(exact));
        assert_eq!(place, None, "{direction} {} {conv:?}", T::NAME);
    };
    for cores in [Cores::One, Cores::Pool] {
        let mut out = vec![T::NAN; lengths[2]];
        forward(cores, conv, &input, &filters, &mut out);
        assert_rounded("forward", &out, &to_output);

        let mut out = vec![T::NAN; lengths[0]];
        backward_input(cores, conv, &gradient, &filters, &mut out);
        assert_rounded("backward_input", &out, &to_input);

        // The gradient is added to these.
        let mut out = vec![T::Compute::ONE; lengths[1]];
        backward_filters(cores, conv, &input, &gradient, &mut out);
        let place = out.iter().zip(&to_filters).position(|(out, exact)| out.to_f64() != exact + 1.0);
        assert_eq!(place, None, "backward_filters {} {conv:?}", T::NAME);
    }
}

fn assert_exact_for_shapes<T: Real>() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..SHAPES {
        assert_exact::<T>(&draw(&mut rng), &mut rng);
    }
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

/// Only the sums that an infinite element is in are infinite, or NaN: not those that loops add zeros to.
#[test]
fn an_infinite_element_stays_where_it_is() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..SHAPES {
        let conv = draw(&mut rng);
        let group = Group::of(&conv);
        let (inputs, outputs) =
            (conv.batch * conv.groups * group.input, conv.batch * conv.groups * group.output);
        let mut input = vec![1.0_f32; inputs];
        let infinite = rng.usize(..inputs);
        input[infinite] = f32::INFINITY;
        let filters = vec![1.0; conv.groups * group.filters()];
        let gradient = vec![1.0; outputs];
        let [mut to_output, mut to_filters] = [vec![false; outputs], vec![false; filters.len()]];
        for_each_product(&conv, |[from, filter, to]| {
            to_output[to] |= from == infinite;
            to_filters[filter] |= from == infinite;
        });
        let mut out = vec![0.0; outputs];
        forward(Cores::One, &conv, &input, &filters, &mut out);
        assert!(out.iter().zip(&to_output).all(|(sum, reached)| sum.is_finite() != *reached), "{conv:?}");
        let mut out = vec![0.0; filters.len()];
        backward_filters(Cores::One, &conv, &input, &gradient, &mut out);
        assert!(out.iter().zip(&to_filters).all(|(sum, reached)| sum.is_finite() != *reached), "{conv:?}");
    }
}
