use super::*;

numerics!(huber: ops::codelets::Huber, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), (0.75,));
numerics!(smooth_l1: ops::codelets::SmoothL1, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), (0.75,));
