use super::*;

const POSITIONS: ops::RotaryPositions = ops::RotaryPositions { base: 100.0, offset: 5 };

// An infinity times a sine that is nearly 0 is infinite, but one times 0 is NaN.
numerics!(rotary: ops::codelets::Rotary, (within(-1e4, 1e4, [3, 31, 14]), _), (POSITIONS,));
numerics!(rotary_backward: ops::codelets::RotaryBackward, (within(-1e4, 1e4, [3, 31, 14]), _), (POSITIONS,));
