//! A trainer of any module by a function: what it computes is what a loop of one's own computes.

use dahl::ops::tanh_init;
use dahl::prelude::*;
use dahl_nn::dataset::Random;
use dahl_nn::dataset::transform::RandomHorizontalFlip;
use dahl_nn::loader::{RandomSampler, Sampler};
use dahl_nn::loss::{ElementwiseLoss as _, Mse};
use dahl_nn::prelude::*;

#[derive(Module)]
struct Net<'m, T: Real> {
    hidden: Linear<'m, T>,
    dropout: Dropout,
    output: Linear<'m, T>,
}

impl<'m, T: Real> Net<'m, T> {
    fn new(arena: &'m Arena) -> Self {
        let mut init = Init::new(arena, 5);
        let (hidden, output) = (Linear::new(&mut init, 6, 7), Linear::new(&mut init, 7, 6));
        Self { hidden: hidden.unwrap(), dropout: Dropout::new(0.2), output: output.unwrap() }
    }

    /// The mean squared difference between `x` and what becomes of it.
    fn loss<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Scalar<'s, T>> {
        let hidden = self.dropout.forward(step, &tanh_init(step, &self.hidden.forward(step, x)?)?)?;
        Mse.mean(step, &self.output.forward(step, &hidden)?, x)
    }

    fn bits(&self) -> Vec<u64> {
        let of = |array: &Vector<'_, T>| array.to_vec().unwrap().into_iter().map(|x| x.to_f64().to_bits());
        self.parameters().flat_map(|parameter| of(&parameter.value).collect::<Vec<_>>()).collect()
    }
}

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

/// Two epochs of a loop of one's own: samples in the order of a sampler, batches of 8 and one of 3.
fn by_hand(rt: &Runtime, data: &Synthetic) -> (Vec<u64>, Vec<f64>) {
    let arena = rt.arena();
    let mut net = Net::<f64>::new(&arena);
    let (mut optimizer, schedule) = (AdamW::new(1.0), Cosine::new(0.05, 6).warmup(2));
    let (mut number, mut losses) = (0, Vec::new());
    for epoch in 0..2 {
        let mut sum = 0.0;
        let mut step = Step::under(rt.tape()).seed(Random::new(1, &[epoch + 1]).bits());
        for indices in RandomSampler::new(9).order(data.len(), epoch).unwrap().chunks(8) {
            let mut features = vec![0.0; 6 * indices.len()];
            for (row, &index) in indices.iter().enumerate() {
                data.copy_sample(index, &mut features[6 * row..6 * (row + 1)]);
            }
            let x = rt.from_vec([indices.len(), 6], features).unwrap();
            net.zero_gradients().unwrap();
            let loss = net.loss(&step, &x).unwrap();
            step.accumulate(&loss, &mut net).unwrap();
            sum += loss.read().unwrap()[[]] * indices.len() as f64;
            drop(loss);
            clip_gradient_norm(&mut net, 0.5).unwrap();
            optimizer.set_learning_rate(schedule.at(number));
            optimizer.step(&mut net).unwrap();
            number += 1;
            step.reset();
        }
        losses.push(sum / data.len() as f64);
    }
    (net.bits(), losses)
}

#[test]
fn it_computes_what_a_loop_computes() {
    let rt = runtime();
    let data = Synthetic::new(&[6], 2, 19, 4);
    let (bits, losses) = by_hand(&rt, &data);
    for threads in [0, 1, 3] {
        let arena = rt.arena();
        let mut net = Net::<f64>::new(&arena);
        let trainer = Trainer::of(&rt, &mut net, AdamW::new(1.0)).batch_size(8).epochs(2).threads(threads);
        let trainer = trainer.sampler(RandomSampler::new(9)).clip_gradient_norm(0.5);
        let history = trainer
            .schedule(Cosine::new(0.05, 6).warmup(2))
            .validation_with(|net| {
                let loss = net.evaluate(&rt, |step, net| {
                    let x = rt.from_vec([1, 6], vec![0.5; 6])?;
                    net.loss(step, &x)?.to_vec()
                })?;
                Ok(Evaluation { loss: loss[0], accuracy: f64::NAN, correct: 0 })
            })
            .fit_with(&data, |step, net, part| net.loss(step, &part.features))
            .unwrap();
        assert_eq!(net.bits(), bits, "{threads} threads");
        assert_eq!(history.epochs.iter().map(|epoch| epoch.loss).collect::<Vec<_>>(), losses);
        assert!(history.epochs.iter().all(|epoch| epoch.accuracy.is_nan() && epoch.correct == 0));
        assert!(history.epochs.iter().all(|epoch| epoch.validation.unwrap().loss > 0.0));
    }
}

#[test]
fn threads_change_no_bit_of_a_sequential() {
    let rt = runtime();
    let arena = rt.arena();
    let train = |threads| {
        let data = Synthetic::new(&[1, 4, 5], 3, 70, 4).transformed(RandomHorizontalFlip::new(), 3).unwrap();
        let mut model = Sequential::<f32>::new(&arena, [1, 4, 5], 1).flatten().unwrap().dense(3).unwrap();
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(16).threads(threads);
        let history = trainer.micro_batch_size(5).epochs(3).fit(&data).unwrap();
        let values: Vec<_> = model.parameters().map(|parameter| parameter.value.to_vec().unwrap()).collect();
        let of_epochs: Vec<_> =
            history.epochs.iter().map(|epoch| (epoch.loss.to_bits(), epoch.correct)).collect();
        (values, of_epochs)
    };
    let alone = train(0);
    for threads in [1, 2, 5] {
        assert_eq!(train(threads), alone, "{threads} threads");
    }
}

#[test]
fn parts_of_a_batch_have_the_weights_of_their_samples() {
    let rt = runtime();
    let data = Synthetic::new(&[6], 2, 10, 4);
    let train = |samples| {
        let arena = rt.arena();
        let mut net = Net::<f64>::new(&arena);
        net.dropout = Dropout::new(0.0);
        let trainer = Trainer::of(&rt, &mut net, Sgd::new(0.1)).batch_size(10).micro_batch_size(samples);
        let history = trainer.fit_with(&data, |step, net, part| net.loss(step, &part.features)).unwrap();
        let values = net.bits().into_iter().map(f64::from_bits).collect::<Vec<_>>();
        (history.epochs[0].loss, values)
    };
    let (whole_loss, whole) = train(10);
    // Parts of 4, 4 and 2.
    let (loss, values) = train(4);
    assert!((loss - whole_loss).abs() < 1e-14, "{loss}, {whole_loss}");
    assert!(values.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-14));
    assert_ne!(values, whole, "the sums are rounded in another order");
}

#[test]
fn windows_of_tokens_are_read_by_threads_too() {
    let rt = runtime();
    let text: Vec<u32> = (0..300).map(|i| (i * 7 % 23) as u32).collect();
    let windows = TokenWindows::new(&text, 8);
    let train = |threads| {
        let arena = rt.arena();
        let mut init = Init::new(&arena, 1);
        let embedding = Embedding::<f32>::new(&mut init, 23, 16).unwrap();
        let mut model = (embedding, Linear::<f32>::new(&mut init, 16, 23).unwrap());
        let trainer = Trainer::of(&rt, &mut model, AdamW::new(0.03)).batch_size(8).epochs(3).threads(threads);
        let history = trainer.fit_with(&windows, |step, model, (inputs, targets)| {
            let logits = model.1.forward(step, &model.0.forward(step, inputs)?)?;
            CrossEntropy.of_tokens(step, &logits, targets)
        });
        history.unwrap().epochs.iter().map(|epoch| epoch.loss).collect::<Vec<_>>()
    };
    let losses = train(0);
    assert!(losses[2] < 0.5 * losses[0], "{losses:?}");
    assert_eq!(train(2), losses);
}

#[test]
fn the_last_short_batch_may_be_left_out() {
    let rt = runtime();
    let arena = rt.arena();
    let train = |samples, batch_size: usize| {
        let mut net = Net::<f64>::new(&arena);
        let trainer = Trainer::of(&rt, &mut net, Sgd::new(0.1)).batch_size(batch_size).no_shuffle();
        let data = Synthetic::new(&[6], 2, 19, 4).take(samples);
        let history = trainer
            .drop_last(true)
            .epochs(2)
            .fit_with(&data, |step, net, part| net.loss(step, &part.features))?;
        Ok::<_, dahl::Error>((net.bits(), history.epochs[1].loss))
    };
    assert_eq!(train(19, 8).unwrap(), train(16, 8).unwrap());
    assert_ne!(train(19, 8).unwrap(), train(19, 6).unwrap());
    assert!(train(7, 8).unwrap_err().to_string().contains("no samples"));
}

/// Samples of which the eighth cannot be read, and the ninth has a label that is no class.
struct Faulty {
    panics: bool,
}

impl Dataset for Faulty {
    fn len(&self) -> usize {
        50
    }

    fn sample_shape(&self) -> &[usize] {
        &[6]
    }

    fn classes(&self) -> usize {
        2
    }

    fn copy_sample<T: Real>(&self, index: usize, _: &mut [T]) {
        assert!(!self.panics || index != 7, "no such sample");
    }

    fn label(&self, index: usize) -> u32 {
        if index == 8 { 2 } else { 0 }
    }
}

#[test]
fn a_sample_that_threads_cannot_read_ends_the_training() {
    let rt = runtime();
    let arena = rt.arena();
    for threads in [1, 4] {
        for (panics, words) in
            [(true, ["sample 7", "panicked: no such sample"]), (false, ["sample 8", "label 2"])]
        {
            let mut net = Net::<f64>::new(&arena);
            let trainer = Trainer::of(&rt, &mut net, Sgd::new(0.1)).no_shuffle().batch_size(2);
            let trained = trainer
                .threads(threads)
                .fit_with(&Faulty { panics }, |step, net, part| net.loss(step, &part.features));
            let error = trained.unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}

/// Steps of no size.
struct Still;

impl<T: Real> Optimizer<T> for Still {
    fn update(
        &mut self,
        _: usize,
        _: &dahl_nn::module::Name<'_>,
        _: &mut Parameter<'_, T>,
    ) -> dahl::Result<()> {
        Ok(())
    }
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let rt = runtime();
    let arena = rt.arena();
    let mut net = Net::<f64>::new(&arena);
    let text = |result: dahl::Result<History>| result.unwrap_err().to_string();
    let empty = Synthetic::new(&[6], 2, 0, 4);
    let error = text(
        Trainer::of(&rt, &mut net, Still).fit_with(&empty, |step, net, part| net.loss(step, &part.features)),
    );
    assert!(error.contains("fit_with") && error.contains("no samples"), "{error}");
    let data = Synthetic::new(&[6], 2, 10, 4);
    let error = text(
        Trainer::of(&rt, &mut net, Still)
            .schedule(Cosine::new(0.1, 10))
            .fit_with(&data, |step, net, part| net.loss(step, &part.features)),
    );
    assert!(error.contains("use_learning_rate"), "{error}");
    let error = text(
        Trainer::of(&rt, &mut net, Still)
            .schedule(Cosine::new(0.1, 0))
            .fit_with(&data, |step, net, part| net.loss(step, &part.features)),
    );
    assert!(error.contains("Cosine: steps = 0"), "{error}");
    let error = text(
        Trainer::of(&rt, &mut net, Still)
            .clip_gradient_norm(-1.0)
            .fit_with(&data, |step, net, part| net.loss(step, &part.features)),
    );
    assert!(error.contains("Trainer: max_norm = -1"), "{error}");
}
