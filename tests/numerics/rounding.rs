use super::*;

numerics!(round: ops::Round, ([31, 67], _), ());
numerics!(floor: ops::Floor, ([31, 67], _), ());
numerics!(ceil: ops::Ceil, ([31, 67], _), ());
numerics!(trunc: ops::Trunc, ([31, 67], _), ());
