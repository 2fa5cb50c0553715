use super::*;

numerics!(dropout: ops::codelets::Dropout, ([31, 67], _), (0.25, ops::Philox::new(7)));
