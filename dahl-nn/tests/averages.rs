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

/// Of the calls 1 to 9, the first two are left out, and of the others each third one counts: 5 and 8.
#[test]
fn an_average_takes_the_calls_that_it_is_set_to() {
    let rt = runtime();
    let arena = rt.arena();
    let mut parameter = Init::new(&arena, 1).values::<f64>(&[1], &[0.0]).unwrap();
    let mut average = WeightAverage::mean().after(2).every(3);
    for call in 1..=9 {
        parameter.value.write().unwrap()[0] = f64::from(call);
        average.update(&parameter).unwrap();
    }
    assert_eq!(average.updates(), 2);
    average.copy_to(&mut parameter).unwrap();
    assert_eq!(parameter.value.to_vec().unwrap(), [6.5]);
}

#[test]
fn a_trainer_averages_after_each_step() {
    let rt = runtime();
    let arena = rt.arena();
    let data = Synthetic::new(&[4], 3, 40, 1);
    let model = || Sequential::<f32>::new(&arena, [4], 1).dense(3).unwrap();
    let mut by_hand = WeightAverage::exponential(0.75);
    let (mut first, mut second) = (model(), model());
    for steps in 1..=5 {
        // A training of so many steps from the beginning: its parameters are those after that step.
        let mut model = model();
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(8);
        trainer.callback(StopAfter(steps)).fit(&data).unwrap();
        by_hand.update(&model).unwrap();
    }
    let mut average = WeightAverage::exponential(0.75);
    let trainer = Trainer::new(&mut first, CrossEntropy, Sgd::new(0.1)).batch_size(8);
    trainer.average(&mut average).fit(&data).unwrap();
    assert_eq!(average.updates(), 5);
    average.copy_to(&mut first).unwrap();
    by_hand.copy_to(&mut second).unwrap();
    let values = |model: &Sequential<'_, f32>| -> Vec<Vec<f32>> {
        model.parameters().map(|parameter| parameter.value.to_vec().unwrap()).collect()
    };
    assert_eq!(values(&first), values(&second));
    // Not with shards, whose parameters have several owners.
    let trainer = Trainer::new(&mut first, CrossEntropy, Sgd::new(0.1)).batch_size(8);
    let error = trainer.average(&mut average).parallel(Parallel::data(2)).fit(&data).unwrap_err().to_string();
    assert!(error.contains("Trainer: average") && error.contains("parallel"), "{error}");
}

/// Stops a training after so many steps.
struct StopAfter(usize);

impl<M> Callback<M> for StopAfter {
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        if progress.steps() == self.0 {
            progress.stop();
        }
        Ok(())
    }
}
