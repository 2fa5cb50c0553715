//! Every map: the kernel that is written from the Rust of its declaration, against the reference of the operation, in each
//! element type, whole arrays and strided parts, inputs of every distribution.

use cuda_on_cpu::kernel;
use dahl::ops;
use dahl::prelude::*;
use dahl::testing::{below, compare_kernels, within};

/// The comparison of a map's kernel in one element type.
macro_rules! compare {
    ($element:ident, $test:ident, $kernel:ident, $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {{
        type T = $element;
        let compared = compare_kernels::<T, _, _, _, _>(
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
on_cpu!(sigmoid: map_sigmoid of ops::Sigmoid, ([31, 67], _), ());
on_cpu!(sigmoid_backward: map_sigmoid_backward of ops::SigmoidBackward, (within(0.0, 1.0, [31, 67]), [31, 67], _), ());
on_cpu!(log_sigmoid: map_log_sigmoid of ops::LogSigmoid, ([31, 67], _), ());
on_cpu!(log_sigmoid_backward: map_log_sigmoid_backward of ops::LogSigmoidBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(softplus: map_softplus of ops::Softplus, ([31, 67], _), ());
on_cpu!(softplus_backward: map_softplus_backward of ops::SoftplusBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(silu: map_silu of ops::Silu, (within(-80.0, 80.0, [31, 67]), _), ());
on_cpu!(silu_backward: map_silu_backward of ops::SiluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(relu: map_relu of ops::Relu, ([31, 67], _), ());
on_cpu!(relu_backward: map_relu_backward of ops::ReluBackward, ([31, 67], [31, 67], _), ());
on_cpu!(leaky_relu: map_leaky_relu of ops::LeakyRelu, ([31, 67], _), (T::from_f64(0.01),));
on_cpu!(leaky_relu_backward: map_leaky_relu_backward of ops::LeakyReluBackward, ([31, 67], [31, 67], _), (T::from_f64(0.01),));
on_cpu!(elu: map_elu of ops::Elu, ([31, 67], _), (T::from_f64(1.5),));
on_cpu!(elu_backward: map_elu_backward of ops::EluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), (T::from_f64(1.5),));
on_cpu!(selu: map_selu of ops::Selu, ([31, 67], _), ());
on_cpu!(selu_backward: map_selu_backward of ops::SeluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(gelu: map_gelu of ops::Gelu, (within(-12.0, 60.0, [31, 67]), _), ());
on_cpu!(gelu_backward: map_gelu_backward of ops::GeluBackward, (within(-60.0, 60.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(gelu_tanh: map_gelu_tanh of ops::GeluTanh, ([31, 67], _), ());
on_cpu!(gelu_tanh_backward: map_gelu_tanh_backward of ops::GeluTanhBackward, (within(-60.0, 60.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());

// arithmetic
on_cpu!(add: map_add of ops::Add, ([31, 67], [31, 67], _), ());
on_cpu!(sub: map_sub of ops::Sub, ([31, 67], [31, 67], _), ());
on_cpu!(mul: map_mul of ops::Mul, ([31, 67], [31, 67], _), ());
on_cpu!(div: map_div of ops::Div, ([31, 67], [31, 67], _), ());
on_cpu!(scale: map_scale of ops::Scale, ([31, 67], _), (T::from_f64(0.75),));
on_cpu!(add_value: map_add_value of ops::AddValue, ([31, 67], _), (T::from_f64(0.75),));
on_cpu!(axpy: map_axpy of ops::Axpy, ([31, 67], [31, 67], _), (T::from_f64(0.75),));
on_cpu!(neg: map_neg of ops::Neg, ([31, 67], _), ());
on_cpu!(abs: map_abs of ops::Abs, ([31, 67], _), ());
on_cpu!(abs_backward: map_abs_backward of ops::AbsBackward, ([31, 67], [31, 67], _), ());
on_cpu!(sign: map_sign of ops::Sign, ([31, 67], _), ());
on_cpu!(square: map_square of ops::Square, ([31, 67], _), ());
on_cpu!(square_backward: map_square_backward of ops::SquareBackward, ([31, 67], [31, 67], _), ());
on_cpu!(recip: map_recip of ops::Recip, ([31, 67], _), ());
on_cpu!(recip_backward: map_recip_backward of ops::RecipBackward, (within(-1000.0, 1000.0, [31, 67]), within(-1000.0, 1000.0, [31, 67]), _), ());
on_cpu!(sqrt: map_sqrt of ops::Sqrt, ([31, 67], _), ());
on_cpu!(sqrt_backward: map_sqrt_backward of ops::SqrtBackward, (within(0.0, 200.0, [31, 67]), [31, 67], _), ());
on_cpu!(power: map_power of ops::Power, ([31, 67], [31, 67], _), ());
on_cpu!(power_backward_base: map_power_backward_base of ops::PowerBackwardBase, (within(0.2, 4.0, [31, 67]), within(-3.0, 3.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(power_backward_exponent: map_power_backward_exponent of ops::PowerBackwardExponent, (within(0.0, 100.0, [31, 67]), within(0.2, 4.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(power_value: map_power_value of ops::PowerValue, ([31, 67], _), (T::from_f64(2.5),));
on_cpu!(power_value_backward: map_power_value_backward of ops::PowerValueBackward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), (T::from_f64(3.0),));

// comparison
on_cpu!(equal: map_equal of ops::Equal, ([31, 67], [31, 67], _), ());
on_cpu!(not_equal: map_not_equal of ops::NotEqual, ([31, 67], [31, 67], _), ());
on_cpu!(less: map_less of ops::Less, ([31, 67], [31, 67], _), ());
on_cpu!(less_equal: map_less_equal of ops::LessEqual, ([31, 67], [31, 67], _), ());
on_cpu!(greater: map_greater of ops::Greater, ([31, 67], [31, 67], _), ());
on_cpu!(greater_equal: map_greater_equal of ops::GreaterEqual, ([31, 67], [31, 67], _), ());
on_cpu!(select: map_select of ops::Select, (below(2, [31, 67]), [31, 67], [31, 67], _), ());
on_cpu!(select_backward: map_select_backward of ops::SelectBackward, (below(2, [31, 67]), [31, 67], _), ());
on_cpu!(maximum: map_maximum of ops::Maximum, ([31, 67], [31, 67], _), ());
on_cpu!(maximum_backward: map_maximum_backward of ops::MaximumBackward, ([31, 67], [31, 67], [31, 67], _), ());
on_cpu!(minimum: map_minimum of ops::Minimum, ([31, 67], [31, 67], _), ());
on_cpu!(minimum_backward: map_minimum_backward of ops::MinimumBackward, ([31, 67], [31, 67], [31, 67], _), ());
on_cpu!(clip: map_clip of ops::Clip, ([31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));
on_cpu!(clip_backward: map_clip_backward of ops::ClipBackward, ([31, 67], [31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));

// error function
on_cpu!(erf: map_erf of ops::Erf, ([31, 67], _), ());
on_cpu!(erf_backward: map_erf_backward of ops::ErfBackward, (within(-8.0, 8.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());

// exponential
on_cpu!(exp: map_exp of ops::Exp, ([31, 67], _), ());
on_cpu!(exp_backward: map_exp_backward of ops::ExpBackward, ([31, 67], [31, 67], _), ());
on_cpu!(exp2: map_exp2 of ops::Exp2, ([31, 67], _), ());
on_cpu!(exp2_backward: map_exp2_backward of ops::Exp2Backward, (within(0.0, 1000.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(expm1: map_expm1 of ops::Expm1, ([31, 67], _), ());
on_cpu!(expm1_backward: map_expm1_backward of ops::Expm1Backward, (within(-80.0, 10.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(ln: map_ln of ops::Ln, ([31, 67], _), ());
on_cpu!(ln_backward: map_ln_backward of ops::LnBackward, ([31, 67], [31, 67], _), ());
on_cpu!(log2: map_log2 of ops::Log2, ([31, 67], _), ());
on_cpu!(log2_backward: map_log2_backward of ops::Log2Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(log10: map_log10 of ops::Log10, ([31, 67], _), ());
on_cpu!(log10_backward: map_log10_backward of ops::Log10Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(log1p: map_log1p of ops::Log1p, ([31, 67], _), ());
on_cpu!(log1p_backward: map_log1p_backward of ops::Log1pBackward, ([31, 67], [31, 67], _), ());

// hard activation
on_cpu!(hard_sigmoid: map_hard_sigmoid of ops::HardSigmoid, ([31, 67], _), ());
on_cpu!(hard_sigmoid_backward: map_hard_sigmoid_backward of ops::HardSigmoidBackward, (within(-4.0, 4.0, [31, 67]), [31, 67], _), ());
on_cpu!(hard_swish: map_hard_swish of ops::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
on_cpu!(hard_swish_backward: map_hard_swish_backward of ops::HardSwishBackward, (within(-4.0, 4.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(hard_tanh: map_hard_tanh of ops::HardTanh, ([31, 67], _), ());
on_cpu!(hard_tanh_backward: map_hard_tanh_backward of ops::HardTanhBackward, ([31, 67], [31, 67], _), ());

// hyperbolic
on_cpu!(sinh: map_sinh of ops::Sinh, ([31, 67], _), ());
on_cpu!(sinh_backward: map_sinh_backward of ops::SinhBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(cosh: map_cosh of ops::Cosh, ([31, 67], _), ());
on_cpu!(cosh_backward: map_cosh_backward of ops::CoshBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(tanh: map_tanh of ops::Tanh, ([31, 67], _), ());
on_cpu!(tanh_backward: map_tanh_backward of ops::TanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());
on_cpu!(asinh: map_asinh of ops::Asinh, ([31, 67], _), ());
on_cpu!(asinh_backward: map_asinh_backward of ops::AsinhBackward, ([31, 67], [31, 67], _), ());
on_cpu!(acosh: map_acosh of ops::Acosh, ([31, 67], _), ());
on_cpu!(acosh_backward: map_acosh_backward of ops::AcoshBackward, ([31, 67], [31, 67], _), ());
on_cpu!(atanh: map_atanh of ops::Atanh, ([31, 67], _), ());
on_cpu!(atanh_backward: map_atanh_backward of ops::AtanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());

// regression
on_cpu!(mean_squared_error_backward: map_mean_squared_error_backward of ops::MeanSquaredErrorBackward, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), (0.125,));
on_cpu!(mean_absolute_error_backward: map_mean_absolute_error_backward of ops::MeanAbsoluteErrorBackward, ([31, 67], [31, 67], _), (0.125,));

// rounding
on_cpu!(round: map_round of ops::Round, ([31, 67], _), ());
on_cpu!(floor: map_floor of ops::Floor, ([31, 67], _), ());
on_cpu!(ceil: map_ceil of ops::Ceil, ([31, 67], _), ());
on_cpu!(trunc: map_trunc of ops::Trunc, ([31, 67], _), ());

// trigonometric
on_cpu!(sin: map_sin of ops::Sin, ([31, 67], _), ());
on_cpu!(sin_backward: map_sin_backward of ops::SinBackward, ([31, 67], [31, 67], _), ());
on_cpu!(cos: map_cos of ops::Cos, ([31, 67], _), ());
on_cpu!(cos_backward: map_cos_backward of ops::CosBackward, ([31, 67], [31, 67], _), ());
on_cpu!(tan: map_tan of ops::Tan, ([31, 67], _), ());
on_cpu!(tan_backward: map_tan_backward of ops::TanBackward, (within(-1000.0, 1000.0, [31, 67]), [31, 67], _), ());
on_cpu!(asin: map_asin of ops::Asin, ([31, 67], _), ());
on_cpu!(asin_backward: map_asin_backward of ops::AsinBackward, ([31, 67], [31, 67], _), ());
on_cpu!(acos: map_acos of ops::Acos, ([31, 67], _), ());
on_cpu!(acos_backward: map_acos_backward of ops::AcosBackward, ([31, 67], [31, 67], _), ());
on_cpu!(atan: map_atan of ops::Atan, ([31, 67], _), ());
on_cpu!(atan_backward: map_atan_backward of ops::AtanBackward, ([31, 67], [31, 67], _), ());
on_cpu!(atan2: map_atan2 of ops::Atan2, ([31, 67], [31, 67], _), ());
on_cpu!(atan2_backward_y: map_atan2_backward_y of ops::Atan2BackwardY, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(atan2_backward_x: map_atan2_backward_x of ops::Atan2BackwardX, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
