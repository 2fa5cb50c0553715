//! Checkpoints: a run that goes on has the bits of one that was not interrupted; a file that does not match changes nothing.

use dahl::ops::{mean_squared_error_init, tanh_init};
use dahl::prelude::*;
use dahl_nn::prelude::*;
use safetensors::SafeTensors;

#[derive(Module)]
struct Net<'m, T: Real> {
    hidden: Linear<'m, T>,
    output: Linear<'m, T>,
}

impl<'m, T: Real> Net<'m, T> {
    fn new(arena: &'m Arena, seed: u64) -> dahl::Result<Self> {
        let mut init = Init::new(arena, seed);
        Ok(Self { hidden: Linear::new(&mut init, 2, 5)?, output: Linear::new(&mut init, 5, 1)? })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let hidden = tanh_init(step, &self.hidden.forward(step, x)?)?;
        self.output.forward(step, &hidden)
    }

    /// A step of learning on data that depend on the step's number.
    fn learn_step(&mut self, rt: &Runtime, number: usize) -> dahl::Result<f64> {
        let values = (0..8).map(|index| T::from_f64((0.7 * (index + 3 * number) as f64).sin())).collect();
        let x = rt.from_vec([4, 2], values)?;
        let y = rt.from_vec([4, 1], [1.0, -1.0, 0.5, 0.0].map(T::from_f64).to_vec())?;
        self.learn(rt, |step, net| mean_squared_error_init(step, &net.forward(step, &x)?, &y, 0.25))
    }

    fn values(&self) -> Vec<Vec<f64>> {
        let of = |array: &Vector<'_, T>| array.to_vec().unwrap().into_iter().map(Real::to_f64).collect();
        self.parameters().map(|parameter| of(&parameter.value)).collect()
    }
}

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

/// Values after 12 steps, without interruption, and with one after 5.
fn compare<T: Real, O: Optimizer<T>>(optimizer: impl Fn() -> O) {
    let rt = runtime();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (mut net, mut first) = (Net::<T>::new(&arena, 1).unwrap(), optimizer());
    for number in 0..12 {
        if number == 5 {
            save_checkpoint(&path, &net, &first).unwrap();
        }
        net.learn_step(&rt, number).unwrap();
        first.step(&mut net).unwrap();
    }
    // Another start, and an optimizer that has state of its own.
    let (mut again, mut second) = (Net::<T>::new(&arena, 2).unwrap(), optimizer());
    again.learn_step(&rt, 1).unwrap();
    second.step(&mut again).unwrap();
    load_checkpoint(&path, &mut again, &mut second).unwrap();
    for number in 5..12 {
        again.learn_step(&rt, number).unwrap();
        second.step(&mut again).unwrap();
    }
    assert_eq!(again.values(), net.values(), "{}", T::NAME);
}

#[test]
fn a_run_that_goes_on_has_the_same_bits() {
    compare::<f32, _>(|| Sgd::new(0.1));
    compare::<f32, _>(|| Sgd::new(0.1).momentum(0.9).nesterov());
    compare::<f64, _>(|| Adam::new(0.01).amsgrad());
    compare::<bf16, _>(|| AdamW::new(0.01));
    compare::<bf16, _>(|| AdamW::new(0.01).master_weights(true));
    compare::<f32, _>(|| {
        AdamW::new(0.01).group(|name| name.ends_with("bias"), |group| group.weight_decay(0.0))
    });
    let momentum = |group: RmsProp<f32>| group.momentum(0.5).centered();
    compare::<f32, _>(|| RmsProp::new(0.01).group(|name| name.starts_with("hidden"), momentum));
    compare::<f32, _>(|| Adagrad::new(0.01).lr_decay(0.1).initial_accumulator_value(0.1));
    compare::<f32, _>(|| Adadelta::new(1.0));
    compare::<f32, _>(|| Lion::new(0.001));
    compare::<f16, _>(|| Lamb::new(0.01));
}

/// Values and averages after 12 steps, without interruption, and with one after 5.
fn compare_averages<T: Real>(average: impl Fn() -> WeightAverage<T>) {
    let rt = runtime();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (mut net, mut adam, mut first) = (Net::<T>::new(&arena, 1).unwrap(), Adam::new(0.01), average());
    for number in 0..12 {
        if number == 5 {
            save_checkpoint_with_average(&path, &net, &adam, &first).unwrap();
        }
        net.learn_step(&rt, number).unwrap();
        adam.step(&mut net).unwrap();
        first.update(&net).unwrap();
    }
    let (mut again, mut of_again, mut second) =
        (Net::<T>::new(&arena, 2).unwrap(), Adam::new(0.01), average());
    second.update(&again).unwrap();
    load_checkpoint_with_average(&path, &mut again, &mut of_again, &mut second).unwrap();
    for number in 5..12 {
        again.learn_step(&rt, number).unwrap();
        of_again.step(&mut again).unwrap();
        second.update(&again).unwrap();
    }
    assert_eq!(second.updates(), first.updates());
    first.copy_to(&mut net).unwrap();
    second.copy_to(&mut again).unwrap();
    assert_eq!(again.values(), net.values(), "{}", T::NAME);
    // The rest of the file is a checkpoint without an average.
    load_checkpoint(&path, &mut again, &mut Adam::new(0.01)).unwrap();
}

#[test]
fn an_average_that_goes_on_has_the_same_bits() {
    compare_averages::<f32>(|| WeightAverage::exponential(0.9));
    compare_averages::<f64>(WeightAverage::mean);
    compare_averages::<bf16>(|| WeightAverage::mean().after(2).every(3));
    compare_averages::<f16>(|| WeightAverage::exponential(0.5).after(8));
}

#[test]
fn a_file_without_an_average_changes_nothing() {
    let rt = runtime();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (net, mut adam) = (Net::<f32>::new(&arena, 1).unwrap(), Adam::new(0.01));
    save_checkpoint(&path, &net, &adam).unwrap();
    let mut again = Net::<f32>::new(&arena, 2).unwrap();
    let (before, mut average) = (again.values(), WeightAverage::mean());
    let error = load_checkpoint_with_average(&path, &mut again, &mut adam, &mut average).unwrap_err();
    assert!(error.to_string().contains("weight_average"), "{error}");
    assert_eq!((again.values(), average.updates()), (before, 0));
    average.update(&Linear::<f32>::new(&mut Init::new(&arena, 1), 7, 3).unwrap()).unwrap();
    let error = save_checkpoint_with_average(&path, &net, &adam, &average).unwrap_err().to_string();
    assert!(error.contains("WeightAverage"), "{error}");
    // Parameters that begin with those of the average, and the reverse.
    let init = &mut Init::new(&arena, 1);
    let mut linears = [Linear::<f32>::without_bias(init, 7, 3).unwrap(), Linear::new(init, 7, 3).unwrap()];
    for _ in 0..2 {
        let mut average = WeightAverage::mean();
        average.update(&linears[0]).unwrap();
        let error = save_checkpoint_with_average(&path, &linears[1], &adam, &average).unwrap_err();
        assert!(error.to_string().contains("WeightAverage"), "{error}");
        let error = average.update(&linears[1]).unwrap_err();
        assert!(error.to_string().contains("WeightAverage"), "{error}");
        average.copy_to(&mut linears[1]).unwrap_err();
        linears.reverse();
    }
}

#[test]
fn the_file_has_tensors_by_name_and_counts_of_steps() {
    let rt = runtime();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (mut net, mut optimizer) = (Net::<f16>::new(&arena, 1).unwrap(), AdamW::new(0.01));
    net.freeze("output.bias");
    for number in 0..3 {
        net.learn_step(&rt, number).unwrap();
        optimizer.step(&mut net).unwrap();
    }
    save_checkpoint(&path, &net, &optimizer).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names();
    names.sort_unstable();
    let parameters = ["hidden.bias", "hidden.weight", "output.bias", "output.weight"];
    let mut expected: Vec<String> = parameters.map(str::to_owned).to_vec();
    for array in ["exp_avg", "exp_avg_sq"] {
        let learned = parameters.into_iter().filter(|name| *name != "output.bias");
        expected.extend(learned.map(|name| format!("optimizer.{array}.{name}")));
    }
    expected.sort_unstable();
    assert_eq!(names, expected);
    let state = file.tensor("optimizer.exp_avg.hidden.weight").unwrap();
    assert_eq!(state.dtype(), safetensors::Dtype::F32);
    assert_eq!(state.shape(), file.tensor("hidden.weight").unwrap().shape());
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().clone().unwrap();
    assert_eq!(metadata["optimizer.step.hidden.weight"], "3");
    assert!(!metadata.contains_key("optimizer.step.output.bias"));
}

#[test]
fn a_file_that_does_not_match_changes_nothing() {
    let rt = runtime();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let (mut net, mut adam) = (Net::<f32>::new(&arena, 1).unwrap(), Adam::new(0.01));
    net.learn_step(&rt, 0).unwrap();
    adam.step(&mut net).unwrap();
    save_checkpoint(&path, &net, &adam).unwrap();

    let mut again = Net::<f32>::new(&arena, 2).unwrap();
    let before = again.values();
    let refused = |result: dahl::Result<()>, words: &[&str]| {
        let text = result.unwrap_err().to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        assert!(text.contains("nothing was loaded"), "{text}");
    };
    // An optimizer of another kind, which needs an array that is not there.
    let mut sgd = Sgd::new(0.01).momentum(0.9);
    let missing = ["optimizer.momentum_buffer.hidden.weight", "no such tensor"];
    refused(load_checkpoint(&path, &mut again, &mut sgd), &missing);
    assert!(sgd.states().is_empty());
    // One that does not know the arrays that are.
    refused(load_checkpoint(&path, &mut again, &mut Sgd::new(0.01)), &["`optimizer.exp_avg"]);
    // Another setting: an array more.
    let mut amsgrad = Adam::new(0.01).amsgrad();
    refused(load_checkpoint(&path, &mut again, &mut amsgrad), &["optimizer.max_exp_avg_sq.hidden.weight"]);
    // Another element type.
    let mut wide = Net::<f64>::new(&arena, 2).unwrap();
    let wide_before = wide.values();
    refused(load_checkpoint(&path, &mut wide, &mut Adam::new(0.01)), &["hidden.", "f64", "f32"]);
    assert_eq!(wide.values(), wide_before);
    // A file of the model alone has no steps: the optimizer begins anew.
    let model_path = folder.path().join("model.safetensors");
    net.save(&model_path).unwrap();
    assert_eq!(again.values(), before);
    load_checkpoint(&model_path, &mut again, &mut adam).unwrap();
    assert_eq!(again.values(), net.values());
    assert!(adam.states().is_empty());
}

#[test]
fn a_program_trains_saves_and_goes_on() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let (mut model, mut again) = (Net::<f32>::new(&arena, 1)?, Net::<f32>::new(&arena, 2)?);
    let x = rt.from_vec([3, 2], vec![0.0, 1.0, 1.0, 0.0, 1.0, 1.0])?;
    let y = rt.from_vec([3, 1], vec![1.0, -1.0, 0.5])?;
    let mut optimizer = AdamW::new(1e-2).weight_decay(0.1);
    let schedule = Cosine::new(1e-2, 200).warmup(10).minimum(1e-3);
    let mut losses = Vec::new();
    for step_number in 0..200 {
        let loss = model
            .learn(&rt, |step, model| mean_squared_error_init(step, &model.forward(step, &x)?, &y, 0.33))?;
        losses.push(loss);
        clip_gradient_norm(&mut model, 1.0)?;
        optimizer.set_learning_rate(schedule.at(step_number));
        optimizer.step(&mut model)?;
    }
    save_checkpoint(&path, &model, &optimizer)?;
    load_checkpoint(&path, &mut again, &mut AdamW::new(1e-2))?;
    assert_eq!(again.values(), model.values());
    assert!(losses[199] < 0.2 * losses[0], "{losses:?}");
    Ok(())
}
