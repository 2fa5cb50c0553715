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

fn check<T: Real, C: RecurrentCell>(
    rt: &Runtime,
    table: &mut Check<'_>,
    [whole, packed, from_states]: [&'static str; 3],
) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    let layer = Recurrent::<T, C>::new(init, 3, 4, 2)?;
    table.check(rt, init, whole, layer, |step, model| model.module.forward(step, &*input(&model.x)?));
    let layer = Recurrent::<T, C>::new(init, 3, 4, 2)?;
    table.check(rt, init, packed, layer, |step, model| {
        joined(step, model.module.forward_packed(step, &*input(&model.x)?, &LENGTHS)?)
    });
    let layer = Recurrent::<T, C>::new(init, 3, 4, 2)?;
    table.check(rt, init, from_states, layer, |step, model| {
        let states = states(step, model.memory.as_ref().expect("the case has states"), C::STATES)?;
        joined(step, model.module.forward_from(step, &*input(&model.x)?, &LENGTHS, &states)?)
    });
    Ok(())
}

pub(super) fn all<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    check::<T, RnnCell>(rt, table, ["rnn", "rnn_packed", "rnn_from_states"])?;
    check::<T, LstmCell>(rt, table, ["lstm", "lstm_packed", "lstm_from_states"])?;
    check::<T, GruCell>(rt, table, ["gru", "gru_packed", "gru_from_states"])
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
