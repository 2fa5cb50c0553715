use super::*;

numerics!(softmax: ops::codelets::Softmax, ([31, 67], _), (1,));
numerics!(log_softmax: ops::codelets::LogSoftmax, ([67, 31], _), (0,));
numerics!(softmax_backward: ops::codelets::SoftmaxBackward, (within(0.0, 1.0, [31, 7]), [31, 7], _), (1,));
numerics!(log_softmax_backward: ops::codelets::LogSoftmaxBackward, (within(-20.0, 0.0, [31, 7]), [31, 7], _), (0,));
