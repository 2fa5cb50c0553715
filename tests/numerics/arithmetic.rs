use super::*;

numerics!(add: ops::codelets::Add, ([31, 67], [31, 67], _), ());
numerics!(sub: ops::codelets::Sub, ([31, 67], [31, 67], _), ());
numerics!(mul: ops::codelets::Mul, ([31, 67], [31, 67], _), ());
numerics!(div: ops::codelets::Div, ([31, 67], [31, 67], _), ());
numerics!(scale: ops::codelets::Scale, ([31, 67], _), (T::from_f64(0.75),));
numerics!(add_value: ops::codelets::AddValue, ([31, 67], _), (T::from_f64(0.75),));
numerics!(axpy: ops::codelets::Axpy, ([31, 67], [31, 67], _), (T::from_f64(0.75),));
numerics!(neg: ops::codelets::Neg, ([31, 67], _), ());
numerics!(abs: ops::codelets::Abs, ([31, 67], _), ());
numerics!(sign: ops::codelets::Sign, ([31, 67], _), ());
numerics!(square: ops::codelets::Square, ([31, 67], _), ());
numerics!(recip: ops::codelets::Recip, ([31, 67], _), ());
numerics!(sqrt: ops::codelets::Sqrt, ([31, 67], _), ());
numerics!(power: ops::codelets::Power, ([31, 67], [31, 67], _), ());
numerics!(power_value: ops::codelets::PowerValue, ([31, 67], _), (T::from_f64(2.5),));
