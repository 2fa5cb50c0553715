use pulp::Scalar;

use super::super::bf16_dot::POSITIONS;
use super::super::window_places;
use super::*;

/// Fills parts with these vectors, in memory with arbitrary contents.
struct Fill<'a, T: Real> {
    plane: Plane,
    source: Unpool<'a, T>,
    parts: &'a mut [T::Compute],
    part_len: usize,
}

impl<T: Real<Compute: Lanes>> WithSimd for Fill<'_, T> {
    type Output = ();

    fn with_simd<S: Simd>(mut self, simd: S) {
        self.parts.fill(T::Compute::NAN);
        self.source.fill(simd, &self.plane, 0, 0..2, self.parts, self.part_len);
    }
}

/// Checks two planes with the gradient 1, 2, and so on, every fifth of which does not pass: the first plane is followed
/// by another.
fn check<C: Lanes, S: Simd>(simd: S, output: [usize; 2], size: [usize; 2], kernel: usize) {
    let plane = Plane {
        image: output.map(|extent| extent + kernel - 1),
        kernel: [kernel; 2],
        dilation: [1, 1],
        padding: [0, 0],
    };
    let windows = pooled(output, size).iter().product();
    let mut firsts = vec![0; windows];
    window_places(output, size, &mut firsts);
    let place = |(window, first): (usize, &u32)| {
        first + (window % size[0] * output[1] + window / size[0] % size[1]) as u32
    };
    let mut index: Vec<u32> = firsts.iter().enumerate().map(place).collect();
    index.extend(&firsts);
    let gradient: Vec<C> = (0..2 * windows).map(|window| C::from_f64(window as f64 + 1.0)).collect();
    let left = |window: usize| if window.is_multiple_of(5) { -C::ZERO } else { C::ONE };
    let out: Vec<C> = (0..2 * windows).map(left).collect();
    let room = || vec![C::NAN; UnpoolWorkspace::<C>::len(windows)];
    let (mut offsets, mut passed, mut gradient_room, mut out_room) = (room(), room(), room(), room());
    // The second time, one index is in the window beside it, or below.
    for is_outside in [false, windows > 2] {
        if is_outside {
            index[1] = firsts[2];
        }
        let least = plane.positions() + 2 * WINDOWS;
        for part_len in [least, least.next_multiple_of(POSITIONS)] {
            let (mut expected, mut sums) = (vec![C::ZERO; 2 * part_len], [C::ZERO; 2]);
            for (window, place) in index.iter().enumerate() {
                let (number, place) = (window / windows, *place as usize);
                let passed = rectified(out[window], gradient[window]);
                let position = place / output[1] * plane.width() + place % output[1];
                expected[number * part_len + position] = passed;
                sums[number] += passed;
            }
            let (mut parts, mut by_bias) = (vec![C::NAN; 2 * part_len], [C::ZERO; 2]);
            let workspace = UnpoolWorkspace {
                firsts: &firsts,
                offsets: &mut offsets,
                passed: &mut passed,
                gradient: &mut gradient_room,
                out: &mut out_room,
            };
            let (gradient, out, index) = (&gradient, &out, &index);
            let source = Unpool { gradient, out, index, size, by_bias: &mut by_bias, workspace };
            let fill = Fill::<C> { plane, source, parts: &mut parts, part_len };
            Simd::vectorize(simd, fill);
            assert!(parts == expected, "{output:?} by {size:?} and {kernel}: {parts:?}");
            assert_eq!(by_bias, sums, "{output:?} by {size:?} and {kernel}");
        }
    }
}

fn check_shapes<S: Simd>(simd: Option<S>) {
    let Some(simd) = simd else { return };
    for rows in 2..8 {
        for columns in (2..40).chain([63, 64, 65, 69]) {
            for kernel in [1, 2, 3, 5, 20] {
                for size in [[2, 2], [3, 3], [1, 2]] {
                    if size[0] <= rows && size[1] <= columns {
                        check::<f32, S>(simd, [rows, columns], size, kernel);
                        check::<f64, S>(simd, [rows, columns], size, kernel);
                    }
                }
            }
        }
    }
}

#[test]
fn every_element_of_a_part_is_written_whatever_its_shape() {
    check_shapes(Some(Scalar));
    #[cfg(target_arch = "x86_64")]
    {
        check_shapes(pulp::x86::V2::try_new());
        check_shapes(pulp::x86::V3::try_new());
        check_shapes(pulp::x86::V4::try_new());
    }
}
