//! Constants of `Real` and of Rust's own numbers, as CUDA spells them.

use super::kind::{Kind, Value};

/// The constants whose value both precisions round: names of `Real` and of `std::f64::consts`.
const ROUNDED: [(&str, &str); 19] = [
    ("PI", "3.14159265358979323846264338327950288"),
    ("TAU", "6.28318530717958647692528676655900577"),
    ("FRAC_PI_2", "1.57079632679489661923132169163975144"),
    ("FRAC_PI_3", "1.04719755119659774615421446109316763"),
    ("FRAC_PI_4", "0.785398163397448309615660845819875721"),
    ("FRAC_PI_6", "0.52359877559829887307710723054658381"),
    ("FRAC_PI_8", "0.39269908169872415480783042290993786"),
    ("FRAC_1_PI", "0.318309886183790671537767526745028724"),
    ("FRAC_2_PI", "0.636619772367581343075535053490057448"),
    ("FRAC_2_SQRT_PI", "1.12837916709551257389615890312154517"),
    ("SQRT_2", "1.41421356237309504880168872420969808"),
    ("FRAC_1_SQRT_2", "0.707106781186547524400844362104849039"),
    ("E", "2.71828182845904523536028747135266250"),
    ("LN_2", "0.693147180559945309417232121458176568"),
    ("LN_10", "2.30258509299404568401799145468436421"),
    ("LOG2_E", "1.44269504088896340735992468100189214"),
    ("LOG2_10", "3.32192809488736234787031942948939018"),
    ("LOG10_E", "0.434294481903251827651128918916605082"),
    ("LOG10_2", "0.301029995663981195213738894724493027"),
];

/// The constant `name` of a kind; none if it is unknown.
pub(super) fn constant(name: &str, kind: Kind, ty: &str) -> Option<Value> {
    if !matches!(kind, Kind::Real(_) | Kind::Float(_)) {
        return of_integer(name, kind, ty);
    }
    if let Some((_, value)) = ROUNDED.iter().find(|(known, _)| *known == name) {
        return Some(Value::atom(format!("{ty}({value})"), kind));
    }
    let text = match name {
        "ZERO" => format!("{ty}(0)"),
        "ONE" => format!("{ty}(1)"),
        "NEG_ZERO" => format!("{ty}(-0.0)"),
        "INFINITY" | "HIGHEST" => format!("real::infinity<{ty}>()"),
        "NEG_INFINITY" | "LOWEST" => {
            return Some(Value::atom(format!("real::infinity<{ty}>()"), kind).negated());
        }
        "NAN" => format!("real::nan<{ty}>()"),
        "EPSILON" => format!("real::epsilon<{ty}>()"),
        "MIN_POSITIVE" => format!("real::min_positive<{ty}>()"),
        "MAX" => format!("real::largest<{ty}>()"),
        "MIN" => return Some(Value::atom(format!("real::largest<{ty}>()"), kind).negated()),
        _ => return None,
    };
    Some(Value::atom(text, kind))
}

fn of_integer(name: &str, kind: Kind, ty: &str) -> Option<Value> {
    if !kind.is_integer() {
        return None;
    }
    let text = match name {
        "ZERO" => format!("{ty}(0)"),
        "ONE" => format!("{ty}(1)"),
        "MAX" | "HIGHEST" => format!("Limits<{ty}>::highest()"),
        "MIN" | "LOWEST" => format!("Limits<{ty}>::lowest()"),
        _ => return None,
    };
    Some(Value::atom(text, kind))
}

/// Whether `name` is a constant of `std::f64::consts`.
pub(super) fn is_of_consts(name: &str) -> bool {
    ROUNDED.iter().any(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::ROUNDED;

    #[test]
    fn both_precisions_have_rusts_constants() {
        let mut compared = 0;
        macro_rules! compare {
            ($($name:ident)*) => {$(
                let (_, digits) = ROUNDED.iter().find(|(name, _)| *name == stringify!($name)).unwrap();
                let value: f64 = digits.parse().unwrap();
                assert_eq!(value, std::f64::consts::$name, stringify!($name));
                // As `float(digits)` rounds.
                assert_eq!(value as f32, std::f32::consts::$name, stringify!($name));
                compared += 1;
            )*};
        }
        compare!(PI TAU FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8 FRAC_1_PI FRAC_2_PI FRAC_2_SQRT_PI SQRT_2);
        compare!(FRAC_1_SQRT_2 E LN_2 LN_10 LOG2_E LOG2_10 LOG10_E LOG10_2);
        assert_eq!(compared, ROUNDED.len());
    }
}
