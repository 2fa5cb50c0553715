//! Every map: the kernel that is generated from the Rust body of its declaration, compared with the reference of the
//! operation, in each element type, on whole arrays and strided parts, with inputs of every distribution.

use cuda_on_cpu::kernel;
use dahl::ops;
use dahl::prelude::*;
use dahl::testing::{Tier, below, compare_kernels, within};

/// The comparison of a map's kernel in one element type.
macro_rules! compare {
    ($element:ident, $test:ident, $kernel:ident, $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {{
        type T = $element;
        let compared = compare_kernels::<T, _, _, _, _>(
            Tier::from_env(),
            stringify!($test),
            $codelet,
            &dahl::__numerics_operands!(T, [] $($operand)*),
            ($($argument,)*),
            kernel(stringify!($kernel), &[stringify!($element)]),
        );
        if let Err(failure) = compared {
            panic!("\n{failure}");
        }
    }};
}

macro_rules! on_cpu {
    ($test:ident: $kernel:ident of $codelet:expr, $operands:tt, $arguments:tt) => {
        #[test]
        fn $test() {
            compare!(f16, $test, $kernel, $codelet, $operands, $arguments);
            compare!(bf16, $test, $kernel, $codelet, $operands, $arguments);
            compare!(f32, $test, $kernel, $codelet, $operands, $arguments);
            compare!(f64, $test, $kernel, $codelet, $operands, $arguments);
        }
    };
}

// activation
on_cpu!(sigmoid: map_sigmoid of ops::codelets::Sigmoid, ([31, 67], _), ());
on_cpu!(sigmoid_backward: map_sigmoid_backward of ops::codelets::SigmoidBackward, (within(0.0, 1.0, [31, 67]), [31, 67], _), ());
on_cpu!(log_sigmoid: map_log_sigmoid of ops::codelets::LogSigmoid, ([31, 67], _), ());
on_cpu!(log_sigmoid_backward: map_log_sigmoid_backward of ops::codelets::LogSigmoidBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(softplus: map_softplus of ops::codelets::Softplus, ([31, 67], _), ());
on_cpu!(softplus_scaled: map_softplus_scaled of ops::codelets::SoftplusScaled, (within(-80.0, 80.0, [31, 67]), _), (0.75, 20.0));
on_cpu!(softplus_scaled_backward: map_softplus_scaled_backward of ops::codelets::SoftplusScaledBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), (0.75, 20.0));
on_cpu!(softplus_backward: map_softplus_backward of ops::codelets::SoftplusBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(silu: map_silu of ops::codelets::Silu, (within(-80.0, 80.0, [31, 67]), _), ());
on_cpu!(silu_backward: map_silu_backward of ops::codelets::SiluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(relu: map_relu of ops::codelets::Relu, ([31, 67], _), ());
on_cpu!(relu_backward: map_relu_backward of ops::codelets::ReluBackward, ([31, 67], [31, 67], _), ());
on_cpu!(leaky_relu: map_leaky_relu of ops::codelets::LeakyRelu, ([31, 67], _), (0.01,));
on_cpu!(elu: map_elu of ops::codelets::Elu, ([31, 67], _), (1.5,));
on_cpu!(prelu: map_prelu of ops::codelets::Prelu, ([31, 67], within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(glu: map_glu of ops::codelets::Glu, ([31, 67], within(-80.0, 80.0, [31, 67]), _), ());
on_cpu!(mish: map_mish of ops::codelets::Mish, (within(-80.0, 80.0, [31, 67]), _), ());
on_cpu!(mish_backward: map_mish_backward of ops::codelets::MishBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(softsign: map_softsign of ops::codelets::Softsign, ([31, 67], _), ());
on_cpu!(softsign_backward: map_softsign_backward of ops::codelets::SoftsignBackward, ([31, 67], within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(tanh_shrink: map_tanh_shrink of ops::codelets::TanhShrink, ([31, 67], _), ());
on_cpu!(tanh_shrink_backward: map_tanh_shrink_backward of ops::codelets::TanhShrinkBackward, ([31, 67], within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(celu: map_celu of ops::codelets::Celu, ([31, 67], _), (1.5,));
on_cpu!(selu: map_selu of ops::codelets::Selu, ([31, 67], _), ());
on_cpu!(gelu: map_gelu of ops::codelets::Gelu, (within(-12.0, 60.0, [31, 67]), _), ());
on_cpu!(gelu_backward: map_gelu_backward of ops::codelets::GeluBackward, (within(-60.0, 60.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(gelu_tanh: map_gelu_tanh of ops::codelets::GeluTanh, ([31, 67], _), ());
on_cpu!(gelu_tanh_backward: map_gelu_tanh_backward of ops::codelets::GeluTanhBackward, (within(-60.0, 60.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());

// arithmetic
on_cpu!(add: map_add of ops::codelets::Add, ([31, 67], [31, 67], _), ());
on_cpu!(sub: map_sub of ops::codelets::Sub, ([31, 67], [31, 67], _), ());
on_cpu!(mul: map_mul of ops::codelets::Mul, ([31, 67], [31, 67], _), ());
on_cpu!(div: map_div of ops::codelets::Div, ([31, 67], [31, 67], _), ());
on_cpu!(scale: map_scale of ops::codelets::Scale, ([31, 67], _), (T::from_f64(0.75),));
on_cpu!(add_value: map_add_value of ops::codelets::AddValue, ([31, 67], _), (T::from_f64(0.75),));
on_cpu!(axpy: map_axpy of ops::codelets::Axpy, ([31, 67], [31, 67], _), (T::from_f64(0.75),));
on_cpu!(neg: map_neg of ops::codelets::Neg, ([31, 67], _), ());
on_cpu!(abs: map_abs of ops::codelets::Abs, ([31, 67], _), ());
on_cpu!(sign: map_sign of ops::codelets::Sign, ([31, 67], _), ());
on_cpu!(square: map_square of ops::codelets::Square, ([31, 67], _), ());
on_cpu!(recip: map_recip of ops::codelets::Recip, ([31, 67], _), ());
on_cpu!(sqrt: map_sqrt of ops::codelets::Sqrt, ([31, 67], _), ());
on_cpu!(power: map_power of ops::codelets::Power, ([31, 67], [31, 67], _), ());
on_cpu!(power_value: map_power_value of ops::codelets::PowerValue, ([31, 67], _), (T::from_f64(2.5),));

// batch_norm
on_cpu!(batch_norm_inference: map_batch_norm_inference of ops::codelets::BatchNormInference, (within(-8.0, 8.0, [31, 67]), within(-2.0, 2.0, [31, 67]), within(-2.0, 2.0, [31, 67]), within(-8.0, 8.0, [31, 67]), within(0.25, 8.0, [31, 67]), _), (T::from_f64(1e-5),));

// comparison
on_cpu!(equal: map_equal of ops::codelets::Equal, ([31, 67], [31, 67], _), ());
on_cpu!(not_equal: map_not_equal of ops::codelets::NotEqual, ([31, 67], [31, 67], _), ());
on_cpu!(less: map_less of ops::codelets::Less, ([31, 67], [31, 67], _), ());
on_cpu!(less_equal: map_less_equal of ops::codelets::LessEqual, ([31, 67], [31, 67], _), ());
on_cpu!(greater: map_greater of ops::codelets::Greater, ([31, 67], [31, 67], _), ());
on_cpu!(greater_equal: map_greater_equal of ops::codelets::GreaterEqual, ([31, 67], [31, 67], _), ());
/// Masks have no element type to choose.
#[test]
fn logical_and() {
    let compared = compare_kernels::<f32, _, _, _, _>(
        Tier::from_env(),
        "logical_and",
        ops::codelets::LogicalAnd,
        &dahl::__numerics_operands!(f32, [] below(3, [31, 67]), below(3, [31, 67]), _),
        (),
        kernel("map_logical_and", &[]),
    );
    if let Err(failure) = compared {
        panic!("\n{failure}");
    }
}

on_cpu!(select: map_select of ops::codelets::Select, (below(2, [31, 67]), [31, 67], [31, 67], _), ());
on_cpu!(maximum: map_maximum of ops::codelets::Maximum, ([31, 67], [31, 67], _), ());
on_cpu!(minimum: map_minimum of ops::codelets::Minimum, ([31, 67], [31, 67], _), ());
on_cpu!(clip: map_clip of ops::codelets::Clip, ([31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));

// error function
on_cpu!(erf: map_erf of ops::codelets::Erf, ([31, 67], _), ());

// exponential
on_cpu!(exp: map_exp of ops::codelets::Exp, ([31, 67], _), ());
on_cpu!(exp2: map_exp2 of ops::codelets::Exp2, ([31, 67], _), ());
on_cpu!(expm1: map_expm1 of ops::codelets::Expm1, ([31, 67], _), ());
on_cpu!(ln: map_ln of ops::codelets::Ln, ([31, 67], _), ());
on_cpu!(log2: map_log2 of ops::codelets::Log2, ([31, 67], _), ());
on_cpu!(log10: map_log10 of ops::codelets::Log10, ([31, 67], _), ());
on_cpu!(log1p: map_log1p of ops::codelets::Log1p, ([31, 67], _), ());

// hard activation
on_cpu!(hard_sigmoid: map_hard_sigmoid of ops::codelets::HardSigmoid, ([31, 67], _), ());
on_cpu!(hard_swish: map_hard_swish of ops::codelets::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
on_cpu!(hard_tanh: map_hard_tanh of ops::codelets::HardTanh, ([31, 67], _), (-0.75, 1.5));
on_cpu!(relu6: map_relu6 of ops::codelets::Relu6, ([31, 67], _), ());
on_cpu!(threshold: map_threshold of ops::codelets::Threshold, ([31, 67], _), (0.25, 3.0));
on_cpu!(hard_shrink: map_hard_shrink of ops::codelets::HardShrink, ([31, 67], _), (T::from_f64(0.5),));
on_cpu!(soft_shrink: map_soft_shrink of ops::codelets::SoftShrink, ([31, 67], _), (T::from_f64(0.5),));

// hyperbolic
on_cpu!(sinh: map_sinh of ops::codelets::Sinh, ([31, 67], _), ());
on_cpu!(cosh: map_cosh of ops::codelets::Cosh, ([31, 67], _), ());
on_cpu!(tanh: map_tanh of ops::codelets::Tanh, ([31, 67], _), ());
on_cpu!(asinh: map_asinh of ops::codelets::Asinh, ([31, 67], _), ());
on_cpu!(acosh: map_acosh of ops::codelets::Acosh, ([31, 67], _), ());
on_cpu!(atanh: map_atanh of ops::codelets::Atanh, ([31, 67], _), ());

// regression
on_cpu!(mean_squared_error_backward: map_mean_squared_error_backward of ops::codelets::MeanSquaredErrorBackward, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), (0.125,));
on_cpu!(mean_absolute_error_backward: map_mean_absolute_error_backward of ops::codelets::MeanAbsoluteErrorBackward, ([31, 67], [31, 67], _), (0.125,));

// rounding
on_cpu!(round: map_round of ops::codelets::Round, ([31, 67], _), ());
on_cpu!(floor: map_floor of ops::codelets::Floor, ([31, 67], _), ());
on_cpu!(ceil: map_ceil of ops::codelets::Ceil, ([31, 67], _), ());
on_cpu!(trunc: map_trunc of ops::codelets::Trunc, ([31, 67], _), ());

// trigonometric
on_cpu!(sin: map_sin of ops::codelets::Sin, ([31, 67], _), ());
on_cpu!(cos: map_cos of ops::codelets::Cos, ([31, 67], _), ());
on_cpu!(tan: map_tan of ops::codelets::Tan, ([31, 67], _), ());
on_cpu!(asin: map_asin of ops::codelets::Asin, ([31, 67], _), ());
on_cpu!(acos: map_acos of ops::codelets::Acos, ([31, 67], _), ());
on_cpu!(atan: map_atan of ops::codelets::Atan, ([31, 67], _), ());
on_cpu!(atan2: map_atan2 of ops::codelets::Atan2, ([31, 67], [31, 67], _), ());
