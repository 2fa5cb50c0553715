//! Compensated sums: the rounding errors of the additions are summed beside the sum (Neumaier 1974,
//! *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen*). They are for sums whose terms come in no
//! particular order.

use dahl_core::Real;

/// `sum += term`; adds the rounding error to `error`.
#[inline(always)]
pub(crate) fn add<C: Real<Compute = C>>(sum: &mut C, error: &mut C, term: C) {
    let total = *sum + term;
    *error += if sum.abs() >= term.abs() { (*sum - total) + term } else { (term - total) + *sum };
    *sum = total;
}

/// `sum += error`, unless the sum is not finite: it has no error then.
#[inline(always)]
pub(crate) fn settle<C: Real<Compute = C>>(sum: &mut C, error: C) {
    if sum.is_finite() {
        *sum += error;
    }
}
