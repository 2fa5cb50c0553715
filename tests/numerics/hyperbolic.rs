use super::*;

numerics!(sinh: ops::codelets::Sinh, ([31, 67], _), ());
numerics!(cosh: ops::codelets::Cosh, ([31, 67], _), ());
numerics!(tanh: ops::codelets::Tanh, ([31, 67], _), ());
numerics!(asinh: ops::codelets::Asinh, ([31, 67], _), ());
numerics!(acosh: ops::codelets::Acosh, ([31, 67], _), ());
numerics!(atanh: ops::codelets::Atanh, ([31, 67], _), ());
