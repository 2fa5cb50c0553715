//! Networks of several kinds have the losses of PyTorch, step by step, from the same weights on the same data.
//! `tests/reference/make_networks.py` made the numbers, `UPDATE_EXPECT=1` writes the table of `docs/networks-against-pytorch.md`.

#[path = "../../examples/networks/autoencoder.rs"]
mod autoencoder;
#[path = "../../examples/networks/char_lstm.rs"]
mod char_lstm;
#[path = "../../examples/networks/gpt.rs"]
#[allow(dead_code, reason = "the example uses the rest")]
mod gpt;
mod graph;
#[path = "../../examples/networks/karate_club.rs"]
pub(crate) mod karate_club;
#[path = "../../examples/networks/lenet.rs"]
mod lenet;
#[path = "../../examples/networks/mlp.rs"]
mod mlp;
mod recurrent;
#[path = "../../examples/networks/resnet.rs"]
mod resnet;
mod transformer;
mod vision;

use std::path::{Path, PathBuf};

use dahl::prelude::*;
use dahl_nn::module::TensorName;
use dahl_nn::prelude::*;
use safetensors::SafeTensors;

fn reference(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(file)
}

/// The sine of the index, as in the script.
fn wave<T: Real, const N: usize>(rt: &Runtime, shape: [usize; N]) -> dahl::Result<Array<'static, T, N>> {
    let count = shape.iter().product::<usize>();
    rt.from_vec(shape, (0..count).map(|i| T::from_f64((i as f64 * 0.37 + 0.5).sin())).collect())
}

fn labels(rt: &Runtime, count: usize, classes: usize) -> dahl::Result<Vector<'static, u32>> {
    rt.from_vec([count], (0..count).map(|i| ((7 * i + i * i / 3) % classes) as u32).collect())
}

fn tokens(count: usize, vocabulary: usize) -> Vec<u32> {
    (0..count).map(|i| ((i * i + 3 * i) % 61 % vocabulary) as u32).collect()
}

/// Inputs of `batch` sequences of `len` tokens, and the tokens after each.
fn windows(
    rt: &Runtime,
    [batch, len]: [usize; 2],
    vocabulary: usize,
) -> dahl::Result<(Matrix<'static, u32>, Matrix<'static, u32>)> {
    let text = tokens(batch * len + 1, vocabulary);
    let inputs = rt.from_vec([batch, len], text[..batch * len].to_vec())?;
    Ok((inputs, rt.from_vec([batch, len], text[1..].to_vec())?))
}

/// Copies PyTorch's first weights and buffers into the model, rounded to `T`.
fn start_from<T: Real>(model: &mut impl Module<T>, network: &str) -> dahl::Result<()> {
    let bytes = std::fs::read(reference(&format!("{network}.safetensors"))).expect("it is in the repository");
    let file = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    model.for_each_parameter(|name, parameter| {
        let tensor = file.tensor(&name.to_string()).unwrap_or_else(|_| panic!("PyTorch has no `{name}`"));
        assert_eq!(tensor.shape(), parameter.shape, "{name}");
        let values = tensor.data().chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        parameter.value.write()?.iter_mut().zip(values).for_each(|(to, from)| *to = T::from_f64(from));
        Ok(())
    })?;
    let of_model = model.parameters().count();
    let buffers = file.names().iter().filter(|name| name.contains("running_")).count();
    assert_eq!(of_model + buffers, file.len(), "{network}");
    Ok(())
}

/// The losses of a training beside PyTorch's, which are in f64.
struct Trajectory {
    /// PyTorch's first and last one.
    ends: [f64; 2],
    /// The largest relative difference, and the number of its step.
    worst: (f64, usize),
}

/// Trains by `step`, and compares each loss.
fn compare<M>(
    network: &str,
    model: &mut M,
    mut step: impl FnMut(&mut M, usize) -> dahl::Result<f64>,
) -> dahl::Result<Trajectory> {
    let text = std::fs::read_to_string(reference("networks.json")).expect("it is in the repository");
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected: Vec<f64> =
        all[network].as_array().unwrap().iter().map(|loss| loss.as_f64().unwrap()).collect();
    assert_eq!(expected.len(), 100);
    let mut worst = (0.0, 0);
    for (index, expected) in expected.iter().enumerate() {
        let difference = (step(model, index)? - expected).abs() / expected;
        if difference.is_nan() || difference > worst.0 {
            worst = (difference, index);
        }
    }
    Ok(Trajectory { ends: [expected[0], expected[99]], worst })
}

/// A network's name in the table, and its training in f64 and in f32.
type Network = (&'static str, [fn() -> dahl::Result<Trajectory>; 2]);

const NETWORKS: [Network; 9] = [
    ("MLP with batch norm, SGD with momentum", [vision::mlp::<f64>, vision::mlp::<f32>]),
    (
        "the same, with dropout of PyTorch's masks",
        [vision::mlp_with_dropout::<f64>, vision::mlp_with_dropout::<f32>],
    ),
    ("LeNet, Adam", [vision::lenet::<f64>, vision::lenet::<f32>]),
    (
        "residual network, SGD with momentum, weight decay, steps of the rate",
        [vision::resnet::<f64>, vision::resnet::<f32>],
    ),
    (
        "autoencoder of transposed convolutions, Adam",
        [vision::autoencoder::<f64>, vision::autoencoder::<f32>],
    ),
    ("LSTM of two layers on tokens, Adam", [recurrent::lstm::<f64>, recurrent::lstm::<f32>]),
    ("GPT, AdamW, clipped, cosine with warm-up", [transformer::gpt::<f64>, transformer::gpt::<f32>]),
    ("graph convolutions, Adam", [graph::gcn::<f64>, graph::gcn::<f32>]),
    ("graph attention, Adam", [graph::gat::<f64>, graph::gat::<f32>]),
];

/// The largest relative differences that are allowed in f64 and in f32.
const MAX_RELATIVE: [f64; 2] = [1e-10, 1e-5];

#[test]
fn networks_have_the_losses_of_pytorch() -> dahl::Result<()> {
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (name, trainings) in NETWORKS {
        let mut cells = Vec::new();
        for (train, max) in trainings.into_iter().zip(MAX_RELATIVE) {
            let Trajectory { ends: [first, last], worst: (difference, step) } = train()?;
            if cells.is_empty() {
                cells.push(format!("{first:.6} | {last:.6}"));
            }
            cells.push(format!("{difference:.1e}, step {}", step + 1));
            if difference.is_nan() || difference > max {
                wrong.push(format!("{name}: {difference:.1e} in step {}, more than {max:.1e}", step + 1));
            }
        }
        rows.push((name.to_owned(), cells));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    crate::page::check("Networks", &rows);
    Ok(())
}

/// GPT-2's published names and layouts: a file that PyTorch wrote.
#[test]
fn weights_of_gpt2_give_its_scores() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = gpt::Extents { vocabulary: 17, context: 8, width: 12, heads: 3, layers: 2 };
    let mut model = gpt::Gpt::<f32>::new(&mut Init::new(&arena, 5), extents, 0.0)?;
    model.load_gpt2(reference("tiny_gpt2.safetensors"))?;
    let bytes = std::fs::read(reference("tiny_gpt2.safetensors")).expect("it is in the repository");
    let file = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let expected = file.tensor("scores").expect("PyTorch's scores");
    let expected = expected.data().chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    let input = rt.from_vec([1, 5], vec![3, 1, 16, 0, 7])?;
    let scores = model.evaluate(&rt, |step, model| model.forward(step, &input)?.to_vec())?;
    assert_eq!(scores.len(), 5 * 17);
    for (score, expected) in scores.iter().zip(expected) {
        assert!((score - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{score}, not {expected}");
    }
    // A name that the file does not have is an error, and nothing is loaded.
    let error =
        model.load_as(reference("tiny_gpt2.safetensors"), |name| TensorName::new(format!("no.{name}")));
    assert!(error.unwrap_err().to_string().contains("no.tokens.weight"));
    assert_eq!(model.evaluate(&rt, |step, model| model.forward(step, &input)?.to_vec())?, scores);
    Ok(())
}
