use dahl::ops::PoolGeometry;

use super::*;

const GEOMETRY: PoolGeometry<2> = PoolGeometry {
    size: [3, 2],
    stride: [2, 1],
    padding: [1, 1],
    dilation: [1, 2],
    ceil: true,
    count_padding: false,
};
const PADDED: PoolGeometry<1> =
    PoolGeometry { size: [4], stride: [3], padding: [2], dilation: [1], ceil: true, count_padding: true };
const OF_VOLUMES: PoolGeometry<3> = PoolGeometry {
    size: [2, 3, 2],
    stride: [1, 2, 2],
    padding: [1, 1, 0],
    dilation: [2, 1, 1],
    ceil: false,
    count_padding: true,
};

on_cpu!(max_pool: max_pool of ops::codelets::MaxPool, ([2, 3, 8, 7], _, _), (GEOMETRY,));
on_cpu!(max_pool_of_volumes: max_pool of ops::codelets::MaxPool, ([2, 2, 5, 6, 7], _, _), (OF_VOLUMES,));
on_cpu!(
    max_pool_backward: max_pool_backward of ops::codelets::MaxPoolBackward,
    ([2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7])),
    ([8, 7],)
);
on_cpu!(
    max_pool_backward_of_large_planes: max_pool_backward of ops::codelets::MaxPoolBackward,
    ([1, 2, 17, 16], below(300, [1, 2, 17, 16]), output([1, 2, 20, 15])),
    ([20, 15],)
);
on_cpu!(avg_pool: avg_pool of ops::codelets::AvgPool, ([2, 3, 8, 7], _), (GEOMETRY,));
on_cpu!(avg_pool_of_signals: avg_pool of ops::codelets::AvgPool, ([3, 2, 31], _), (PADDED,));
on_cpu!(avg_pool_of_volumes: avg_pool of ops::codelets::AvgPool, ([2, 2, 5, 6, 7], _), (OF_VOLUMES,));
on_cpu!(avg_pool_backward: avg_pool_backward of ops::codelets::AvgPoolBackward, ([2, 3, 5, 7], output([2, 3, 8, 7])), (GEOMETRY,));
on_cpu!(
    avg_pool_backward_of_signals: avg_pool_backward of ops::codelets::AvgPoolBackward,
    ([3, 2, 11], output([3, 2, 31])),
    (PADDED,)
);
on_cpu!(
    avg_pool_backward_of_volumes: avg_pool_backward of ops::codelets::AvgPoolBackward,
    ([2, 2, 5, 3, 3], output([2, 2, 5, 6, 7])),
    (OF_VOLUMES,)
);
on_cpu!(adaptive_max_pool: adaptive_max_pool of ops::codelets::AdaptiveMaxPool, ([2, 3, 8, 7], _, _), ([3, 9],));
on_cpu!(adaptive_avg_pool: adaptive_avg_pool of ops::codelets::AdaptiveAvgPool, ([2, 3, 8, 7], _), ([3, 9],));
on_cpu!(adaptive_avg_pool_of_volumes: adaptive_avg_pool of ops::codelets::AdaptiveAvgPool, ([2, 2, 3, 5, 7], _), ([2, 3, 3],));
on_cpu!(
    adaptive_avg_pool_backward: adaptive_avg_pool_backward of ops::codelets::AdaptiveAvgPoolBackward,
    ([2, 3, 3, 9], output([2, 3, 8, 7])),
    ([3, 9],)
);
on_cpu!(
    adaptive_avg_pool_backward_of_signals: adaptive_avg_pool_backward of ops::codelets::AdaptiveAvgPoolBackward,
    ([2, 3, 5], output([2, 3, 13])),
    ([5],)
);
on_cpu!(
    fractional_max_pool: fractional_max_pool of ops::codelets::FractionalMaxPool,
    ([2, 3, 8, 7], _, _),
    ([3, 2], [3, 4], ops::Philox::new(7))
);
on_cpu!(
    fractional_max_pool_of_volumes: fractional_max_pool of ops::codelets::FractionalMaxPool,
    ([2, 2, 5, 6, 7], _, _),
    ([2, 2, 3], [3, 4, 1], ops::Philox::new(3))
);
