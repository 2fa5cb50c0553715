//! Averages of parameters against PyTorch's numbers.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use crate::optimizers::{Numbers, Reference, STEPS, Values, assert_near, runtime};

fn averaged<T: Real>(name: &str, mut average: WeightAverage<T>, max: f64) {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<T>::new(&arena, &reference.start());
    let mut optimizer = Sgd::new(0.05);
    let expected: Vec<Numbers> = reference.get(&format!("/averages/{name}"));
    assert!(average.copy_to(&mut model).is_err(), "no average yet");
    for (gradients, expected) in reference.gradients().iter().zip(&expected) {
        model.set_gradients(gradients);
        optimizer.step(&mut model).unwrap();
        average.update(&model).unwrap();
        let before = model.values();
        let found = average.lend_to(&mut model, |model| Ok(model.values())).unwrap();
        assert_near(&found, expected, max, name);
        assert_eq!(model.values(), before);
        let failed = average.lend_to(&mut model, |model| clip_gradient_value(model, -1.0));
        assert!(failed.is_err());
        assert_eq!(model.values(), before);
    }
    assert_eq!(average.updates(), STEPS as u64);
    average.copy_to(&mut model).unwrap();
    assert_near(&model.values(), &expected[STEPS - 1], max, name);
}

#[test]
fn averages() {
    averaged::<f64>("exponential", WeightAverage::exponential(0.9), 1e-12);
    averaged::<f64>("mean", WeightAverage::mean(), 1e-12);
    averaged::<f32>("exponential", WeightAverage::exponential(0.9), 1e-5);
    averaged::<f16>("mean", WeightAverage::mean(), 2e-2);
}
