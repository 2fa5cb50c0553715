use super::*;

// Where a gate is nearly closed, its factor is subnormal: a state that is large would make the rounding of that large too.
numerics!(
    lstm_cell: ops::codelets::LstmCell,
    (within(-30.0, 30.0, [7, 4 * 37]), within(-100.0, 100.0, [7, 37]), _, _),
    ()
);
numerics!(
    gru_cell: ops::codelets::GruCell,
    (
        within(-15.0, 15.0, [7, 3 * 37]),
        within(-15.0, 15.0, [7, 3 * 37]),
        within(-100.0, 100.0, [7, 37]),
        _
    ),
    ()
);
