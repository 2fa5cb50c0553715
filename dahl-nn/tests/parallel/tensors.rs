//! Tensor parallel layers have the same bits for any number of ranks, and the values of whole layers.

use dahl::ops::{
    AttentionGeometry, Heads, attention_init, gelu_init, mean_squared_error_init, merge_heads_init,
    relu_init, split_heads_init,
};
use dahl::prelude::*;
use dahl_nn::layer::{ColumnLinear, RowLinear, on_parts};
use dahl_nn::prelude::*;

use crate::models::{Bits, alone, on_ranks};

const PARTS: usize = 4;
const HEADS: usize = 8;
const TOKENS: usize = 3;
const WIDTH: usize = 16;

/// A block of a transformer: attention, whose heads are in parts, then two dense layers.
#[derive(Module)]
struct Block<'m, T: Real> {
    projections: ColumnLinear<'m, T>,
    joined: RowLinear<'m, T>,
    wide: ColumnLinear<'m, T>,
    narrow: RowLinear<'m, T>,
    output: Linear<'m, T>,
}

impl<'m, T: Real> Block<'m, T> {
    fn new(init: &mut Init<'m>, parts: usize) -> dahl::Result<Self> {
        Ok(Self {
            projections: ColumnLinear::new(init, WIDTH, 3 * WIDTH, parts)?,
            joined: RowLinear::new(init, WIDTH, WIDTH, parts)?,
            wide: ColumnLinear::new(init, WIDTH, 2 * WIDTH, parts)?,
            narrow: RowLinear::new(init, 2 * WIDTH, WIDTH, parts)?,
            output: Linear::new(init, TOKENS * WIDTH, 3)?,
        })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let batch = x.shape()[0];
        let tokens = x.reshaped([batch, TOKENS, WIDTH])?;
        let projected = self.projections.forward(step, &*tokens)?;
        let heads = Heads::new(HEADS / projected.len());
        let attended = on_parts(step, &projected, |_, part| {
            let (query, key, value) = split_heads_init(step, part, heads)?;
            let geometry = AttentionGeometry::new(0.7).causal();
            let (out, _) = attention_init(step, &query, &key, &value, geometry)?;
            merge_heads_init(step, &out)
        })?;
        let attended = self.joined.forward(step, &attended)?;
        let wide = self.wide.forward(step, &attended)?;
        let wide = on_parts(step, &wide, |_, part| gelu_init(step, part))?;
        let narrow = self.narrow.forward(step, &wide)?;
        self.output.forward(step, &narrow.reshape([batch, TOKENS * WIDTH])?)
    }
}

fn train<T: Real>(rt: &Runtime, parallel: Option<usize>) -> dahl::Result<Bits> {
    let arena = rt.arena();
    let mut model = Block::<T>::new(&mut Init::new(&arena, 5), PARTS)?;
    let data = Synthetic::new(&[TOKENS * WIDTH], 3, 36, 1);
    let mut trainer =
        Trainer::of(rt, &mut model, AdamW::new(3e-3)).batch_size(12).micro_batch_size(6).epochs(2);
    if let Some(shards) = parallel {
        trainer = trainer.parallel(Parallel::data(shards));
    }
    let history = trainer.fit_with(&data, |step, model, part| {
        CrossEntropy.mean(step, &model.forward(step, &part.features)?, &part.labels)
    })?;
    Bits::of(&history, &model)
}

#[test]
fn a_block_of_a_transformer_has_the_same_bits_for_any_number_of_ranks() {
    let expected = alone(|rt| train::<f32>(rt, None));
    assert!(expected.loss(1) < expected.loss(0), "it learns");
    for ranks in [1, 2, 3, 4, 7] {
        assert_eq!(
            on_ranks(ranks, 1, |rt| train::<f32>(rt, None)).expect("no rank fails"),
            expected,
            "{ranks} ranks"
        );
    }
    let expected = alone(|rt| train::<f64>(rt, Some(2)));
    assert_eq!(
        on_ranks(3, 2, |rt| train::<f64>(rt, Some(2))).expect("no rank fails"),
        expected,
        "with shards"
    );
}

/// Both layers with the weights of whole ones, against these.
#[test]
fn parts_have_the_values_of_a_whole_layer() {
    let outputs = |rt: &Runtime| -> dahl::Result<[Vec<f64>; 2]> {
        let arena = rt.arena();
        let mut init = Init::new(&arena, 3);
        let (first, second) = (Linear::<f64>::new(&mut init, 5, 12)?, Linear::<f64>::new(&mut init, 12, 2)?);
        let mut columns = ColumnLinear::<f64>::new(&mut init, 5, 12, 3)?;
        let mut rows = RowLinear::<f64>::new(&mut init, 12, 2, 3)?;
        let (weight, bias) =
            (first.weight.value.to_vec()?, first.bias.as_ref().expect("it has one").value.to_vec()?);
        let second_weight = second.weight.value.to_vec()?;
        for part in 0..3 {
            let range = part * 4..part * 4 + 4;
            let column = &mut columns.parts[part];
            let of_part = &weight[range.start * 5..range.end * 5];
            column.weight.value.write()?.iter_mut().zip(of_part).for_each(|(new, old)| *new = *old);
            let own = &mut column.bias.as_mut().expect("it has one").value;
            own.write()?.iter_mut().zip(&bias[range.clone()]).for_each(|(new, old)| *new = *old);
            let of_part =
                (0..2).flat_map(|output| &second_weight[output * 12 + range.start..output * 12 + range.end]);
            rows.parts[part].weight.value.write()?.iter_mut().zip(of_part).for_each(|(new, old)| *new = *old);
        }
        let of_rows = second.bias.as_ref().expect("it has one").value.to_vec()?;
        rows.bias.value.write()?.iter_mut().zip(&of_rows).for_each(|(new, old)| *new = *old);
        let x = rt.from_vec([7, 5], (0..35).map(|i| f64::from(i % 11) - 5.0).collect())?;
        let step = Step::evaluating(rt);
        let whole = second.forward(&step, &relu_init(&step, &first.forward(&step, &x)?)?)?;
        let hidden = on_parts(&step, &columns.forward(&step, &x)?, |_, part| relu_init(&step, part))?;
        let in_parts = rows.forward(&step, &hidden)?;
        let distance = mean_squared_error_init(&step, &whole, &in_parts, 1.0)?;
        assert!(distance.to_vec()?[0] < 1e-24);
        Ok([whole.to_vec()?, in_parts.to_vec()?])
    };
    let [whole, in_parts] = on_ranks(2, 1, outputs).expect("no rank fails");
    assert_eq!(whole.len(), 14);
    assert!(whole.iter().zip(&in_parts).all(|(whole, part)| (whole - part).abs() < 1e-12));
}

#[test]
fn parts_divide_the_features() {
    let message = alone(|rt| {
        let arena = rt.arena();
        let refused = ColumnLinear::<f32>::new(&mut Init::new(&arena, 1), 4, 10, 3).map(drop);
        Ok(refused.expect_err("3 does not divide 10").to_string())
    });
    assert!(message.contains("3 of 10"), "{message}");
}

#[test]
fn a_layer_without_parts_is_refused() {
    let message = alone(|rt| {
        let arena = rt.arena();
        let mut rows = RowLinear::<f32>::new(&mut Init::new(&arena, 1), 4, 2, 2)?;
        rows.parts.clear();
        let inputs: [Matrix<'_, f32>; 0] = [];
        let refused = rows.forward(&Step::evaluating(rt), &inputs).map(drop);
        Ok(refused.expect_err("it has no parts").to_string())
    });
    assert!(message.contains("0 parts"), "{message}");
}
