use super::*;

numerics!(add: ops::Add, ([31, 67], [31, 67], _), ());
numerics!(axpy: ops::Axpy, ([31, 67], [31, 67], _), (T::from_f64(0.75),));
numerics!(exp: ops::Exp, ([31, 67], _), ());
