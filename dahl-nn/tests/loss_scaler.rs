//! The scale of the loss against PyTorch's rules, and a trainer that scales it.

use std::path::Path;

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

/// Stops after so many steps, and notes which ones were skipped so far.
struct Watch {
    stop_after: usize,
    skipped: Vec<usize>,
}

impl<M> Callback<M> for Watch {
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        self.skipped.push(progress.history().skipped_steps.len());
        if progress.steps() == self.stop_after {
            progress.stop();
        }
        Ok(())
    }
}

fn classifier(arena: &Arena) -> Sequential<'_, f16> {
    Sequential::new(arena, [4], 1).dense(5).unwrap().relu().unwrap().dense(3).unwrap()
}

fn scaler() -> LossScaler {
    LossScaler::new().growth_interval(4)
}

fn bits(model: &Sequential<'_, f16>) -> Vec<Vec<u16>> {
    let bits = |values: Vec<f16>| values.into_iter().map(f16::to_bits).collect();
    model.parameters().map(|parameter| bits(parameter.value.to_vec().unwrap())).collect()
}

/// Trains five epochs of five batches with checkpoints in a folder, or until `stop_after`.
fn train(folder: &Path, stop_after: usize, resumes: bool) -> (Vec<Vec<u16>>, History, Vec<usize>) {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = classifier(&arena);
    let mut watch = Watch { stop_after, skipped: Vec::new() };
    let data = Synthetic::new(&[4], 3, 40, 1);
    let trainer =
        Trainer::new(&mut model, CrossEntropy, Sgd::new(0.05).momentum(0.9)).batch_size(8).epochs(5);
    let trainer = trainer
        .no_shuffle()
        .micro_batch_size(8)
        .loss_scaler(scaler())
        .clip_gradient_norm(1.0)
        .callback(&mut watch);
    let trainer = trainer.checkpoints(Checkpoints::new(folder).every_steps(1).keep(2));
    let trainer = if resumes { trainer.resume(folder) } else { trainer };
    let history = trainer.fit(&data).unwrap();
    (bits(&model), history, watch.skipped)
}

#[test]
fn a_trainer_scales_the_loss_and_says_which_steps_it_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (trained, history, seen) = train(folder.path(), 0, false);
    // By hand: the same batches, in order.
    let rt = runtime();
    let arena = rt.arena();
    let (mut model, mut sgd, mut scaler) = (classifier(&arena), Sgd::new(0.05).momentum(0.9), scaler());
    let loader = DataLoader::new(Synthetic::new(&[4], 3, 40, 1)).batch_size(8);
    let (mut skipped, mut losses, mut steps) = (Vec::new(), Vec::new(), 0);
    for epoch in 0..5 {
        let mut sum = 0.0;
        for batch in loader.batches::<f16>(&rt, epoch).unwrap() {
            let batch = batch.unwrap();
            model.zero_gradients().unwrap();
            let step = Step::learning(&rt);
            let output = model.forward(&step, &batch.features).unwrap();
            let loss = CrossEntropy.of(&step, &output, &batch.labels, 1.0 / 8.0).unwrap();
            sum += loss.read().unwrap()[[]].to_f64();
            step.accumulate(&scaler.scaled(&step, &loss).unwrap(), &mut model).unwrap();
            scaler.unscale(&mut model).unwrap();
            clip_gradient_norm(&mut model, 1.0).unwrap();
            steps += 1;
            if !scaler.step(&mut sgd, &mut model).unwrap() {
                skipped.push(steps);
            }
        }
        losses.push(sum / 5.0);
    }
    assert_eq!(trained, bits(&model));
    assert_eq!(history.skipped_steps, skipped);
    // 65536 is infinite in f16, and after each four steps the scale grows: it is too large again and again.
    assert!(skipped.len() > 1 && skipped.len() < 20 && skipped[0] == 1, "{skipped:?}");
    assert_eq!(seen.last(), Some(&skipped.len()));
    for (epoch, loss) in history.epochs.iter().zip(losses) {
        assert!((epoch.loss - loss).abs() < 1e-3 * loss, "{}, not {loss}", epoch.loss);
    }
    assert!(history.submitted.unwrap().contains("loss_scaler"));
}

#[test]
fn a_training_with_a_scaled_loss_goes_on_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (expected, history, _) = train(&path("whole"), 0, false);
    for stop_after in [2, 7, 13] {
        let part = path(&stop_after.to_string());
        train(&part, stop_after, false);
        // The checkpoint of the stop says that the training has ended.
        std::fs::remove_file(part.join(format!("step-{stop_after:010}.safetensors"))).unwrap();
        let (resumed, of_resumed, steps) = train(&part, 0, true);
        assert_eq!(steps.len(), 25 - (stop_after - 1), "it goes on after the step before");
        assert_eq!(resumed, expected, "{stop_after}");
        assert_eq!(of_resumed.skipped_steps, history.skipped_steps, "{stop_after}");
    }
    // Without a scale, the checkpoint is that of another training.
    let rt = runtime();
    let arena = rt.arena();
    let mut model = classifier(&arena);
    let trainer =
        Trainer::new(&mut model, CrossEntropy, Sgd::new(0.05).momentum(0.9)).batch_size(8).epochs(5);
    let trainer = trainer.no_shuffle().micro_batch_size(8).resume(path("whole"));
    let trainer = trainer.callback(Watch { stop_after: 0, skipped: Vec::new() });
    let error = trainer.fit(&Synthetic::new(&[4], 3, 40, 1)).unwrap_err().to_string();
    assert!(error.contains("scales_loss"), "{error}");
}

#[test]
fn a_scale_is_refused_with_shards_and_with_invalid_settings() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = classifier(&arena);
    let data = Synthetic::new(&[4], 3, 40, 1);
    let mut fit = |scaler, shards: Option<usize>| {
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(8).loss_scaler(scaler);
        match shards {
            Some(shards) => trainer.parallel(Parallel::data(shards)).fit(&data),
            None => trainer.fit(&data),
        }
        .unwrap_err()
        .to_string()
    };
    let error = fit(LossScaler::new(), Some(2));
    assert!(error.contains("loss_scaler") && error.contains("parallel"), "{error}");
    let error = fit(LossScaler::new().growth_factor(0.5), None);
    assert!(error.contains("growth_factor"), "{error}");
}
