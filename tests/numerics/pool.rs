use super::*;

const GEOMETRY: ops::PoolGeometry<2> = ops::PoolGeometry {
    size: [3, 2],
    stride: [2, 1],
    padding: [1, 1],
    dilation: [1, 2],
    ceil: true,
    count_padding: false,
};

numerics!(max_pool: ops::codelets::MaxPool, ([2, 3, 8, 7], _, _), (GEOMETRY,));
numerics!(
    max_pool_backward: ops::codelets::MaxPoolBackward,
    ([2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7])),
    ([8, 7],)
);
numerics!(
    fractional_max_pool: ops::codelets::FractionalMaxPool,
    ([2, 3, 8, 7], _, _),
    ([3, 2], [3, 4], ops::Philox::new(7))
);
numerics!(avg_pool: ops::codelets::AvgPool, ([2, 3, 8, 7], _), (GEOMETRY,));
numerics!(avg_pool_backward: ops::codelets::AvgPoolBackward, ([2, 3, 5, 7], output([2, 3, 8, 7])), (GEOMETRY,));
numerics!(adaptive_max_pool: ops::codelets::AdaptiveMaxPool, ([2, 3, 8, 7], _, _), ([3, 9],));
numerics!(adaptive_avg_pool: ops::codelets::AdaptiveAvgPool, ([2, 3, 8, 7], _), ([3, 9],));
numerics!(
    adaptive_avg_pool_backward: ops::codelets::AdaptiveAvgPoolBackward,
    ([2, 3, 3, 9], output([2, 3, 8, 7])),
    ([3, 9],)
);
