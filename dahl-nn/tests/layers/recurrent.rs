//! Recurrent layers: whole batches, sequences of several lengths, and states to begin with.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::layer::{GruCell, LstmCell, Packed, Recurrent, RecurrentCell, RnnCell};
use dahl_nn::prelude::*;

use super::{Check, input};

/// The lengths of the sequences, as in the script.
const LENGTHS: [usize; 3] = [3, 5, 1];

/// The outputs and the last states, in one row: of each state, those of all layers.
fn joined<'s, T: Real>(step: &'s Step<'_>, packed: Packed<'s, T>) -> dahl::Result<Vector<'s, T>> {
    let mut rows = vec![packed.output.flatten()?];
    let mut layers: Vec<_> = packed.states.into_iter().map(Vec::into_iter).collect();
    while let Some(states) = layers.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
        for state in states {
            rows.push(state.flatten()?);
        }
    }
    ops::concat_init(step, &rows.iter().collect::<Vec<_>>(), 0)
}

/// The states that a case begins with, `[states * layers, batch, width]`, as those of each layer.
fn states<'s, T: Real>(
    step: &'s Step<'_>,
    memory: &Parameter<'_, T>,
    count: usize,
) -> dahl::Result<Vec<Vec<Matrix<'s, T>>>> {
    let [all, batch, width] = memory.shape.as_slice().try_into().expect("the rank of states");
    let layers = all / count;
    let parts = ops::split_init(step, &*input::<T, 3>(memory)?, 0, &vec![1; all])?;
    let mut states: Vec<Vec<_>> = (0..layers).map(|_| Vec::new()).collect();
    for (index, part) in parts.into_iter().enumerate() {
        states[index % layers].push(part.reshape([batch, width])?);
    }
    Ok(states)
}

/// The names of the cases of a cell.
struct Names {
    whole: &'static str,
    packed: &'static str,
    from_states: &'static str,
    bidirectional: &'static str,
    bidirectional_from_states: &'static str,
    dropout: &'static str,
    without_bias: &'static str,
}

/// The names of the cases, of which each starts with the cell's.
macro_rules! names {
    ($cell:literal) => {
        Names {
            whole: $cell,
            packed: concat!($cell, "_packed"),
            from_states: concat!($cell, "_from_states"),
            bidirectional: concat!($cell, "_bidirectional"),
            bidirectional_from_states: concat!($cell, "_bidirectional_from_states"),
            dropout: concat!($cell, "_dropout"),
            without_bias: concat!($cell, "_without_bias"),
        }
    };
}

fn one<'m, T: Real, C: RecurrentCell>(init: &mut Init<'m>) -> dahl::Result<Recurrent<'m, T, C>> {
    Recurrent::new(init, 3, 4, 2)
}

fn both<'m, T: Real, C: RecurrentCell>(init: &mut Init<'m>) -> dahl::Result<Recurrent<'m, T, C>> {
    Recurrent::bidirectional(init, 3, 4, 2)
}

fn check<T: Real, C: RecurrentCell>(rt: &Runtime, table: &mut Check<'_>, names: &Names) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    let layer = one::<T, C>(init)?;
    table.check(rt, init, names.whole, layer, |step, model| model.module.forward(step, &*input(&model.x)?));
    let layer = both::<T, C>(init)?.dropout(0.375);
    table.check(rt, init, names.dropout, layer, |step, model| model.module.forward(step, &*input(&model.x)?));
    let plain = one::<T, C>(init)?.without_bias();
    for (name, layer) in
        [(names.packed, one(init)?), (names.bidirectional, both(init)?), (names.without_bias, plain)]
    {
        table.check(rt, init, name, layer, |step, model| {
            joined(step, model.module.forward_packed(step, &*input(&model.x)?, &LENGTHS)?)
        });
    }
    for (name, layer) in
        [(names.from_states, one::<T, C>(init)?), (names.bidirectional_from_states, both(init)?)]
    {
        table.check(rt, init, name, layer, |step, model| {
            let states = states(step, model.memory.as_ref().expect("the case has states"), C::STATES)?;
            joined(step, model.module.forward_from(step, &*input(&model.x)?, &LENGTHS, &states)?)
        });
    }
    Ok(())
}

pub(super) fn all<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    check::<T, RnnCell>(rt, table, &names!("rnn"))?;
    check::<T, LstmCell>(rt, table, &names!("lstm"))?;
    check::<T, GruCell>(rt, table, &names!("gru"))
}

/// A sequence in two parts, the second from the states of the first, has the bits of the whole.
#[test]
fn a_sequence_goes_on_from_its_states() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let lstm = Lstm::<f32>::new(&mut Init::new(&arena, 3), 3, 4, 2)?;
    let values: Vec<f32> = (0..2 * 7 * 3).map(|i| (i as f32 * 0.7).sin()).collect();
    let x = rt.from_vec([2, 7, 3], values)?;
    let step = Step::evaluating(&rt);
    let whole = lstm.forward_packed(&step, &x, &[7, 7])?;
    let parts = ops::split_init(&step, &x, 1, &[4, 3])?;
    let first = lstm.forward_packed(&step, &parts[0], &[4, 4])?;
    let second = lstm.forward_from(&step, &parts[1], &[3, 3], &first.states)?;
    let joined = ops::concat_init(&step, &[&first.output, &second.output], 1)?;
    assert_eq!(joined.to_vec()?, whole.output.to_vec()?);
    for (whole, second) in whole.states.iter().flatten().zip(second.states.iter().flatten()) {
        assert_eq!(whole.to_vec()?, second.to_vec()?);
    }
    Ok(())
}

#[test]
fn lengths_and_states_that_do_not_fit_are_refused() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let lstm = Lstm::<f32>::new(&mut Init::new(&arena, 3), 3, 4, 2)?;
    let (x, step) = (rt.zeros([2, 5, 3])?, Step::evaluating(&rt));
    let error = lstm.forward_packed(&step, &x, &[5, 6]).unwrap_err().to_string();
    assert!(error.contains("[5, 6]"), "{error}");
    assert!(lstm.forward_packed(&step, &x, &[5]).is_err());
    assert!(lstm.forward_packed(&step, &x, &[0, 5]).is_err());
    let state = |shape| rt.zeros::<f32, 2>(shape);
    let of_one_layer = [vec![state([2, 4])?, state([2, 4])?]];
    let error = lstm.forward_from(&step, &x, &[5, 5], &of_one_layer).unwrap_err().to_string();
    assert!(error.contains("each of 2 layers needs 2 of [2, 4]"), "{error}");
    let without_cell = [vec![state([2, 4])?], vec![state([2, 4])?]];
    assert!(lstm.forward_from(&step, &x, &[5, 5], &without_cell).is_err());
    let wide = [vec![state([2, 4])?, state([2, 4])?], vec![state([2, 4])?, state([2, 5])?]];
    assert!(lstm.forward_from(&step, &x, &[5, 5], &wide).is_err());
    Ok(())
}

/// The other direction of a sequence is the same network on the sequence turned around, also where others are longer.
#[test]
fn the_other_direction_reads_each_sequence_from_its_end() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut both = Gru::<f32>::bidirectional(&mut Init::new(&arena, 3), 3, 4, 1)?;
    let mut reverse: Vec<Vec<f32>> = Vec::new();
    both.for_each_parameter(|name, parameter| {
        if name.to_string().ends_with("_reverse") {
            reverse.push(parameter.value.to_vec()?);
        }
        Ok(())
    })?;
    let mut one = Gru::<f32>::new(&mut Init::new(&arena, 5), 3, 4, 1)?;
    let mut reverse = reverse.into_iter();
    one.for_each_parameter(|_, parameter| {
        let values = reverse.next().expect("as many parameters as in one direction");
        parameter.value.write()?.iter_mut().zip(values).for_each(|(to, from)| *to = from);
        Ok(())
    })?;
    let values: Vec<f32> = (0..2 * 5 * 3).map(|i| (i as f32 * 0.7).sin()).collect();
    let x = rt.from_vec([2, 5, 3], values.clone())?;
    let step = Step::evaluating(&rt);
    let packed = both.forward_packed(&step, &x, &[5, 3])?;
    let (output, last) = (packed.output.to_vec()?, packed.states[1][0].to_vec()?);
    for (sequence, tokens) in [(0, 5), (1, 3)] {
        let token = |index: usize| &values[(sequence * 5 + index) * 3..][..3];
        let turned: Vec<f32> = (0..tokens).rev().flat_map(token).copied().collect();
        let alone = one.forward(&step, &rt.from_vec([1, tokens, 3], turned)?)?.to_vec()?;
        for index in 0..tokens {
            let of_both = &output[(sequence * 5 + index) * 8 + 4..][..4];
            assert_eq!(of_both, &alone[(tokens - 1 - index) * 4..][..4], "{sequence}, {index}");
        }
        assert_eq!(&last[sequence * 4..][..4], &alone[(tokens - 1) * 4..], "{sequence}");
    }
    Ok(())
}

#[test]
fn dropout_between_layers_is_for_training_alone() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let lstm = || Lstm::<f32>::new(&mut Init::new(&arena, 3), 3, 4, 2);
    let (plain, dropping) = (lstm()?, lstm()?.dropout(0.5));
    let x = rt.from_vec([2, 4, 3], (0..24).map(|i| (i as f32 * 0.7).sin()).collect())?;
    let mut step = Step::evaluating(&rt).seed(4);
    assert_eq!(dropping.forward(&step, &x)?.to_vec()?, plain.forward(&step, &x)?.to_vec()?);
    step.set_training(true);
    assert_ne!(dropping.forward(&step, &x)?.to_vec()?, plain.forward(&step, &x)?.to_vec()?);
    let one_layer = || Lstm::<f32>::new(&mut Init::new(&arena, 3), 3, 4, 1);
    let dropped = one_layer()?.dropout(0.5).forward(&step, &x)?.to_vec()?;
    assert_eq!(dropped, one_layer()?.forward(&step, &x)?.to_vec()?);
    // Also where nothing would be dropped.
    for plain in [lstm()?, one_layer()?] {
        let (invalid, line) = (plain.dropout(1.0), line!());
        let error = invalid.forward(&step, &x).unwrap_err().to_string();
        let place = format!("{}:{line}", file!());
        assert!(error.contains("Dropout: probability") && error.contains(&place), "{error}");
    }
    Ok(())
}
