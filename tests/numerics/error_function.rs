use super::*;

numerics!(erf: ops::codelets::Erf, ([31, 67], _), ());
