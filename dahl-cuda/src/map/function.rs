//! Functions of `Real`, as methods and as associated functions.

use super::kind::{Kind, SUM, Value};

/// The further arguments and the result of a function of `Real`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many further numbers of the same kind; the result is of that kind.
    Same(usize),
    /// The same, with an integer as exponent.
    Exponent,
    /// The result is a `bool`.
    Question,
    /// The result is the value itself: conversions to the type in which the body computes.
    Itself,
    ToDouble,
}

const FUNCTIONS: [(&str, Shape); 56] = [
    ("abs", Shape::Same(0)),
    ("acos", Shape::Same(0)),
    ("acosh", Shape::Same(0)),
    ("asin", Shape::Same(0)),
    ("asinh", Shape::Same(0)),
    ("atan", Shape::Same(0)),
    ("atan2", Shape::Same(1)),
    ("atanh", Shape::Same(0)),
    ("cbrt", Shape::Same(0)),
    ("ceil", Shape::Same(0)),
    ("clamp", Shape::Same(2)),
    ("copysign", Shape::Same(1)),
    ("cos", Shape::Same(0)),
    ("cosh", Shape::Same(0)),
    ("erf", Shape::Same(0)),
    ("erfc", Shape::Same(0)),
    ("exp", Shape::Same(0)),
    ("exp2", Shape::Same(0)),
    ("exp_m1", Shape::Same(0)),
    ("floor", Shape::Same(0)),
    ("fract", Shape::Same(0)),
    ("hypot", Shape::Same(1)),
    ("is_finite", Shape::Question),
    ("is_infinite", Shape::Question),
    ("is_nan", Shape::Question),
    ("is_normal", Shape::Question),
    ("is_sign_negative", Shape::Question),
    ("is_sign_positive", Shape::Question),
    ("ln", Shape::Same(0)),
    ("ln_1p", Shape::Same(0)),
    ("log", Shape::Same(1)),
    ("log10", Shape::Same(0)),
    ("log2", Shape::Same(0)),
    ("max", Shape::Same(1)),
    ("maximum", Shape::Same(1)),
    ("min", Shape::Same(1)),
    ("minimum", Shape::Same(1)),
    ("mul_add", Shape::Same(2)),
    ("narrow", Shape::Itself),
    ("plus", Shape::Same(1)),
    ("powf", Shape::Same(1)),
    ("powi", Shape::Exponent),
    ("recip", Shape::Same(0)),
    ("round", Shape::Same(0)),
    ("round_ties_even", Shape::Same(0)),
    ("signum", Shape::Same(0)),
    ("sin", Shape::Same(0)),
    ("sinh", Shape::Same(0)),
    ("sqrt", Shape::Same(0)),
    ("tan", Shape::Same(0)),
    ("tanh", Shape::Same(0)),
    ("to_degrees", Shape::Same(0)),
    ("to_f64", Shape::ToDouble),
    ("to_radians", Shape::Same(0)),
    ("trunc", Shape::Same(0)),
    ("widen", Shape::Itself),
];

/// The shape of the function `name`; none if CUDA has no such function.
pub(super) fn shape(name: &str) -> Option<Shape> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape)
}

/// The call of the function on numbers of one kind; none if the kind has no such function.
pub(super) fn call(name: &str, kind: Kind, values: &[Value]) -> Option<Value> {
    let list = values.iter().map(|value| &*value.text).collect::<Vec<_>>().join(", ");
    if kind.is_integer() {
        let function = match name {
            "plus" => "real::wrapping_add",
            "max" | "maximum" => "maximum",
            "min" | "minimum" => "minimum",
            _ => return None,
        };
        return Some(Value::atom(format!("{function}({list})"), kind));
    }
    let is_rusts_own = matches!(kind, Kind::Float(_));
    let function = match name {
        "plus" => {
            let [left, right] = values else { return None };
            return Some(Value::binary(left, "+", right, SUM));
        }
        // On a value of a concrete type, Rust calls the type's own method.
        "max" if is_rusts_own => "max_number",
        "min" if is_rusts_own => "min_number",
        "clamp" if is_rusts_own => "clamp_number",
        "maximum" => "max",
        "minimum" => "min",
        other => other,
    };
    let result = if shape(name) == Some(Shape::Question) { Kind::Bool } else { kind };
    Some(Value::atom(format!("real::{function}({list})"), result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::constant::constant;

    /// The source of the trait `Real`, which is beside this crate in the workspace.
    fn real() -> &'static str {
        let source = include_str!("../../../dahl-element/src/element/real.rs");
        let (_, real) = source.split_once("pub trait Real").unwrap();
        real.split_once("\n}\n").unwrap().0
    }

    #[test]
    fn every_function_of_real_has_a_counterpart() {
        let header = crate::MAP_HEADER;
        let mut functions = 0;
        for line in real().lines().filter_map(|line| line.strip_prefix("    fn ")) {
            let name = line.split('(').next().unwrap();
            // Functions on slices are not allowed in bodies; the others are translated elsewhere.
            if name.ends_with("_slice") || ["sin_cos", "from_f64"].contains(&name) {
                continue;
            }
            let shape = shape(name).unwrap_or_else(|| panic!("`{name}` is missing"));
            let is_called = matches!(shape, Shape::Same(_) | Shape::Exponent | Shape::Question);
            let is_defined = header.contains(&format!(" {name}(")) || header.contains(&format!("({name}, "));
            assert!(is_defined || !is_called, "map.cuh has no `{name}`");
            functions += 1;
        }
        assert!(functions > 50, "only {functions} functions were found");
    }

    #[test]
    fn every_constant_of_real_has_a_counterpart() {
        let names = real().lines().filter_map(|line| line.strip_prefix("    const ")?.split(':').next());
        let names: Vec<_> = names.collect();
        assert!(names.len() > 25, "only {} constants were found", names.len());
        for name in names {
            assert!(constant(name, Kind::Real(0), "C").is_some(), "`{name}` is missing");
        }
    }
}
