//! A GPT: with AdamW, clipping, a schedule with warm-up, and resumed from a checkpoint.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::gpt::{Extents, Gpt, Sampling, generate};
use super::{Trajectory, compare, start_from, windows};

const EXTENTS: Extents = Extents { vocabulary: 17, context: 8, width: 12, heads: 3, layers: 2 };

struct Training<'a, 'm, T: Real> {
    rt: &'a Runtime,
    model: Gpt<'m, T>,
    adamw: AdamW<T>,
    inputs: Matrix<'static, u32>,
    targets: Matrix<'static, u32>,
}

impl<'a, 'm, T: Real> Training<'a, 'm, T> {
    fn new(rt: &'a Runtime, arena: &'m Arena) -> dahl::Result<Self> {
        let mut model = Gpt::new(&mut Init::new(arena, 1), EXTENTS, 0.0)?;
        start_from(&mut model, "gpt")?;
        let (inputs, targets) = windows(rt, [3, 8], 17)?;
        Ok(Self { rt, model, adamw: AdamW::new(1e-3).weight_decay(0.1), inputs, targets })
    }

    fn step(&mut self, index: usize) -> dahl::Result<f64> {
        let loss = self.model.learn(self.rt, |step, model| {
            CrossEntropy.of_tokens(step, &model.forward(step, &self.inputs)?, &self.targets)
        })?;
        clip_gradient_norm(&mut self.model, 1.0)?;
        self.adamw.set_learning_rate(Cosine::new(1e-3, 100).warmup(10).minimum(1e-4).at(index));
        self.adamw.step(&mut self.model)?;
        Ok(loss)
    }
}

pub(super) fn gpt<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    compare("gpt", &mut Training::<T>::new(&rt, &arena)?, Training::step)
}

#[test]
fn a_training_that_goes_on_from_a_checkpoint_has_the_same_bits() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpt.safetensors");
    let mut whole = Training::<f32>::new(&rt, &arena)?;
    for index in 0..6 {
        whole.step(index)?;
    }
    save_checkpoint(&path, &whole.model, &whole.adamw)?;
    let mut resumed = Training::<f32>::new(&rt, &arena)?;
    load_checkpoint(&path, &mut resumed.model, &mut resumed.adamw)?;
    for index in 6..12 {
        assert_eq!(whole.step(index)?.to_bits(), resumed.step(index)?.to_bits(), "step {index}");
    }
    Ok(())
}

#[test]
fn text_is_the_same_with_and_without_a_cache() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let model = Gpt::<f64>::new(&mut Init::new(&arena, 3), EXTENTS, 0.0)?;
    let best = Sampling { temperature: 0.0, top_k: 0, top_p: 1.0 };
    let (prompt, mut written) = (vec![3, 1, 4], Vec::new());
    generate(&rt, &model, &prompt, 5, best, |token| written.push(token))?;
    let mut tokens = prompt;
    for &token in &written {
        let input = rt.from_vec([1, tokens.len()], tokens.clone())?;
        let scores = model.evaluate(&rt, |step, model| model.forward(step, &input)?.to_vec())?;
        let last = &scores[scores.len() - 17..];
        let expected = (0..17).max_by(|&a, &b| last[a].total_cmp(&last[b])).unwrap();
        assert_eq!(token, expected as u32, "after {tokens:?}");
        tokens.push(token);
    }
    // Beyond the context, the oldest tokens are forgotten.
    let mut count = 0;
    generate(&rt, &model, &[1, 2], 20, Sampling { temperature: 1.0, top_k: 5, top_p: 0.9 }, |token| {
        count += 1;
        assert!(token < 17);
    })?;
    assert_eq!(count, 20);
    Ok(())
}

#[test]
fn sampling_takes_the_best_tokens_by_their_shares() {
    let scores = [0.0, 2.0, 1.0, -1.0];
    let all = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0 };
    assert_eq!(Sampling { temperature: 0.0, ..all }.draw(&scores, 0.99), 1);
    assert_eq!(Sampling { top_k: 1, ..all }.draw(&scores, 0.99), 1);
    assert_eq!(Sampling { top_p: 0.5, ..all }.draw(&scores, 0.99), 1);
    // The shares of the tokens in the order of their scores: 0.644, 0.237, 0.087, 0.032.
    assert_eq!(
        [0.0, 0.63, 0.65, 0.87, 0.89, 0.96, 0.98].map(|at| all.draw(&scores, at)),
        [1, 1, 2, 2, 0, 0, 3]
    );
    assert_eq!(Sampling { top_k: 2, ..all }.draw(&scores, 0.74), 2);
}
