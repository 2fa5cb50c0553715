//! Early stops, callbacks, and the checkpoints of a trainer.

use std::fs;
use std::path::Path;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use dahl_nn::training::Epoch;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

fn model(arena: &Arena) -> Sequential<'_, f32> {
    Sequential::new(arena, [4], 1).dense(5).unwrap().relu().unwrap().dense(3).unwrap()
}

fn data() -> Synthetic {
    Synthetic::new(&[4], 3, 40, 1)
}

fn values(model: &Sequential<'_, f32>) -> Vec<Vec<f32>> {
    model.parameters().map(|parameter| parameter.value.to_vec().unwrap()).collect()
}

/// What the history says, but for the speed.
fn results(history: &History) -> Vec<(usize, u64, u64, Option<u64>)> {
    let of = |epoch: &Epoch| {
        (
            epoch.epoch,
            epoch.loss.to_bits(),
            epoch.correct,
            epoch.validation.map(|validation| validation.loss.to_bits()),
        )
    };
    history.epochs.iter().map(of).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// Validation losses that are given, and the values of the model after each epoch.
struct Given<'l> {
    losses: &'l [f64],
    seen: std::cell::RefCell<Vec<Vec<Vec<f32>>>>,
}

impl Given<'_> {
    fn evaluate(&self, model: &Sequential<'_, f32>) -> Evaluation {
        let mut seen = self.seen.borrow_mut();
        seen.push(values(model));
        Evaluation { loss: self.losses[seen.len() - 1], accuracy: 0.0, correct: 0 }
    }
}

/// Trains with these validation losses. Returns the number of epochs, the best one whose values the model has at the end.
fn stop(losses: &[f64], early_stop: EarlyStop) -> (usize, Option<usize>) {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = model(&arena);
    let given = Given { losses, seen: Vec::new().into() };
    let history = Trainer::of(&rt, &mut model, Sgd::new(0.1))
        .batch_size(20)
        .epochs(losses.len())
        .validation_with(|model| Ok(given.evaluate(model)))
        .early_stop(early_stop)
        .fit_with(&data(), |step, model, part| {
            CrossEntropy.mean(step, &model.forward(step, &part.features)?, &part.labels)
        })
        .unwrap();
    let last = values(&model);
    (history.epochs.len(), given.seen.into_inner().iter().position(|values| *values == last))
}

#[test]
fn a_training_stops_when_a_result_no_longer_becomes_better() {
    let losses = [1.0, 0.5, 0.6, 0.55, 0.4, 0.45, 0.41, 0.42, 0.1];
    let early_stop = |patience| EarlyStop::new(Monitor::ValidationLoss, patience);
    // Two bad epochs follow the second one, and three the fifth.
    assert_eq!(stop(&losses, early_stop(2)), (4, Some(3)));
    assert_eq!(stop(&losses, early_stop(2).restore_best()), (4, Some(1)));
    assert_eq!(stop(&losses, early_stop(3)), (8, Some(7)));
    assert_eq!(stop(&losses, early_stop(3).restore_best()), (8, Some(4)));
    assert_eq!(stop(&losses, early_stop(4)), (9, Some(8)));
    assert_eq!(stop(&losses, early_stop(4).restore_best()), (9, Some(8)));
    // 0.4 is better than 0.5 by no more than 0.2.
    assert_eq!(stop(&losses, early_stop(3).min_delta(0.2)), (5, Some(4)));
    let rising = [0.5, f64::NAN, f64::NAN, 0.1];
    assert_eq!(stop(&rising, early_stop(2).restore_best()), (3, Some(0)));
}

#[test]
fn a_watched_result_must_be_there() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = model(&arena);
    let place = |line: u32| format!("{}:{line}:", file!());
    let line = line!() + 2;
    let error = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1))
        .early_stop(EarlyStop::new(Monitor::ValidationAccuracy, 1))
        .fit(&data())
        .unwrap_err()
        .to_string();
    assert!(error.contains("ValidationAccuracy") && error.contains(&place(line)), "{error}");
    let line = line!() + 2;
    let error = Trainer::of(&rt, &mut model, Sgd::new(0.1))
        .plateau(Plateau::new(0.1), Monitor::Accuracy)
        .fit_with(&data(), |step, model, part| {
            CrossEntropy.mean(step, &model.forward(step, &part.features)?, &part.labels)
        })
        .unwrap_err()
        .to_string();
    assert!(error.contains("counts no predictions") && error.contains(&place(line)), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = || Checkpoints::new(folder.path());
    for (wrong, named) in [
        (checkpoints().keep(0), "Checkpoints: keep = 0"),
        (checkpoints().every_steps(0), "Checkpoints: every_steps = 0"),
        (checkpoints().every_epochs(0), "Checkpoints: every_epochs = 0"),
    ] {
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).checkpoints(wrong);
        let error = trainer.fit(&data()).unwrap_err().to_string();
        assert!(error.contains(named) && error.contains(file!()), "{error}");
    }
    for (wrong, named) in [
        (EarlyStop::new(Monitor::Loss, 0), "EarlyStop: patience = 0"),
        (EarlyStop::new(Monitor::Loss, 1).min_delta(-1.0), "EarlyStop: min_delta = -1"),
    ] {
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).early_stop(wrong);
        let error = trainer.fit(&data()).unwrap_err().to_string();
        assert!(error.contains(named) && error.contains(file!()), "{error}");
    }
    let wrong = Plateau::new(0.1).factor(2.0);
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).plateau(wrong, Monitor::Loss);
    let error = trainer.fit(&data()).unwrap_err().to_string();
    assert!(error.contains("Plateau: factor = 2"), "{error}");
}

/// Writes down what it is told, and stops after a step.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    stop_after: usize,
    name: &'static str,
}

impl<M: Module<f32>> Callback<M> for Log {
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        self.lines.push(format!("{} step {} of epoch {}", self.name, progress.steps(), progress.epoch()));
        if progress.steps() == self.stop_after {
            progress.stop();
        }
        Ok(())
    }

    fn epoch_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        let (epoch, epochs) = (progress.epoch(), progress.history().epochs.len());
        self.lines.push(format!("{} epoch {epoch} of {epochs}", self.name));
        assert_eq!(progress.model().parameter_count(), 4 * 5 + 5 + 5 * 3 + 3);
        Ok(())
    }

    fn state(&self) -> String {
        self.lines.join("\n")
    }

    fn set_state(&mut self, state: &str) -> dahl::Result<()> {
        self.lines = state.lines().map(str::to_owned).collect();
        Ok(())
    }
}

#[test]
fn callbacks_are_called_in_order_and_can_stop() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = model(&arena);
    let mut log = Log { stop_after: 5, name: "log", ..Log::default() };
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(16).epochs(9);
    let history = trainer.callback(&mut log).fit(&data()).unwrap();
    let expected = [
        "log step 1 of epoch 1",
        "log step 2 of epoch 1",
        "log step 3 of epoch 1",
        "log epoch 1 of 1",
        "log step 4 of epoch 2",
        "log step 5 of epoch 2",
        "log epoch 2 of 2",
    ];
    assert_eq!(log.lines, expected);
    // The second epoch has the 32 samples of two steps.
    assert!((history.epochs[1].accuracy - history.epochs[1].correct as f64 / 32.0).abs() < 1e-15);
}

/// The learning rate after each epoch, in which the loss of the model's training falls by less than half.
#[test]
fn a_plateau_lowers_the_rate() {
    let rt = runtime();
    let arena = rt.arena();
    let train = |by_hand: bool| {
        let mut model = model(&arena);
        let plateau = || Plateau::new(0.1).factor(0.25).threshold(0.5).patience(0);
        let mut sgd = Sgd::new(0.1);
        if by_hand {
            let mut plateau = plateau();
            for _ in 0..4 {
                let trainer = Trainer::new(&mut model, CrossEntropy, &mut sgd).no_shuffle();
                let history = trainer.batch_size(16).fit(&data()).unwrap();
                sgd.set_learning_rate(plateau.observe(history.epochs[0].loss));
            }
        } else {
            let trainer = Trainer::new(&mut model, CrossEntropy, &mut sgd).no_shuffle().batch_size(16);
            trainer.epochs(4).plateau(plateau(), Monitor::Loss).fit(&data()).unwrap();
        }
        (values(&model), sgd.current_learning_rate())
    };
    let (expected, rate) = train(true);
    assert!(rate < 0.1, "{rate}");
    assert_eq!(train(false), (expected, rate));
}

/// Trains for `epochs`, with all that a checkpoint holds: momentum, plateau, early stop, callback, several parts.
fn train(folder: &Path, epochs: usize, stop_after: usize, resume: bool) -> (Vec<Vec<f32>>, History, String) {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = model(&arena);
    let (data, validation) = (data(), Synthetic::new(&[4], 3, 10, 2));
    let mut log = Log { stop_after, name: "log", ..Log::default() };
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.3).momentum(0.9)).batch_size(12);
    let trainer = trainer.micro_batch_size(5).epochs(epochs).validation(&validation).callback(&mut log);
    let trainer = trainer
        .plateau(Plateau::new(0.3).patience(1).threshold(0.1), Monitor::ValidationLoss)
        .early_stop(EarlyStop::new(Monitor::ValidationLoss, 9).min_delta(1.0).restore_best())
        .checkpoints(Checkpoints::new(folder).every_steps(3).keep(2).best(Monitor::ValidationAccuracy));
    let trainer = if resume { trainer.resume(folder) } else { trainer };
    let history =
        trainer.csv(folder.join("run.csv")).json_lines(folder.join("run.jsonl")).fit(&data).unwrap();
    (values(&model), history, log.lines.join(", "))
}

#[test]
fn a_training_goes_on_from_each_checkpoint_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (expected, history, log) = train(&path("whole"), 5, 0, false);
    assert_eq!(history.epochs.len(), 5);
    // 4 steps an epoch.
    let kept = ["best.safetensors", "run.csv", "run.jsonl", "step-0000000018.safetensors"];
    assert_eq!(names(&path("whole")), [&kept[..], &["step-0000000020.safetensors"]].concat());
    // The best epoch is not the last one: the early stop gives back what it has kept.
    let (rt, mut last) = (runtime(), Sgd::new(0.3).momentum(0.9));
    let arena = rt.arena();
    let mut of_last_epoch = model(&arena);
    let path_of_last = path("whole").join("step-0000000020.safetensors");
    load_checkpoint(path_of_last, &mut of_last_epoch, &mut last).unwrap();
    assert_ne!(values(&of_last_epoch), expected);
    // `stop_after` ends a run in the middle; without its last checkpoints it is as if it was killed.
    let all = path("all");
    for stop_after in [3, 4, 6, 7, 8, 9, 11, 13, 16, 19] {
        let _ = fs::remove_dir_all(&all);
        train(&all, 5, stop_after, false);
        // The checkpoint of the stop says that the training has ended.
        let of_stop = format!("step-{stop_after:010}.safetensors");
        let _ = fs::remove_file(all.join(&of_stop));
        let left = names(&all).iter().filter(|name| name.starts_with("step-")).count();
        assert!(left <= 2);
        let resumed = train(&all, 5, 0, true);
        assert_eq!(resumed.0, expected, "{stop_after}");
        assert_eq!(results(&resumed.1), results(&history), "{stop_after}");
        assert_eq!(resumed.2, log, "{stop_after}");
        let lines = |name: &str| fs::read_to_string(all.join(name)).unwrap().lines().count();
        assert_eq!((lines("run.csv"), lines("run.jsonl")), (6, 5));
    }
    // A training that has ended is not trained again; one with more epochs goes on.
    let again = train(&all, 5, 0, true);
    assert_eq!((again.0, results(&again.1)), (expected, results(&history)));
    let longer = train(&all, 7, 0, true);
    assert_eq!(results(&longer.1)[..5], results(&history));
    assert_eq!((longer.0, results(&longer.1)), {
        let whole = train(&path("longer"), 7, 0, false);
        (whole.0, results(&whole.1))
    });
}

#[test]
fn the_best_checkpoint_is_that_of_the_best_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let rt = runtime();
    let arena = rt.arena();
    let mut own = model(&arena);
    let given = Given { losses: &[1.0, 0.25, 0.5, 0.75], seen: Vec::new().into() };
    let checkpoints = Checkpoints::new(folder.path()).every_epochs(3).best(Monitor::ValidationLoss);
    Trainer::of(&rt, &mut own, Sgd::new(0.1).momentum(0.5))
        .epochs(4)
        .validation_with(|model| Ok(given.evaluate(model)))
        .checkpoints(checkpoints)
        .fit_with(&data(), |step, model, part| {
            CrossEntropy.mean(step, &model.forward(step, &part.features)?, &part.labels)
        })
        .unwrap();
    assert_eq!(names(folder.path()), ["best.safetensors", "step-0000000003.safetensors"]);
    let mut best = model(&arena);
    let path = folder.path().join("best.safetensors");
    load_checkpoint(&path, &mut best, &mut Sgd::new(0.1).momentum(0.5)).unwrap();
    assert_eq!(values(&best), given.seen.into_inner()[1]);
}

#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), 1, 0, false);
    let rt = runtime();
    let arena = rt.arena();
    let mut own = model(&arena);
    let before = values(&own);
    let mut sgd = Sgd::new(0.3).momentum(0.9);
    let file = folder.path().join("step-0000000004.safetensors");
    macro_rules! refused {
        ($words:expr, $trainer:ident => $set:expr) => {
            let $trainer = Trainer::new(&mut own, CrossEntropy, &mut sgd).batch_size(12).micro_batch_size(5);
            let error = $set.fit(&data()).unwrap_err().to_string();
            assert!($words.iter().all(|word| error.contains(word)), "{error}");
            assert_eq!(values(&own), before);
            assert!(Optimizer::<f32>::states(&sgd).is_empty());
        };
    }
    let step_4 = "step-0000000004.safetensors";
    refused!([step_4, "batch_size", "expected 13, found 12"], trainer => trainer.batch_size(13).resume(&file));
    refused!(["micro_batch_size", "expected 6, found 5"], trainer => trainer.micro_batch_size(6).resume(&file));
    refused!(["seed", "expected 2, found 1"], trainer => trainer.shuffle(2).resume(&file));
    refused!(["callbacks", "expected 0, found 2"], trainer => trainer.resume(folder.path()));
    refused!(["nothing.safetensors", "No such file"], trainer => trainer.resume("nothing.safetensors"));
    refused!([step_4, "another training"], trainer => trainer.checkpoints(Checkpoints::new(folder.path())));
    let model_file = folder.path().join("model.safetensors");
    model(&arena).save(&model_file).unwrap();
    refused!(["metadata", "that a trainer has written"], trainer => trainer.resume(&model_file));
    fs::write(&file, &fs::read(&file).unwrap()[..900]).unwrap();
    refused!([step_4, "a safetensors file"], trainer => trainer.resume(&file));
}
