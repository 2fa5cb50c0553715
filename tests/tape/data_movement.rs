//! Gradients of what only moves or converts values: joins, splits, shapes, types.

use super::*;

#[test]
fn concat_and_split() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let a = arena.from_slice([2, 1], &[1.0_f64, 2.0])?;
    let b = arena.from_slice([2, 2], &[3.0_f64, 4.0, 5.0, 6.0])?;
    let joined = concat_init(&tape, &[&a, &b, &a], 1)?;
    assert_eq!(joined.to_vec()?, [1.0, 3.0, 4.0, 1.0, 2.0, 5.0, 6.0, 2.0]);
    let parts = split_init(&tape, &joined, 1, &[3, 1])?;
    // sum of (first part)^2 + 10 * second part
    let squares = sum_init(&tape, &mul_init(&tape, &parts[0], &parts[0])?)?;
    let loss = add_init(&tape, &squares, &scale_init(&tape, &sum_init(&tape, &parts[1])?, 10.0)?)?;
    let (by_a, by_b) = tape.gradients(&loss, (&a, &b))?;
    assert_eq!(by_a.to_vec()?, [12.0, 14.0]);
    assert_eq!(by_b.to_vec()?, [6.0, 8.0, 10.0, 12.0]);
    Ok(())
}

#[test]
fn a_split_into_more_outputs_than_bits_of_which_few_have_an_effect() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_vec([2, 100], (0..200).map(f64::from).collect())?;
    let parts = split_init(&tape, &x, 1, &[1; 100])?;
    let squares = sum_init(&tape, &mul_init(&tape, &parts[3], &parts[3])?)?;
    let loss = add_init(&tape, &squares, &sum_init(&tape, &parts[97])?)?;
    let mut expected = vec![0.0; 200];
    (expected[3], expected[103], expected[97], expected[197]) = (6.0, 206.0, 1.0, 1.0);
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, expected);
    Ok(())
}

#[test]
fn more_inputs_than_bits() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let inputs = (0..100).map(|i| arena.from_slice([1], &[f64::from(i)])).collect::<Result<Vec<_>>>()?;
    let joined = concat_init(&tape, &inputs.iter().collect::<Vec<_>>(), 0)?;
    let loss = sum_init(&tape, &mul_init(&tape, &joined, &joined)?)?;
    let (first, last) = tape.gradients(&loss, (&inputs[3], &inputs[97]))?;
    assert_eq!((first.to_vec()?, last.to_vec()?), (vec![6.0], vec![194.0]));
    Ok(())
}

#[test]
fn stack_and_reshape() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let a = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let b = arena.from_slice([2], &[3.0_f64, 4.0])?;
    let stacked: Matrix<'_, f64> = stack_init(&tape, &[&a, &b], 1)?; // [[1, 3], [2, 4]]
    let flat = stacked.reshape([4])?;
    let weights = arena.from_slice([4], &[1.0_f64, 10.0, 100.0, 1000.0])?;
    let loss = dot_init(&tape, &flat, &weights)?;
    let (by_a, by_b) = tape.gradients(&loss, (&a, &b))?;
    assert_eq!((by_a.to_vec()?, by_b.to_vec()?), (vec![1.0, 100.0], vec![10.0, 1000.0]));
    Ok(())
}

#[test]
fn a_view_in_another_shape_counts_as_its_array() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2, 2], &[1.0_f64, 2.0, 3.0, 4.0])?;
    let squares = mul_init(&tape, &*x.reshaped([4])?, &*x.reshaped([4])?)?;
    let loss = add_init(&tape, &sum_init(&tape, &squares)?, &sum_init(&tape, &x)?)?;
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [3.0, 5.0, 7.0, 9.0]);
    Ok(())
}

#[test]
fn casts_convert_the_gradient_back() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([3], &[1.0_f32, 2.0, -0.5])?;
    let half: Vector<'_, bf16> = cast_init(&tape, &x)?;
    let squares = mul_init(&tape, &half, &half)?;
    let back: Vector<'_, f32> = cast_init(&tape, &squares)?;
    assert_eq!(tape.gradients(&sum_init(&tape, &back)?, &x)?.to_vec()?, [2.0, 4.0, -1.0]);
    Ok(())
}

#[test]
fn integers_pass_under_a_tape_and_have_no_gradient() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([3], &[1.0_f64, -2.0, 3.0])?;
    let positive = greater_init(&tape, &x, &arena.zeros([3])?)?;
    let mask: Vector<'_, u8> = slice_init(&tape, &positive, 0, 0, 3)?;
    let chosen = select_init(&tape, &mask, &mul_init(&tape, &x, &x)?, &x)?;
    let order = arena.from_slice([3], &[2_u32, 0, 0])?;
    let gathered = gather_rows_init(&tape, &chosen, &order)?;
    assert_eq!(gathered.to_vec()?, [9.0, 1.0, 1.0]);
    assert_eq!(tape.gradients(&sum_init(&tape, &gathered)?, &x)?.to_vec()?, [4.0, 0.0, 6.0]);
    Ok(())
}

/// The second derivatives of the sum of `[x, x^2]^3`, which are `6 x + 30 x^4`, with the join inside of a checkpoint or not.
fn second_gradients_of_a_join(with_checkpoint: bool) -> Result<()> {
    let rt = runtime()?;
    let (arena, outer) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[0.5_f64, 2.0])?;
    let inner = outer.tape();
    let check = |joined: &Vector<'_, f64>| -> Result<()> {
        let cubes = mul_init(&inner, &mul_init(&inner, joined, joined)?, joined)?;
        let by_x = inner.gradients(&sum_init(&inner, &cubes)?, &x)?;
        let again = outer.gradients(&sum_init(&outer, &by_x)?, &x)?;
        assert_eq!(again.to_vec()?, [6.0 * 0.5 + 30.0 * 0.0625, 6.0 * 2.0 + 30.0 * 16.0]);
        Ok(())
    };
    if with_checkpoint {
        check(&inner.checkpoint(|tape| concat_init(tape, &[&x, &mul_init(tape, &x, &x)?], 0))?)
    } else {
        check(&concat_init(&inner, &[&x, &mul_init(&inner, &x, &x)?], 0)?)
    }
}

#[test]
fn second_gradients_through_a_join() -> Result<()> {
    second_gradients_of_a_join(false)
}

#[test]
fn second_gradients_through_a_join_in_a_checkpoint() -> Result<()> {
    second_gradients_of_a_join(true)
}
