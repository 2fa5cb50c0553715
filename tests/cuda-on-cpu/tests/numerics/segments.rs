use super::*;

on_cpu!(segment_sum: segment_sum of ops::codelets::SegmentSum, ([67, 7], below(31, [67]), output([31, 7])), (31,));
// More columns than a warp has threads.
on_cpu!(segment_sum_of_wide_rows: segment_sum of ops::codelets::SegmentSum, ([35, 5, 9], below(4, [35]), output([4, 5, 9])), (4,));
on_cpu!(segment_softmax: segment_softmax of ops::codelets::SegmentSoftmax, ([67, 7], below(31, [67]), _), (31,));
on_cpu!(
    segment_softmax_backward: segment_softmax_backward of ops::codelets::SegmentSoftmaxBackward,
    (within(0.0, 1.0, [67, 7]), [67, 7], below(31, [67]), _),
    (31,)
);
// Down adjacent lanes, and along each.
on_cpu!(cumulative_sum_side_by_side: cumulative_sum of ops::codelets::CumulativeSum, ([3, 67, 33], _), (1,));
on_cpu!(cumulative_sum: cumulative_sum of ops::codelets::CumulativeSum, ([3, 67, 5], _), (1,));
on_cpu!(cumulative_sum_of_rows: cumulative_sum of ops::codelets::CumulativeSum, ([7, 67], _), (1,));
on_cpu!(cumulative_sum_backward: cumulative_sum_backward of ops::codelets::CumulativeSumBackward, ([3, 67, 5], _), (1,));
on_cpu!(
    cumulative_sum_backward_side_by_side: cumulative_sum_backward of ops::codelets::CumulativeSumBackward,
    ([2, 31, 40], _),
    (1,)
);
