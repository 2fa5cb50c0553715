use super::*;
use dahl::testing::below;

numerics!(equal: ops::Equal, ([31, 67], [31, 67], _), ());
numerics!(not_equal: ops::NotEqual, ([31, 67], [31, 67], _), ());
numerics!(less: ops::Less, ([31, 67], [31, 67], _), ());
numerics!(less_equal: ops::LessEqual, ([31, 67], [31, 67], _), ());
numerics!(greater: ops::Greater, ([31, 67], [31, 67], _), ());
numerics!(greater_equal: ops::GreaterEqual, ([31, 67], [31, 67], _), ());
numerics!(select: ops::Select, (below(2, [31, 67]), [31, 67], [31, 67], _), ());
numerics!(select_backward: ops::SelectBackward, (below(2, [31, 67]), [31, 67], _), ());
numerics!(maximum: ops::Maximum, ([31, 67], [31, 67], _), ());
numerics!(maximum_backward: ops::MaximumBackward, ([31, 67], [31, 67], [31, 67], _), ());
numerics!(minimum: ops::Minimum, ([31, 67], [31, 67], _), ());
numerics!(minimum_backward: ops::MinimumBackward, ([31, 67], [31, 67], [31, 67], _), ());
numerics!(clip: ops::Clip, ([31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));
numerics!(clip_backward: ops::ClipBackward, ([31, 67], [31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));
