//! [`RecurrentCell`]: what a recurrent layer computes of a token.

use dahl::ops;
use dahl::prelude::*;

use crate::step::Step;

mod sealed {
    /// Implemented by the cells of this crate.
    pub trait Sealed {}
    impl Sealed for super::RnnCell {}
    impl Sealed for super::LstmCell {}
    impl Sealed for super::GruCell {}
}

/// What a recurrent layer computes of a token.
pub trait RecurrentCell: sealed::Sealed {
    /// The type's name in tables.
    const NAME: &'static str;
    /// The gates, each as wide as the state.
    const GATES: usize;
    /// The states; the first is the output.
    const STATES: usize;

    /// The next states, from the sums that the input and the state add to the gates, `[batch, gates * width]`.
    ///
    /// # Errors
    /// Those of the operations.
    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        states: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>>;
}

/// `tanh(input + hidden)`.
#[derive(Clone, Copy, Debug)]
pub enum RnnCell {}

/// [`dahl::ops::lstm_cell`].
#[derive(Clone, Copy, Debug)]
pub enum LstmCell {}

/// [`dahl::ops::gru_cell`].
#[derive(Clone, Copy, Debug)]
pub enum GruCell {}

impl RecurrentCell for RnnCell {
    const NAME: &'static str = "Rnn";
    const GATES: usize = 1;
    const STATES: usize = 1;

    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        _: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>> {
        Ok(vec![ops::tanh_init(step, &ops::add_init(step, input, hidden)?)?])
    }
}

impl RecurrentCell for LstmCell {
    const NAME: &'static str = "Lstm";
    const GATES: usize = 4;
    const STATES: usize = 2;

    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        states: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>> {
        let gates = ops::add_init(step, input, hidden)?;
        let (hidden, cell) = ops::lstm_cell_init(step, &gates, &states[1])?;
        Ok(vec![hidden, cell])
    }
}

impl RecurrentCell for GruCell {
    const NAME: &'static str = "Gru";
    const GATES: usize = 3;
    const STATES: usize = 1;

    fn next<'s, T: Real>(
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        hidden: &Matrix<'_, T>,
        states: &[Matrix<'s, T>],
    ) -> dahl::Result<Vec<Matrix<'s, T>>> {
        Ok(vec![ops::gru_cell_init(step, input, hidden, &states[0])?])
    }
}
