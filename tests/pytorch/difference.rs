//! Where dahl's results differ from PyTorch's on purpose: `docs/numerics.md` says why.

/// An op and a result, as the fixtures name them, and what PyTorch and dahl have there.
type Difference = (&'static str, &'static str, fn(pytorch: f64, dahl: f64) -> bool);

const DELIBERATE: &[Difference] = &[];

pub(crate) fn is_deliberate(case: &str, role: &str, pytorch: f64, dahl: f64) -> bool {
    let op = case.split('/').next();
    DELIBERATE.iter().any(|(of, at, differs)| Some(*of) == op && *at == role && differs(pytorch, dahl))
}
