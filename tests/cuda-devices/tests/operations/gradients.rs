//! Gradients on a device and a CPU worker, with tasks in any place: those of the CPU alone.

use dahl::ops::*;

use super::*;

/// A network with a fused convolution, a product that is used twice, a checkpoint and a loss: its gradients by the filters,
/// the bias and the weights.
fn gradients(rt: &Runtime) -> Result<[Vec<f32>; 3]> {
    let (arena, tape) = (rt.arena(), rt.tape());
    let images = arena.from_slice([2, 1, 8, 8], &numbers::<f32>(128, 1))?;
    let filters = arena.from_slice([3, 1, 3, 3], &numbers::<f32>(27, 5))?;
    let bias = arena.from_slice([3], &[0.5_f32, -0.25, 0.0])?;
    let weights = arena.from_slice([27, 27], &numbers::<f32>(729, 2))?;
    let labels = arena.from_slice([2], &[4_u32, 1])?;
    let geometry = Conv2dPoolGeometry { padding: [0, 0], size: [2, 2] };
    let (pooled, _) = conv2d_relu_max_pool2d_init(&tape, &images, &filters, &bias, geometry)?;
    let rows = scale_init(&tape, &pooled.reshape([2, 27])?, 0.03125)?;
    let hidden = tape.checkpoint(|tape| matmul_init(tape, &matmul_init(tape, &rows, &weights)?, &weights))?;
    let logits = add_init(&tape, &scale_init(&tape, &hidden, 0.03125)?, &rows)?;
    let loss = cross_entropy_init(&tape, &logits, &labels, 0.5)?;
    let (by_filters, by_bias, by_weights) = tape.gradients(&loss, (&filters, &bias, &weights))?;
    Ok([by_filters.to_vec()?, by_bias.to_vec()?, by_weights.to_vec()?])
}

#[test]
fn gradients_do_not_depend_on_where_tasks_run() -> Result<()> {
    let expected = gradients(&Runtime::builder().cpu_workers(1).cuda_devices(0).build()?)?;
    let builder = || Runtime::builder().scheduler("random");
    with_settings("", builder, |rt, _, _| {
        for (actual, expected) in gradients(rt)?.iter().zip(&expected) {
            let largest = expected.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
            for (a, b) in actual.iter().zip(expected) {
                assert!((a - b).abs() <= 1e-5 * largest, "{a} is not {b}");
            }
        }
        assert!(!measured(rt).is_empty(), "tasks ran on the device");
        Ok(())
    });
    Ok(())
}
