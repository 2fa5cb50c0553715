//! Layers that move elements, of windows, and of graphs.

use dahl::ops::{self, PoolGeometry};
use dahl_nn::layer::UpsampleMode;
use dahl_nn::prelude::*;

use super::{check, runtime};

#[test]
fn pooling_padding_and_other_shapes() {
    let rt = runtime();
    let shape = [2, 4, 5, 4];
    let pool = PoolGeometry::new([3, 2]).stride([2, 1]).padding([1, 1]).ceil();
    check(&rt, "max", MaxPool::new(pool.dilation([1, 2])), shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "avg", AvgPool::new(pool), shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "adaptive max", AdaptiveMaxPool::new([2, 3]), shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "adaptive avg", AdaptiveAvgPool::new([2, 3]), shape, |step, layer, x| layer.forward(step, x));
    let fractional = FractionalMaxPool::new([2, 2], [3, 2]).unwrap();
    check(&rt, "fractional", fractional, shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "constant", ConstantPad::new([1, 2], 0.5), shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "reflection", ReflectionPad::new([1, 2]), shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "replication", ReplicationPad::new([1, 2]), shape, |step, layer, x| layer.forward(step, x));
    check(&rt, "circular", CircularPad::new([1, 2]), shape, |step, layer, x| layer.forward(step, x));
    for mode in [UpsampleMode::Nearest, UpsampleMode::Linear, UpsampleMode::LinearAligned] {
        let layer = Upsample::to([7, 6]).mode(mode);
        check(&rt, "upsample", layer, shape, |step, layer, x| layer.forward(step, x));
    }
    check(&rt, "shuffle", PixelShuffle::new(2).unwrap(), shape, |step, layer, x| layer.forward(step, x));
    let unshuffle = PixelUnshuffle::new(2).unwrap();
    check(&rt, "unshuffle", unshuffle, [2, 2, 4, 6], |step, layer, x| layer.forward(step, x));
    check(&rt, "flatten", Flatten, shape, |step, layer, x| layer.forward(ops::copy_init(step, x)?));
    check(&rt, "reshape", Reshape::new([4, -1]), shape, |step, layer, x| {
        layer.forward(ops::copy_init(step, x)?)
    });
}

#[test]
fn graph_layers() {
    let rt = runtime();
    let arena = rt.arena();
    let init = || Init::new(&arena, 8);
    // Node 3 has no edge but the one to itself.
    let graph = Graph::new(&rt, 4, &[[0, 1], [2, 1], [1, 0], [1, 2]]).unwrap();
    let layer = GraphConvolution::new(&mut init(), 3, 2).unwrap();
    check(&rt, "convolution", layer, [4, 3], |step, layer, x| layer.forward(step, &graph, x));
    let layers = [GraphAttention::new(&mut init(), 3, 2, 2), GraphAttention::mean(&mut init(), 3, 2, 3)];
    for layer in layers {
        check(&rt, "attention", layer.unwrap().slope(0.1), [4, 3], |step, layer, x| {
            layer.forward(step, &graph, x)
        });
    }
}
