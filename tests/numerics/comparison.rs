use super::*;
use dahl::testing::below;

numerics!(equal: ops::codelets::Equal, ([31, 67], [31, 67], _), ());
numerics!(not_equal: ops::codelets::NotEqual, ([31, 67], [31, 67], _), ());
numerics!(less: ops::codelets::Less, ([31, 67], [31, 67], _), ());
numerics!(less_equal: ops::codelets::LessEqual, ([31, 67], [31, 67], _), ());
numerics!(greater: ops::codelets::Greater, ([31, 67], [31, 67], _), ());
numerics!(greater_equal: ops::codelets::GreaterEqual, ([31, 67], [31, 67], _), ());
numerics!(logical_and: ops::codelets::LogicalAnd, (below(3, [31, 67]), below(3, [31, 67]), _), ());
numerics!(select: ops::codelets::Select, (below(2, [31, 67]), [31, 67], [31, 67], _), ());
numerics!(maximum: ops::codelets::Maximum, ([31, 67], [31, 67], _), ());
numerics!(minimum: ops::codelets::Minimum, ([31, 67], [31, 67], _), ());
numerics!(clip: ops::codelets::Clip, ([31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));
