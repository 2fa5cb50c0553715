//! [`State`]: how far a training is, and its text in a checkpoint.

use dahl::energy::{Joules, Source};
use dahl::prelude::*;
use serde_json::{Map, Value, json};

use super::early_stop::Seen;
use super::history::{Epoch, History};
use crate::checkpoint::OF_TRAINER;
use crate::error::{Error, Result};
use crate::metric_accumulator::MetricSum;
use crate::module::TensorFile;
use crate::optimizer::ScalerState;
use crate::sequential::Evaluation;

/// How far a training is: all that the next step depends on, beside the model and the optimizer.
#[derive(Debug)]
pub(super) struct State<T> {
    /// The number of the epoch, from 1.
    pub(super) epoch: usize,
    /// The number of the epoch's next batch, from 0.
    pub(super) batch: usize,
    /// The updates so far, in all epochs, with those that a scale of the loss skipped.
    pub(super) steps: usize,
    /// Loss and correct predictions of the epoch's batches so far.
    pub(super) sum: MetricSum,
    /// How many random numbers of the epoch have been taken.
    pub(super) numbers_taken: u64,
    /// How many seeds the runtime has drawn, if it is known.
    pub(super) seeds_drawn: Option<u64>,
    /// The learning rate that a callback has set.
    pub(super) learning_rate: Option<f64>,
    /// The scale of the loss, if there is one.
    pub(super) scaler: Option<ScalerState>,
    /// Whether the training has been stopped.
    pub(super) is_stopped: bool,
    /// What the early stop has seen.
    pub(super) seen: Seen<T>,
    /// The result of the best checkpoint.
    pub(super) best: Option<f64>,
    /// The epochs that have ended.
    pub(super) history: History,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self {
            epoch: 1,
            batch: 0,
            steps: 0,
            sum: MetricSum::default(),
            numbers_taken: 0,
            seeds_drawn: None,
            learning_rate: None,
            scaler: None,
            is_stopped: false,
            seen: Seen::default(),
            best: None,
            history: History::default(),
        }
    }
}

/// The settings on which the order of batches, their parts and the sums over these depend: a training goes on only with the
/// same ones.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub(super) samples: usize,
    pub(super) batch_size: usize,
    pub(super) micro_batch_size: usize,
    pub(super) seed: u64,
    pub(super) drop_last: bool,
    /// The shards of a batch of data parallel training.
    pub(super) shards: Option<usize>,
    /// The stages of a pipeline and their places, if some have replicas.
    pub(super) replicas: Option<String>,
    pub(super) scales_loss: bool,
    /// Whether an average of the parameters is updated.
    pub(super) averages: bool,
}

impl Fixed {
    fn entries(&self) -> [(&'static str, Option<Value>); 9] {
        [
            ("samples", Some(self.samples.into())),
            ("batch_size", Some(self.batch_size.into())),
            ("micro_batch_size", Some(self.micro_batch_size.into())),
            ("seed", Some(self.seed.into())),
            ("drop_last", Some(u64::from(self.drop_last).into())),
            ("shards", self.shards.map(Value::from)),
            ("replicas", self.replicas.clone().map(Value::from)),
            ("scales_loss", self.scales_loss.then_some(true.into())),
            ("averages", self.averages.then_some(true.into())),
        ]
    }
}

impl<T: Real> State<T> {
    /// The state as text, with the states of callbacks. Numbers with a fraction are written as their bits.
    pub(super) fn text(&self, fixed: &Fixed, callbacks: &[String]) -> String {
        let mut text = Map::new();
        for (name, entry) in fixed.entries() {
            text.extend(entry.map(|entry| (name.to_owned(), entry)));
        }
        let rest = json!({
            "epoch": self.epoch,
            "batch": self.batch,
            "steps": self.steps,
            "sum": { "loss": bits(self.sum.loss), "correct": self.sum.correct, "samples": self.sum.samples },
            "numbers_taken": self.numbers_taken,
            "seeds_drawn": self.seeds_drawn,
            "learning_rate": self.learning_rate.map(bits),
            "loss_scaler": self.scaler.map(|ScalerState { scale, steps, skipped }| {
                json!({ "scale": bits(scale), "steps": steps, "skipped": skipped })
            }),
            "is_stopped": self.is_stopped,
            "early_stop": { "best": self.seen.best.map(bits), "waited": self.seen.waited },
            "best": self.best.map(bits),
            "callbacks": callbacks,
            "skipped_steps": self.history.skipped_steps,
            "history": self.history.epochs.iter().map(epoch_value).collect::<Vec<_>>(),
        });
        if let Value::Object(rest) = rest {
            text.extend(rest);
        }
        Value::Object(text).to_string()
    }

    /// Reads the state of a checkpoint, and the states of its callbacks.
    ///
    /// # Errors
    /// If the file has none, or one of other settings.
    pub(super) fn read(file: &TensorFile, fixed: &Fixed) -> Result<(Self, Vec<String>)> {
        let mismatch = |what: &str, expected: String, found: String| Error::Checkpoint {
            path: file.path().to_owned(),
            what: what.to_owned(),
            expected,
            found,
        };
        let Some(text) = file.noted(OF_TRAINER) else {
            let expected = "a checkpoint that a trainer has written".to_owned();
            return Err(mismatch("metadata", expected, "none".to_owned()));
        };
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        for (name, entry) in fixed.entries() {
            if value.get(name) != entry.as_ref() {
                let text = |entry: Option<&Value>| entry.map_or("none".to_owned(), Value::to_string);
                let (expected, found) = (text(entry.as_ref()), text(value.get(name)));
                return Err(mismatch(name, expected, found));
            }
        }
        Self::parse(&value)
            .ok_or_else(|| mismatch("metadata", "the state of a training".to_owned(), value.to_string()))
    }

    fn parse(value: &Value) -> Option<(Self, Vec<String>)> {
        let sum = &value["sum"];
        let epochs: Option<Vec<Epoch>> = value["history"].as_array()?.iter().map(epoch_of).collect();
        let callbacks = value["callbacks"].as_array()?.iter();
        let callbacks: Option<Vec<String>> =
            callbacks.map(|state| Some(state.as_str()?.to_owned())).collect();
        let skipped: Option<Vec<usize>> = match value.get("skipped_steps") {
            None => Some(Vec::new()), // a file from before there was a scale of the loss
            Some(skipped) => skipped.as_array()?.iter().map(count).collect(),
        };
        let scaler = |value: &Value| {
            let [steps, skipped] = [&value["steps"], &value["skipped"]].map(Value::as_u64);
            Some(ScalerState { scale: number(&value["scale"])?, steps: steps?, skipped: skipped? })
        };
        let state = Self {
            epoch: count(&value["epoch"])?,
            batch: count(&value["batch"])?,
            steps: count(&value["steps"])?,
            sum: MetricSum {
                loss: number(&sum["loss"])?,
                correct: sum["correct"].as_u64()?,
                samples: count(&sum["samples"])?,
            },
            numbers_taken: value["numbers_taken"].as_u64()?,
            seeds_drawn: optional(&value["seeds_drawn"], Value::as_u64)?,
            learning_rate: optional(&value["learning_rate"], number)?,
            scaler: optional(&value["loss_scaler"], scaler)?,
            is_stopped: value["is_stopped"].as_bool()?,
            seen: Seen {
                best: optional(&value["early_stop"]["best"], number)?,
                waited: count(&value["early_stop"]["waited"])?,
                best_values: None,
            },
            best: optional(&value["best"], number)?,
            history: History { epochs: epochs?, submitted: None, skipped_steps: skipped? },
        };
        Some((state, callbacks?))
    }
}

/// A number as the hexadecimal digits of its bits.
fn bits(number: f64) -> String {
    format!("{:016x}", number.to_bits())
}

fn number(value: &Value) -> Option<f64> {
    u64::from_str_radix(value.as_str()?, 16).ok().map(f64::from_bits)
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

/// What a value is, or nothing if it is null. None if it is something else.
fn optional<R>(value: &Value, of: impl Fn(&Value) -> Option<R>) -> Option<Option<R>> {
    if value.is_null() { Some(None) } else { of(value).map(Some) }
}

fn epoch_value(epoch: &Epoch) -> Value {
    let Epoch { epoch, loss, accuracy, correct, samples, energy, samples_per_second, validation } = epoch;
    json!({
        "epoch": epoch,
        "loss": bits(*loss),
        "accuracy": bits(*accuracy),
        "correct": correct,
        "samples": samples,
        "energy": { "joules": energy.value().map(bits), "source": energy.source() },
        "samples_per_second": bits(*samples_per_second),
        "validation": validation.map(|Evaluation { loss, accuracy, correct }| {
            json!({ "loss": bits(loss), "accuracy": bits(accuracy), "correct": correct })
        }),
    })
}

fn epoch_of(value: &Value) -> Option<Epoch> {
    let evaluation = |value: &Value| {
        Some(Evaluation {
            loss: number(&value["loss"])?,
            accuracy: number(&value["accuracy"])?,
            correct: value["correct"].as_u64()?,
        })
    };
    Some(Epoch {
        epoch: count(&value["epoch"])?,
        loss: number(&value["loss"])?,
        accuracy: number(&value["accuracy"])?,
        correct: value["correct"].as_u64()?,
        samples: count(&value["samples"])?,
        energy: energy_of(&value["energy"])?,
        samples_per_second: number(&value["samples_per_second"])?,
        validation: optional(&value["validation"], evaluation)?,
    })
}

fn energy_of(value: &Value) -> Option<Joules> {
    let joules = optional(&value["joules"], number)?;
    Some(match (serde_json::from_value(value["source"].clone()).ok()?, joules) {
        (Source::Measured { by, longest_gap_s: None }, Some(joules)) => Joules::measured(joules, by),
        (Source::Measured { by, longest_gap_s: Some(gap) }, Some(joules)) => {
            Joules::integrated(joules, by, gap)
        }
        (Source::Simulated, Some(joules)) => Joules::simulated(joules),
        (Source::Unavailable(absence), None) => Joules::unavailable(absence),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_the_same_bits_after_reading() {
        let validation = Some(Evaluation { loss: 0.1, accuracy: f64::NAN, correct: u64::MAX });
        let epoch = |validation| Epoch {
            epoch: 1,
            loss: f64::from_bits(0x7ff8_0000_0000_0123),
            accuracy: 1.0 / 3.0,
            correct: 7,
            samples: 21,
            energy: Joules::measured(0.000_132_83, "RAPL (powercap)"),
            samples_per_second: f64::INFINITY,
            validation,
        };
        let state = State::<f32> {
            epoch: 3,
            batch: 5,
            steps: 1 << 40,
            sum: MetricSum { loss: 1e300 / 7.0, correct: 3, samples: 9 },
            numbers_taken: u64::MAX,
            seeds_drawn: Some(4),
            learning_rate: Some(0.1),
            scaler: Some(ScalerState { scale: 1.0 / 3.0, steps: 6, skipped: 2 }),
            is_stopped: true,
            seen: Seen { best: Some(-0.0), waited: 2, best_values: None },
            best: None,
            history: History {
                epochs: vec![epoch(None), epoch(validation)],
                submitted: None,
                skipped_steps: vec![1, 9],
            },
        };
        let fixed = Fixed {
            samples: 1,
            batch_size: 2,
            micro_batch_size: 3,
            seed: 4,
            drop_last: true,
            shards: Some(5),
            replicas: Some("0: [0, 1]".to_owned()),
            scales_loss: true,
            averages: true,
        };
        let callbacks = ["a \"text\"\n".to_owned(), String::new()];
        let text = state.text(&fixed, &callbacks);
        let (read, of_callbacks) = State::<f32>::parse(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(read.text(&fixed, &of_callbacks), text);
        assert_eq!(of_callbacks, callbacks);
        assert_eq!(read.history.epochs[1].loss.to_bits(), 0x7ff8_0000_0000_0123);
        assert_eq!((read.seeds_drawn, read.seen.best.map(f64::to_bits)), (Some(4), Some(1 << 63)));
        let earlier = text.replace("\"skipped_steps\":[1,9]", "\"x\":0");
        assert_ne!(earlier, text);
        let (read, _) = State::<f32>::parse(&serde_json::from_str(&earlier).unwrap()).unwrap();
        assert!(read.history.skipped_steps.is_empty(), "a file from before there was a scale");
        for (part, wrong) in [
            ("\"epoch\":3", "\"x\":0"),
            ("\"is_stopped\":true", "\"x\":0"),
            ("\"skipped_steps\":[1,9]", "\"skipped_steps\":5"),
            ("\"best\":\"8000000000000000\"", "\"best\":7"),
        ] {
            let changed = text.replace(part, wrong);
            assert_ne!(changed, text);
            assert!(State::<f32>::parse(&serde_json::from_str(&changed).unwrap()).is_none(), "{part}");
        }
    }
}
