//! Elements as text: compared with NumPy's, and where dahl differs.

use dahl_element::element::Element;
use dahl_element::print::Printed;
use half::{bf16, f16};
use ndarray::{ArrayView, s};

/// Cases with NumPy's output, from `reference/make_printed.py`.
const CASES: &str = include_str!("reference/printed.txt");

/// The elements of a case, from their bits.
fn elements<T: Element>(field: &str, count: usize, number: fn(u64) -> T, bits: fn(u64) -> T) -> Vec<T> {
    match field {
        "iota" => (0..count as u64).map(number).collect(),
        field => {
            field.split_whitespace().map(|hex| bits(u64::from_str_radix(hex, 16).expect("hex"))).collect()
        }
    }
}

fn print<T: Element>(shape: &[usize], options: &str, elements: &[T]) -> String {
    let mut printed = Printed::from_slice(shape, elements);
    let mut plus = false;
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').expect("an option has a value");
        let number = || value.parse().expect("the option is a number");
        printed = match name {
            "precision" => printed.precision(number()),
            "threshold" => printed.threshold(number()),
            "edge" => printed.edge(number()),
            "line_width" => printed.line_width(number()),
            "plus" => {
                plus = true;
                printed
            }
            unknown => panic!("no option {unknown}"),
        };
    }
    if plus { format!("{printed:+}") } else { printed.to_string() }
}

#[test]
fn as_numpy_prints() {
    let (_, cases) = CASES.split_once("\n\n# ").expect("the version comes first");
    let mut count = 0;
    for case in cases.trim_end().split("\n\n# ") {
        let (head, expected) = case.split_once('\n').expect("a head line");
        let [element, shape, options, data] = head.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("four fields in {head}");
        };
        let shape: Vec<usize> =
            shape.split_whitespace().map(|extent| extent.parse().expect("extent")).collect();
        let count_elements = shape.iter().product();
        macro_rules! text_of {
            ($ty:ty, $number:expr, $bits:expr) => {
                print(&shape, options, &elements::<$ty>(data, count_elements, $number, $bits))
            };
        }
        let text = match element {
            "f16" => text_of!(f16, |i| f16::from_f64(i as f64), |bits| f16::from_bits(bits as u16)),
            "f32" => text_of!(f32, |i| i as f32, |bits| f32::from_bits(bits as u32)),
            "f64" => text_of!(f64, |i| i as f64, f64::from_bits),
            "u8" => text_of!(u8, |i| i as u8, |bits| bits as u8),
            "u32" => text_of!(u32, |i| i as u32, |bits| bits as u32),
            "i32" => text_of!(i32, |i| i as i32, |bits| bits as i32),
            "i64" => text_of!(i64, |i| i as i64, |bits| bits as i64),
            unknown => panic!("no element type {unknown}"),
        };
        assert_eq!(text, expected, "\n{text}\ninstead of\n{expected}\nfor {element} {shape:?} {options}");
        count += 1;
    }
    assert_eq!(count, 79, "cases that the script makes");
}

#[test]
fn bf16_follows_the_rules_of_f16() {
    let numbers = [0.1, 1.0 / 3.0, -2.5, 99.5].map(bf16::from_f64);
    assert_eq!(Printed::from_slice(&[4], &numbers).to_string(), "[ 0.1    0.334 -2.5   99.5  ]");
    let far = [256.0, 3.0e38, 1e-30].map(bf16::from_f64);
    assert_eq!(Printed::from_slice(&[3], &far).to_string(), "[2.56e+02 3.00e+38 9.98e-31]");
}

#[test]
fn a_formatter_sets_precision_width_notation_and_signs() {
    let numbers = [1.0, -1.0 / 3.0];
    let printed = Printed::from_slice(&[2], &numbers);
    assert_eq!(format!("{printed:.3}"), "[ 1.    -0.333]");
    assert_eq!(format!("{printed:9.3}"), "[    1.       -0.333]");
    assert_eq!(format!("{printed:.2e}"), "[ 1.00e+00 -3.33e-01]");
    assert_eq!(format!("{printed:+.1}"), "[+1.  -0.3]");
    let large = [1e9, 2.5];
    let printed = Printed::from_slice(&[2], &large);
    assert_eq!(printed.to_string(), "[1.0e+09 2.5e+00]");
    assert_eq!(printed.clone().scientific(false).to_string(), "[1000000000.           2.5]");
    assert_eq!(printed.width(10).to_string(), "[   1.0e+09    2.5e+00]");
    let integers = Printed::from_slice(&[2, 2], &[1_u8, 2, 30, 4]).width(5);
    assert_eq!(integers.to_string(), "[[    1     2]\n [   30     4]]");
}

#[test]
fn a_strided_view_prints_its_own_elements() {
    let elements: Vec<i32> = (0..12).collect();
    let view = ArrayView::from_shape([3, 4], &elements).unwrap();
    let columns = view.slice(s![.., ..;-2]);
    assert_eq!(Printed::new(columns).to_string(), "[[ 3  1]\n [ 7  5]\n [11  9]]");
}

#[test]
#[should_panic(expected = "3 elements do not fill [2, 2]")]
fn elements_that_do_not_fill_the_shape() {
    let _ = Printed::from_slice(&[2, 2], &[1, 2, 3]);
}
