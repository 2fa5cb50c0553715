//! The scale of the loss against PyTorch's rules.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use crate::optimizers::{Reference, Values, runtime};

#[test]
fn the_scale_of_the_loss_follows_pytorchs_rules() {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<f16>::new(&arena, &reference.start());
    let mut optimizer = Sgd::new(0.5);
    let mut scaler = LossScaler::new().initial_scale(64.0).growth_interval(3);
    let (finite, scales): (Vec<bool>, Vec<f64>) = (reference.get("/finite"), reference.get("/scales"));
    for (step, (&is_finite, &scale)) in finite.iter().zip(&scales).enumerate() {
        let before = model.values();
        let gradient = 0.25 * scaler.scale();
        let last = if is_finite { gradient } else { [f64::INFINITY, f64::NAN][step % 2] };
        model.set_gradients(&[vec![gradient; 5], vec![gradient, gradient, last]]);
        if step % 2 == 0 {
            // To clip the gradients, for example: they are divided once.
            scaler.unscale(&mut model).unwrap();
            assert_eq!(model.gradients()[0], [0.25; 5]);
        }
        assert_eq!(scaler.step(&mut optimizer, &mut model).unwrap(), is_finite, "step {step}");
        assert_eq!(model.gradients()[0], [0.25; 5]);
        assert_eq!(model.values() == before, !is_finite, "step {step}");
        assert_eq!(scaler.scale(), scale, "step {step}");
    }
    assert_eq!(scaler.skipped_steps(), finite.iter().filter(|is_finite| !**is_finite).count() as u64);
}

#[test]
fn a_model_in_half_precision_learns_with_a_scaled_loss() {
    let rt = runtime();
    let arena = rt.arena();
    let mut layer = Linear::<f16>::new(&mut Init::new(&arena, 1), 1, 1).unwrap();
    let array = |values: [f64; 4]| rt.from_vec([4, 1], values.map(f16::from_f64).to_vec()).unwrap();
    let (x, y) = (array([-1.0, 0.0, 1.0, 2.0]), array([-1.5, 0.5, 2.5, 4.5]));
    let (mut optimizer, mut scaler) = (AdamW::new(0.05).weight_decay(0.0), LossScaler::new());
    let mut last = f64::INFINITY;
    for _ in 0..200 {
        let scale = scaler.scale();
        let loss = layer.learn(&rt, |step, layer| {
            let output = layer.forward(step, &x)?;
            scaler.scaled(step, &dahl::ops::mean_squared_error_init(step, &output, &y, 0.25)?)
        });
        last = loss.unwrap() / scale;
        scaler.step(&mut optimizer, &mut layer).unwrap();
    }
    // The loss times 65536 is infinite in f16, at first.
    assert!(scaler.skipped_steps() > 0 && scaler.skipped_steps() < 20, "{}", scaler.skipped_steps());
    assert!(last < 1e-2, "{last}");
}
