use super::*;

numerics!(matmul: ops::Matmul, ([31, 67], [67, 13], _), (false, false));
numerics!(matmul_of_transposes: ops::Matmul, ([67, 31], [13, 67], _), (true, true));
numerics!(matmul_add: ops::MatmulAdd, ([31, 67], [13, 67], _), (false, true));
numerics!(matvec: ops::Matvec, ([31, 67], [67], _), (false,));
numerics!(outer: ops::Outer, ([31], [67], _), ());
numerics!(dot: ops::Dot, ([31, 67], [31, 67], _), ());
