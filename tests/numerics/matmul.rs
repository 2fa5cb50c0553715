use super::*;

numerics!(matmul: ops::codelets::Matmul, ([31, 67], [67, 13], _), (ops::Transposed::NEITHER,));
numerics!(matmul_of_transposes: ops::codelets::Matmul, ([67, 31], [13, 67], _), (ops::Transposed::BOTH,));
numerics!(matmul_of_few_rows: ops::codelets::Matmul, ([3, 40], [40, 71], _), (ops::Transposed::NEITHER,));
numerics!(matmul_of_few_rows_and_transposed: ops::codelets::Matmul, ([5, 83], [23, 83], _), (ops::Transposed::RIGHT,));
numerics!(matmul_add: ops::codelets::MatmulAdd, ([31, 67], [13, 67], _), (ops::Transposed::RIGHT,));
numerics!(matmul_batched: ops::codelets::MatmulBatched, ([3, 31, 67], [3, 67, 13], _), (ops::Transposed::NEITHER,));
numerics!(matmul_batched_of_transposes: ops::codelets::MatmulBatched, ([3, 67, 31], [3, 13, 67], _), (ops::Transposed::BOTH,));
numerics!(matvec: ops::codelets::Matvec, ([31, 67], [67], _), (false,));
numerics!(outer: ops::codelets::Outer, ([31], [67], _), ());
numerics!(dot: ops::codelets::Dot, ([31, 67], [31, 67], _), ());
