//! Schedules against PyTorch's rates, which `tests/reference/make_optimizers.py` made.

use std::path::Path;

use dahl_nn::prelude::*;
use serde_json::Value;

fn reference() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/optimizers.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1e-6),
        "{what}: {found} is not {expected}"
    );
}

fn compare(name: &str, schedule: &impl Schedule) {
    schedule.check_settings().unwrap();
    let expected = numbers(&reference()["schedules"][name]);
    assert!(expected.len() >= 40);
    for (step, expected) in expected.into_iter().enumerate() {
        assert_near(schedule.at(step), expected, &format!("{name}, step {step}"));
    }
}

#[test]
fn rates_are_pytorchs() {
    compare("step", &StepDecay::new(0.1, 7).factor(0.3));
    compare("exponential", &ExponentialDecay::new(0.1, 0.95));
    compare("cosine", &Cosine::new(0.1, 50).minimum(0.01));
    compare("cosine_warmup", &Cosine::new(0.1, 50).warmup(10).warmup_from(0.25).minimum(0.01));
    compare("cosine_restarts", &CosineRestarts::new(0.1, 7).multiplier(2).minimum(0.01));
    compare("cosine_restarts_alike", &CosineRestarts::new(0.1, 7));
    compare("one_cycle", &OneCycle::new(0.1, 50));
    let linear = OneCycle::new(0.1, 50).rising(0.4).start_divisor(10.0).end_divisor(100.0).linear();
    compare("one_cycle_linear", &linear);
    compare("lambda", &Lambda::new(0.1, |step| 1.0 / (1 + step) as f64));
}

#[test]
fn rates_before_and_after() {
    let cosine = Cosine::new(0.1, 50).warmup(10).minimum(0.01);
    assert_eq!([0, 10, 50, 51, 1000].map(|step| cosine.at(step)), [0.0, 0.1, 0.01, 0.01, 0.01]);
    assert_near(cosine.at(3), 0.03, "warm-up");
    let restarts = CosineRestarts::new(0.1, 5).warmup(4);
    assert_eq!([0, 4, 9, 14].map(|step| restarts.at(step)), [0.0, 0.1, 0.1, 0.1]);
    let cycle = OneCycle::new(0.1, 50);
    assert_eq!([49, 50, 1000].map(|step| cycle.at(step)), [0.1 / 25.0 / 1e4; 3]);
    // Nothing but the peak has room in one step.
    assert!(OneCycle::new(0.1, 1).at(0).is_finite());
}

#[test]
fn a_plateau_is_pytorchs() {
    let compare = |name: &str, mut plateau: Plateau| {
        let reference = reference();
        let expected = numbers(&reference["plateaus"][name]);
        let metrics = numbers(&reference["metrics"]);
        assert_eq!(metrics.len(), expected.len());
        assert!(expected.iter().any(|rate| *rate < 0.1), "{name}: the rate falls");
        for (index, (metric, expected)) in metrics.into_iter().zip(expected).enumerate() {
            assert_near(plateau.observe(metric), expected, &format!("{name}, metric {index}"));
            assert_near(plateau.rate(), expected, name);
        }
    };
    compare("patience", Plateau::new(0.1).patience(1).factor(0.5));
    compare("cooldown", Plateau::new(0.1).patience(1).factor(0.5).cooldown(2).minimum(0.03));
    compare("absolute", Plateau::new(0.1).patience(0).factor(0.5).absolute_threshold(0.15));
    compare("maximum", Plateau::new(0.1).maximize().patience(2).factor(0.2).eps(1e-3));
}
