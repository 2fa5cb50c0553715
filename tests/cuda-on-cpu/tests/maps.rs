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
on_cpu!(softplus_backward: map_softplus_backward of ops::codelets::SoftplusBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(silu: map_silu of ops::codelets::Silu, (within(-80.0, 80.0, [31, 67]), _), ());
on_cpu!(silu_backward: map_silu_backward of ops::codelets::SiluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(relu: map_relu of ops::codelets::Relu, ([31, 67], _), ());
on_cpu!(relu_backward: map_relu_backward of ops::codelets::ReluBackward, ([31, 67], [31, 67], _), ());
on_cpu!(leaky_relu: map_leaky_relu of ops::codelets::LeakyRelu, ([31, 67], _), (T::from_f64(0.01),));
on_cpu!(leaky_relu_backward: map_leaky_relu_backward of ops::codelets::LeakyReluBackward, ([31, 67], [31, 67], _), (T::from_f64(0.01),));
on_cpu!(elu: map_elu of ops::codelets::Elu, ([31, 67], _), (T::from_f64(1.5),));
on_cpu!(elu_backward: map_elu_backward of ops::codelets::EluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), (T::from_f64(1.5),));
on_cpu!(selu: map_selu of ops::codelets::Selu, ([31, 67], _), ());
on_cpu!(selu_backward: map_selu_backward of ops::codelets::SeluBackward, (within(-80.0, 80.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
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
on_cpu!(abs_backward: map_abs_backward of ops::codelets::AbsBackward, ([31, 67], [31, 67], _), ());
on_cpu!(sign: map_sign of ops::codelets::Sign, ([31, 67], _), ());
on_cpu!(square: map_square of ops::codelets::Square, ([31, 67], _), ());
on_cpu!(square_backward: map_square_backward of ops::codelets::SquareBackward, ([31, 67], [31, 67], _), ());
on_cpu!(recip: map_recip of ops::codelets::Recip, ([31, 67], _), ());
on_cpu!(recip_backward: map_recip_backward of ops::codelets::RecipBackward, (within(-1000.0, 1000.0, [31, 67]), within(-1000.0, 1000.0, [31, 67]), _), ());
on_cpu!(sqrt: map_sqrt of ops::codelets::Sqrt, ([31, 67], _), ());
on_cpu!(sqrt_backward: map_sqrt_backward of ops::codelets::SqrtBackward, (within(0.0, 200.0, [31, 67]), [31, 67], _), ());
on_cpu!(power: map_power of ops::codelets::Power, ([31, 67], [31, 67], _), ());
on_cpu!(power_backward_base: map_power_backward_base of ops::codelets::PowerBackwardBase, (within(0.2, 4.0, [31, 67]), within(-3.0, 3.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(power_backward_exponent: map_power_backward_exponent of ops::codelets::PowerBackwardExponent, (within(0.0, 100.0, [31, 67]), within(0.2, 4.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(power_value: map_power_value of ops::codelets::PowerValue, ([31, 67], _), (T::from_f64(2.5),));
on_cpu!(power_value_backward: map_power_value_backward of ops::codelets::PowerValueBackward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), (T::from_f64(3.0),));

// comparison
on_cpu!(equal: map_equal of ops::codelets::Equal, ([31, 67], [31, 67], _), ());
on_cpu!(not_equal: map_not_equal of ops::codelets::NotEqual, ([31, 67], [31, 67], _), ());
on_cpu!(less: map_less of ops::codelets::Less, ([31, 67], [31, 67], _), ());
on_cpu!(less_equal: map_less_equal of ops::codelets::LessEqual, ([31, 67], [31, 67], _), ());
on_cpu!(greater: map_greater of ops::codelets::Greater, ([31, 67], [31, 67], _), ());
on_cpu!(greater_equal: map_greater_equal of ops::codelets::GreaterEqual, ([31, 67], [31, 67], _), ());
on_cpu!(select: map_select of ops::codelets::Select, (below(2, [31, 67]), [31, 67], [31, 67], _), ());
on_cpu!(select_backward: map_select_backward of ops::codelets::SelectBackward, (below(2, [31, 67]), [31, 67], _), ());
on_cpu!(maximum: map_maximum of ops::codelets::Maximum, ([31, 67], [31, 67], _), ());
on_cpu!(maximum_backward: map_maximum_backward of ops::codelets::MaximumBackward, ([31, 67], [31, 67], [31, 67], _), ());
on_cpu!(minimum: map_minimum of ops::codelets::Minimum, ([31, 67], [31, 67], _), ());
on_cpu!(minimum_backward: map_minimum_backward of ops::codelets::MinimumBackward, ([31, 67], [31, 67], [31, 67], _), ());
on_cpu!(clip: map_clip of ops::codelets::Clip, ([31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));
on_cpu!(clip_backward: map_clip_backward of ops::codelets::ClipBackward, ([31, 67], [31, 67], _), (T::from_f64(-0.5), T::from_f64(0.75),));

// error function
on_cpu!(erf: map_erf of ops::codelets::Erf, ([31, 67], _), ());
on_cpu!(erf_backward: map_erf_backward of ops::codelets::ErfBackward, (within(-8.0, 8.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());

// exponential
on_cpu!(exp: map_exp of ops::codelets::Exp, ([31, 67], _), ());
on_cpu!(exp_backward: map_exp_backward of ops::codelets::ExpBackward, ([31, 67], [31, 67], _), ());
on_cpu!(exp2: map_exp2 of ops::codelets::Exp2, ([31, 67], _), ());
on_cpu!(exp2_backward: map_exp2_backward of ops::codelets::Exp2Backward, (within(0.0, 1000.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(expm1: map_expm1 of ops::codelets::Expm1, ([31, 67], _), ());
on_cpu!(expm1_backward: map_expm1_backward of ops::codelets::Expm1Backward, (within(-80.0, 10.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
on_cpu!(ln: map_ln of ops::codelets::Ln, ([31, 67], _), ());
on_cpu!(ln_backward: map_ln_backward of ops::codelets::LnBackward, ([31, 67], [31, 67], _), ());
on_cpu!(log2: map_log2 of ops::codelets::Log2, ([31, 67], _), ());
on_cpu!(log2_backward: map_log2_backward of ops::codelets::Log2Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(log10: map_log10 of ops::codelets::Log10, ([31, 67], _), ());
on_cpu!(log10_backward: map_log10_backward of ops::codelets::Log10Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(log1p: map_log1p of ops::codelets::Log1p, ([31, 67], _), ());
on_cpu!(log1p_backward: map_log1p_backward of ops::codelets::Log1pBackward, ([31, 67], [31, 67], _), ());

// hard activation
on_cpu!(hard_sigmoid: map_hard_sigmoid of ops::codelets::HardSigmoid, ([31, 67], _), ());
on_cpu!(hard_sigmoid_backward: map_hard_sigmoid_backward of ops::codelets::HardSigmoidBackward, (within(-4.0, 4.0, [31, 67]), [31, 67], _), ());
on_cpu!(hard_swish: map_hard_swish of ops::codelets::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
on_cpu!(hard_swish_backward: map_hard_swish_backward of ops::codelets::HardSwishBackward, (within(-4.0, 4.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(hard_tanh: map_hard_tanh of ops::codelets::HardTanh, ([31, 67], _), ());
on_cpu!(hard_tanh_backward: map_hard_tanh_backward of ops::codelets::HardTanhBackward, ([31, 67], [31, 67], _), ());

// hyperbolic
on_cpu!(sinh: map_sinh of ops::codelets::Sinh, ([31, 67], _), ());
on_cpu!(sinh_backward: map_sinh_backward of ops::codelets::SinhBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(cosh: map_cosh of ops::codelets::Cosh, ([31, 67], _), ());
on_cpu!(cosh_backward: map_cosh_backward of ops::codelets::CoshBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(tanh: map_tanh of ops::codelets::Tanh, ([31, 67], _), ());
on_cpu!(tanh_backward: map_tanh_backward of ops::codelets::TanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());
on_cpu!(asinh: map_asinh of ops::codelets::Asinh, ([31, 67], _), ());
on_cpu!(asinh_backward: map_asinh_backward of ops::codelets::AsinhBackward, ([31, 67], [31, 67], _), ());
on_cpu!(acosh: map_acosh of ops::codelets::Acosh, ([31, 67], _), ());
on_cpu!(acosh_backward: map_acosh_backward of ops::codelets::AcoshBackward, ([31, 67], [31, 67], _), ());
on_cpu!(atanh: map_atanh of ops::codelets::Atanh, ([31, 67], _), ());
on_cpu!(atanh_backward: map_atanh_backward of ops::codelets::AtanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());

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
on_cpu!(sin_backward: map_sin_backward of ops::codelets::SinBackward, ([31, 67], [31, 67], _), ());
on_cpu!(cos: map_cos of ops::codelets::Cos, ([31, 67], _), ());
on_cpu!(cos_backward: map_cos_backward of ops::codelets::CosBackward, ([31, 67], [31, 67], _), ());
on_cpu!(tan: map_tan of ops::codelets::Tan, ([31, 67], _), ());
on_cpu!(tan_backward: map_tan_backward of ops::codelets::TanBackward, (within(-1000.0, 1000.0, [31, 67]), [31, 67], _), ());
on_cpu!(asin: map_asin of ops::codelets::Asin, ([31, 67], _), ());
on_cpu!(asin_backward: map_asin_backward of ops::codelets::AsinBackward, ([31, 67], [31, 67], _), ());
on_cpu!(acos: map_acos of ops::codelets::Acos, ([31, 67], _), ());
on_cpu!(acos_backward: map_acos_backward of ops::codelets::AcosBackward, ([31, 67], [31, 67], _), ());
on_cpu!(atan: map_atan of ops::codelets::Atan, ([31, 67], _), ());
on_cpu!(atan_backward: map_atan_backward of ops::codelets::AtanBackward, ([31, 67], [31, 67], _), ());
on_cpu!(atan2: map_atan2 of ops::codelets::Atan2, ([31, 67], [31, 67], _), ());
on_cpu!(atan2_backward_y: map_atan2_backward_y of ops::codelets::Atan2BackwardY, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
on_cpu!(atan2_backward_x: map_atan2_backward_x of ops::codelets::Atan2BackwardX, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
