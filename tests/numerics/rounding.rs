use super::*;

numerics!(round: ops::codelets::Round, ([31, 67], _), ());
numerics!(floor: ops::codelets::Floor, ([31, 67], _), ());
numerics!(ceil: ops::codelets::Ceil, ([31, 67], _), ());
numerics!(trunc: ops::codelets::Trunc, ([31, 67], _), ());
