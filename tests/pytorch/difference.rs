//! The intended differences from PyTorch's results, for which `docs/numerics-against-pytorch.md` gives reasons.

/// An op and a result, as the fixtures name them, and a check of PyTorch's and dahl's values.
type Difference = (&'static str, &'static str, fn(pytorch: f64, dahl: f64) -> bool);

const DELIBERATE: &[Difference] = &[
    ("abs", "by_x", propagates_nan),
    ("acosh", "by_x", |pytorch, dahl| !pytorch.is_nan() && dahl.is_nan()),
    ("acosh", "by_x", does_not_overflow),
    ("asinh", "by_x", does_not_overflow),
    ("atan2", "by_x", propagates_nan),
    ("atan2", "by_x", does_not_overflow),
    ("atan2", "by_y", propagates_nan),
    ("atan2", "by_y", does_not_overflow),
    ("celu", "by_x", does_not_overflow),
    ("gelu", "by_x", does_not_overflow),
    ("gelu_tanh", "by_x", does_not_overflow),
    ("hard_shrink", "by_x", |pytorch, dahl| pytorch == 0.0 && dahl.is_finite()),
    ("hard_swish", "by_x", |pytorch, dahl| pytorch.is_nan() && dahl.is_finite()),
    ("hard_swish", "out", does_not_overflow),
    ("hard_tanh", "by_x", |pytorch, dahl| pytorch == 0.0 && dahl.is_finite()),
    ("log10", "by_x", does_not_overflow),
    ("mean_absolute_error", "by_x", propagates_nan),
    ("norm_axis", "by_input", does_not_overflow),
    ("norm_axis", "out", does_not_overflow),
    ("product", "by_input", propagates_nan),
    ("relu6", "by_x", |pytorch, dahl| pytorch == 0.0 && dahl.is_finite()),
    ("selu", "by_x", does_not_overflow),
    ("sign", "out", propagates_nan),
    ("softplus", "by_x", does_not_overflow),
    ("softplus_scaled", "by_x", does_not_overflow),
    ("soft_shrink", "by_x", |pytorch, dahl| pytorch == 0.0 && dahl.is_finite()),
    ("variance_0_axis", "by_input", |pytorch, dahl| pytorch.is_infinite() && dahl.is_nan()),
];

/// PyTorch replaces NaN by 0.
fn propagates_nan(pytorch: f64, dahl: f64) -> bool {
    pytorch == 0.0 && dahl.is_nan()
}

/// An intermediate result of PyTorch leaves the range of its type: its result is then infinite, NaN or, after a
/// division, 0.
fn does_not_overflow(pytorch: f64, dahl: f64) -> bool {
    (!pytorch.is_finite() || pytorch == 0.0) && !dahl.is_nan() && dahl != pytorch
}

pub(crate) fn is_deliberate(case: &str, role: &str, pytorch: f64, dahl: f64) -> bool {
    let op = case.split('/').next();
    DELIBERATE.iter().any(|(of, at, differs)| Some(*of) == op && *at == role && differs(pytorch, dahl))
}
