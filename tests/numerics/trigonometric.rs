use super::*;

numerics!(sin: ops::codelets::Sin, ([31, 67], _), ());
numerics!(cos: ops::codelets::Cos, ([31, 67], _), ());
numerics!(tan: ops::codelets::Tan, ([31, 67], _), ());
numerics!(asin: ops::codelets::Asin, ([31, 67], _), ());
numerics!(acos: ops::codelets::Acos, ([31, 67], _), ());
numerics!(atan: ops::codelets::Atan, ([31, 67], _), ());
numerics!(atan2: ops::codelets::Atan2, ([31, 67], [31, 67], _), ());
