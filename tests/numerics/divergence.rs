use super::*;

numerics!(kl_divergence: ops::codelets::KlDivergence, (within(-20.0, 0.0, [31, 67]), within(0.0, 1.0, [31, 67]), _), ());
numerics!(
    kl_divergence_of_logarithms: ops::codelets::KlDivergenceOfLogarithms,
    (within(-20.0, 0.0, [31, 67]), within(-20.0, 0.0, [31, 67]), _),
    ()
);
