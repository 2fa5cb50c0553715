use super::*;

/// Ten classes, as integers, whose type the codelet does not fix.
pub(super) fn labels() -> Input<u32, 1> {
    let classes = (0..31).map(|sample| f64::from(7 * sample % 10)).collect::<Vec<_>>();
    Describes::<u32>::describe(holding([31], &classes))
}

on_cpu!(bias: bias of ops::codelets::Bias, ([3, 5, 31], [5], _), (1,));
on_cpu!(bias_of_samples: bias of ops::codelets::Bias, ([31, 5], [5], _), (1,));
on_cpu!(bias_backward: bias_backward of ops::codelets::BiasBackward, ([7, 5, 31], _), (1,));
on_cpu!(bias_backward_of_samples: bias_backward of ops::codelets::BiasBackward, ([31, 37], _), (1,));
// In chunks that begin anywhere on the axis; with runs that are whole chunks, and runs that are not; in parts.
on_cpu!(bias_in_chunks: bias of ops::codelets::Bias, ([3, 5, 33], [5], _), (1,));
on_cpu!(bias_of_samples_in_chunks: bias of ops::codelets::Bias, ([31, 3], [3], _), (1,));
on_cpu!(bias_backward_long: bias_backward of ops::codelets::BiasBackward, ([9, 3, 120], _), (1,));
on_cpu!(bias_backward_long_with_gaps: bias_backward of ops::codelets::BiasBackward, ([9, 3, 119], _), (1,));
on_cpu!(bias_backward_in_parts: bias_backward of ops::codelets::BiasBackward, ([69, 8, 121], _), (1,));
on_cpu!(bias_backward_of_samples_in_parts: bias_backward of ops::codelets::BiasBackward, ([1030, 64], _), (1,));
on_cpu!(max_pool2d: max_pool2d of ops::codelets::MaxPool2d, ([2, 3, 8, 7], _, _), (ops::Pool2dGeometry { size: [3, 2], stride: [2, 1], padding: [1, 1] },));
on_cpu!(
    max_pool2d_backward: max_pool2d_backward of ops::codelets::MaxPool2dBackward,
    ([2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7])),
    ()
);
on_cpu!(
    max_pool2d_backward_of_large_planes: max_pool2d_backward of ops::codelets::MaxPool2dBackward,
    ([1, 2, 17, 16], below(300, [1, 2, 17, 16]), output([1, 2, 20, 15])),
    ()
);
on_cpu!(avg_pool2d: avg_pool2d of ops::codelets::AvgPool2d, ([2, 3, 8, 7], _), (ops::Pool2dGeometry { size: [3, 2], stride: [2, 1], padding: [1, 1] },));
on_cpu!(
    avg_pool2d_backward: avg_pool2d_backward of ops::codelets::AvgPool2dBackward,
    ([2, 3, 4, 8], output([2, 3, 8, 7])),
    (ops::Pool2dGeometry { size: [3, 2], stride: [2, 1], padding: [1, 1] },)
);
on_cpu!(softmax: softmax of ops::codelets::Softmax, ([31, 67], _), (1,));
on_cpu!(softmax_side_by_side: softmax of ops::codelets::Softmax, ([2, 67, 33], _), (1,));
on_cpu!(log_softmax: log_softmax of ops::codelets::LogSoftmax, ([67, 31], _), (0,));
on_cpu!(log_softmax_long: log_softmax of ops::codelets::LogSoftmax, ([2, 1031], _), (1,));
on_cpu!(softmax_backward: softmax_backward of ops::codelets::SoftmaxBackward, (within(0.0, 1.0, [31, 7]), [31, 7], _), (1,));
on_cpu!(
    log_softmax_backward: log_softmax_backward of ops::codelets::LogSoftmaxBackward,
    (within(-20.0, 0.0, [31, 7]), [31, 7], _),
    (0,)
);
on_cpu!(cross_entropy: cross_entropy ["u32"] of ops::codelets::CrossEntropy, ([31, 10], labels(), _), (0.25,));
on_cpu!(
    cross_entropy_backward: cross_entropy_backward ["u32"] of ops::codelets::CrossEntropyBackward,
    ([31, 10], labels(), _),
    (0.25,)
);
on_cpu!(count_correct: count_correct ["u32"] of ops::codelets::CountCorrect, ([31, 10], labels(), _), ());
on_cpu!(mean_squared_error: mean_squared_error of ops::codelets::MeanSquaredError, ([5003], [5003], _), (1.0 / 5003.0,));
on_cpu!(mean_absolute_error: mean_absolute_error of ops::codelets::MeanAbsoluteError, ([5003], [5003], _), (1.0 / 5003.0,));
