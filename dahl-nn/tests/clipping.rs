//! Clipping of gradients against PyTorch's numbers, and gradients of batches in parts.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use crate::optimizers::{Numbers, Reference, Values, assert_near, numbers, runtime};

/// Clips, and compares the gradients; returns the model.
fn clipped<T: Real>(
    name: &str,
    max: f64,
    clip: impl FnOnce(&mut Values<'_, T>) -> dahl::Result<Option<f64>>,
) {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<T>::new(&arena, &reference.start());
    model.set_gradients(&reference.gradients()[0]);
    let norm = clip(&mut model).unwrap();
    let expected: Option<f64> = reference.get(&format!("/clips/{name}/norm"));
    assert_eq!(norm.is_some(), expected.is_some());
    assert_near(&[norm.into_iter().collect()], &[expected.into_iter().collect()], max, name);
    let expected: Numbers = reference.get(&format!("/clips/{name}/gradients"));
    assert_near(&model.gradients(), &expected, max, name);
}

#[test]
fn clipping() {
    fn all<T: Real>(max: f64) {
        clipped::<T>("norm", max, |model| clip_gradient_norm(model, 0.7)?.value().map(Some));
        clipped::<T>("norm_far", max, |model| clip_gradient_norm(model, 100.0)?.value().map(Some));
        clipped::<T>("value", max, |model| clip_gradient_value(model, 0.3).map(|()| None));
    }
    all::<f64>(1e-12);
    all::<f32>(1e-5);
    all::<f16>(2e-3);
    all::<bf16>(2e-2);
}

#[test]
fn clipping_leaves_frozen_parameters_and_keeps_what_is_not_a_number() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = Values::<f32>::new(&arena, &[vec![0.0; 2], vec![0.0; 2]]);
    model.set_gradients(&[vec![3.0, 4.0], vec![f64::NAN, 5.0]]);
    model.freeze("bias");
    assert_eq!(clip_gradient_norm(&mut model, 1.0).unwrap().value().unwrap(), 5.0);
    assert_near(&model.gradients()[..1], &[vec![0.6, 0.8]], 1e-6, "clipped");
    assert_eq!(model.gradients()[1][1], 5.0);
    model.unfreeze("bias");
    clip_gradient_value(&mut model, 0.7).unwrap();
    assert!(model.gradients()[1][0].is_nan());
    assert_near(&model.gradients()[..1], &[vec![0.6, 0.7]], 1e-6, "limited");
    assert!(clip_gradient_norm(&mut model, 1.0).unwrap().value().unwrap().is_nan());
    assert!(model.gradients().iter().flatten().all(|gradient| gradient.is_nan()));
    // Squares that overflow in f32 do not in f64.
    model.set_gradients(&[vec![3e30, 4e30], vec![0.0, 0.0]]);
    let norm = clip_gradient_norm(&mut model, 1.0).unwrap().value().unwrap();
    assert_near(&[vec![norm / 5e30]], &[vec![1.0]], 1e-6, "norm");
    assert_near(&model.gradients()[..1], &[vec![0.6, 0.8]], 1e-6, "clipped");
}

#[test]
fn gradients_of_a_batch_in_parts_add_up() {
    let rt = runtime();
    let arena = rt.arena();
    let mut layer = Linear::<f64>::new(&mut Init::new(&arena, 1), 1, 1).unwrap();
    let part = |values: &[f64]| rt.from_vec([values.len(), 1], values.to_vec()).unwrap();
    let (x, y) = ([-1.0, 0.5, 1.0, 2.0], [1.0, 0.25, 1.0, 4.0]);
    let gradients = |layer: &Linear<'_, f64>| -> Vec<Vec<f64>> {
        layer.parameters().map(|parameter| numbers(&parameter.gradient)).collect()
    };
    let (all_x, all_y) = (part(&x), part(&y));
    layer
        .learn(&rt, |step, layer| {
            dahl::ops::mean_squared_error_init(step, &layer.forward(step, &all_x)?, &all_y, 0.25)
        })
        .unwrap();
    let whole = gradients(&layer);
    layer.zero_gradients().unwrap();
    for (x, y) in x.chunks(2).zip(y.chunks(2)) {
        let (x, y) = (part(x), part(y));
        layer
            .learn_more(&rt, |step, layer| {
                dahl::ops::mean_squared_error_init(step, &layer.forward(step, &x)?, &y, 0.25)
            })
            .unwrap();
    }
    assert_near(&gradients(&layer), &whole, 1e-14, "parts");
}
