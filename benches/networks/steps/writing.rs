//! Text that GPT-2 small writes, token by token, with random weights.

use dahl::prelude::*;
use dahl_nn::dataset::king_james_bible;
use dahl_nn::module::Init;
use dahl_nn::prelude::*;
use std::time::Instant;

use crate::Settings;
use crate::gpt::{Gpt, Sampling, generate};
use crate::peak::peak_resident_bytes;
use crate::text::{GPT2, words};

/// Tokens of the prompt, and those that are written for each line of the standard input.
const PROMPT: usize = 16;
const WRITTEN: usize = 64;

/// Answers each line of the standard input: writes tokens after the prompt, and prints the seconds of each but the first one,
/// which waits for the prompt.
pub(crate) fn run<T: Real>(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    let prompt = words(&king_james_bible())[..PROMPT].to_vec();
    let rt = settings.runtime()?;
    let arena = rt.arena();
    let model = Gpt::<T>::new(&mut Init::new(&arena, 42), GPT2.extents, 0.0)?;
    if let Some(path) = &settings.save {
        model.save(path)?;
    }
    let sampling = Sampling { temperature: settings.temperature, top_k: 0, top_p: 1.0 };
    for line in std::io::stdin().lines() {
        line?;
        let (mut times, mut tokens) = (Vec::new(), Vec::new());
        generate(&rt, &model, &prompt, WRITTEN, sampling, |token| {
            times.push(Instant::now());
            tokens.push(token);
        })?;
        let seconds: Vec<_> = times.windows(2).map(|times| (times[1] - times[0]).as_secs_f64()).collect();
        let memory = peak_resident_bytes();
        let line =
            serde_json::json!({ "seconds": seconds, "outcomes": tokens, "peak_resident_bytes": memory });
        println!("{line}");
    }
    Ok(())
}
