use super::*;

numerics!(segment_sum: ops::codelets::SegmentSum, ([67, 7], below(31, [67]), output([31, 7])), (31,));
numerics!(segment_softmax: ops::codelets::SegmentSoftmax, ([67, 7], below(31, [67]), _), (31,));
numerics!(
    segment_softmax_backward: ops::codelets::SegmentSoftmaxBackward,
    (within(0.0, 1.0, [67, 7]), [67, 7], below(31, [67]), _),
    (31,)
);
