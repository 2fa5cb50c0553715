//! [`Training`]: a training, its data in files that both frameworks read, and how dahl does it.

use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use dahl::prelude::*;
use dahl_nn::dataset::Images;
use dahl_nn::prelude::*;
use serde::{Deserialize, Serialize};

use super::process::{Epoch, Trained};
use crate::study::programs::unchecked;
use crate::trouble::Trouble;

/// The settings of a training, in a file that its process reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Training {
    pub(super) network: Network,
    /// Where the weights, the images and the labels are.
    pub(super) folder: PathBuf,
    pub(super) samples: usize,
    pub(super) batch: usize,
    pub(super) epochs: usize,
    pub(super) rate: f64,
    /// CPU workers; in PyTorch, threads of an operation.
    pub(super) workers: usize,
}

/// A network for images of 28 by 28.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Network {
    /// 784, 128 and 10 features.
    Mlp,
    /// Two convolutions with pooling and two linear maps (LeCun et al. 1998).
    Lenet,
}

impl Network {
    pub(super) const ALL: [Self; 2] = [Self::Mlp, Self::Lenet];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mlp => "mlp",
            Self::Lenet => "lenet",
        }
    }

    fn build(self, arena: &Arena, seed: u64) -> dahl::Result<Sequential<'_, f32>> {
        let model = Sequential::new(arena, [1, 28, 28], seed);
        match self {
            Self::Mlp => model.flatten()?.dense(128)?.relu()?.dense(10),
            Self::Lenet => {
                let padded = Conv2dOptions { padding: [2; 2], ..Conv2dOptions::square(5) };
                let model = model.conv2d_with(6, padded)?.relu()?.max_pool2d(2)?;
                let model = model.conv2d(16, 5)?.relu()?.max_pool2d(2)?;
                model.flatten()?.dense(84)?.relu()?.dense(10)
            }
        }
    }

    fn weights(self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.safetensors", self.name()))
    }

    /// Draws weights, and writes them for both frameworks.
    pub(super) fn save_weights(self, folder: &Path, seed: u64) -> Result<(), Trouble> {
        let rt = unchecked().cpu_workers(1).build()?;
        let arena = rt.arena();
        Ok(self.build(&arena, seed)?.save(self.weights(folder))?)
    }
}

/// Writes images and labels for PyTorch: as numbers of 32 bits from 0 to 1, and of 64 bits.
pub(super) fn write_data(data: &Images, folder: &Path) -> Result<(), Trouble> {
    let mut image = vec![0.0_f32; data.sample_shape().iter().product()];
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for sample in 0..data.len() {
        data.copy_sample(sample, &mut image);
        images.extend(image.iter().flat_map(|pixel| pixel.to_le_bytes()));
        labels.extend(i64::from(data.label(sample)).to_le_bytes());
    }
    for (name, bytes) in [("images.f32", images), ("labels.i64", labels)] {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| Trouble::unwritable(&path, error))?;
    }
    Ok(())
}

/// Trains, and says so as `train.py` does.
pub(super) fn train(training: &Training) -> Result<(), Trouble> {
    let data = FashionMnist::embedded()?.train.limited(training.samples);
    let rt = unchecked().cpu_workers(training.workers).build()?;
    let arena = rt.arena();
    let mut model = training.network.build(&arena, 0)?;
    model.load(training.network.weights(&training.folder))?;
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(training.rate));
    let trainer = trainer.batch_size(training.batch).epochs(training.epochs).no_shuffle();
    rt.wait()?;
    say("ready")?;
    let mut input = io::stdin().lock();
    input.read_line(&mut String::new())?;
    let history = trainer.fit(&data)?;
    rt.wait()?;
    let epoch = |epoch: &dahl_nn::training::Epoch| Epoch {
        seconds: epoch.samples as f64 / epoch.samples_per_second,
        loss: epoch.loss,
    };
    let trained =
        Trained { epochs: history.epochs.iter().map(epoch).collect(), peak_bytes: peak_resident_bytes() };
    say(&serde_json::to_string(&trained).map_err(|error| Trouble::Failed(error.to_string()))?)?;
    io::copy(&mut input, &mut io::sink())?;
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// The most memory that the process had, where the system tells.
fn peak_resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
