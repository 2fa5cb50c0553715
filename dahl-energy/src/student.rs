//! Quantiles of Student's t distribution.

/// The value that a variable of Student's t distribution with `freedom` degrees of freedom is below of with 97.5 %: the
/// half width of a 95 % confidence interval, in standard errors. `freedom` is 1 or more.
pub(crate) fn t_975(freedom: f64) -> f64 {
    // P(|t| > q) = I_x(freedom / 2, 1 / 2) with x = freedom / (freedom + q^2), which falls as q grows.
    let outside = |q: f64| regularized_beta(freedom / (freedom + q * q), freedom / 2.0, 0.5);
    let (mut low, mut high) = (1.9, 13.0); // at infinity 1.96, at 1 12.71
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if outside(middle) > 0.05 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The regularized incomplete beta function `I_x(a, b)`, by its continued fraction (Numerical Recipes, section 6.4).
fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularized_beta(1.0 - x, b, a);
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp();
    let nonzero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for factor in [even, odd] {
            d = 1.0 / nonzero(1.0 + factor * d);
            c = nonzero(1.0 + factor / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction / a
}

/// The logarithm of the gamma function for arguments above 0, by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + (2.0 * std::f64::consts::PI).ln() / 2.0 + series
}

#[cfg(test)]
mod tests {
    use super::t_975;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (1.0, 12.7062),
            (2.0, 4.30265),
            (5.0, 2.57058),
            (10.0, 2.22814),
            (30.0, 2.04227),
            (120.0, 1.97993),
            (1e4, 1.96020),
            (1e6, 1.95997),
        ];
        for (freedom, quantile) in table {
            assert!((t_975(freedom) - quantile).abs() < 1e-4, "{freedom}: {}", t_975(freedom));
        }
    }
}
