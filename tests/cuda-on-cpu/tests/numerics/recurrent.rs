use super::*;

on_cpu!(
    lstm_cell: lstm_cell of ops::codelets::LstmCell,
    (within(-30.0, 30.0, [7, 4 * 37]), within(-100.0, 100.0, [7, 37]), _, _),
    ()
);
on_cpu!(
    gru_cell: gru_cell of ops::codelets::GruCell,
    (within(-15.0, 15.0, [7, 3 * 37]), within(-15.0, 15.0, [7, 3 * 37]), within(-100.0, 100.0, [7, 37]), _),
    ()
);
