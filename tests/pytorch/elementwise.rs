use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

/// Compares ops of one array; the arguments are PyTorch's in the script.
macro_rules! unary {
    ($($op:ident $op_self:ident $op_init:ident ($($argument:expr),*)),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            unary::<T>(
                stringify!($op),
                &|x, out| ops::$op(x, out $(, $argument)*).unwrap(),
                &|x| ops::$op_self(x $(, $argument)*).unwrap(),
                &|arena, x| ops::$op_init(arena, x $(, $argument)*).unwrap(),
            )
        }
    )*};
}

fn unary<T: Real>(
    op: &str,
    call: &dyn Fn(&Array<'_, T, 2>, &mut Array<'_, T, 2>),
    call_self: &dyn Fn(&mut Array<'_, T, 2>),
    call_init: &dyn for<'m> Fn(&'m Arena, &Array<'_, T, 2>) -> Array<'m, T, 2>,
) -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
    for case in stem.cases(op, "unary", T::NAME) {
        closeness.cases += 1;
        for layout in LAYOUTS {
            let (mut x, mut out) = (case.placed(&rt, "x", layout), case.unwritten(&rt, "out", layout));
            x.read(|x| out.write(|out| call(x, out)));
            out.read(|out| closeness.compare(&case, "out", out));
            x.read(|x| closeness.compare(&case, "out", &call_init(&arena, x)));
            x.write(call_self);
            x.read(|x| closeness.compare(&case, "out", x));
        }
    }
    closeness
}

/// Compares ops of two arrays, of which `in_place` is overwritten.
macro_rules! binary {
    ($($op:ident $op_self:ident $op_init:ident ($($argument:literal),*) over $in_place:ident),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            binary::<T>(
                stringify!($op),
                &|x, y, out| ops::$op(x, y, out $(, T::from_f64($argument))*).unwrap(),
                &|x, y| binary!(@over $in_place $op_self, x, y $(, T::from_f64($argument))*),
                &|arena, x, y| ops::$op_init(arena, x, y $(, T::from_f64($argument))*).unwrap(),
            )
        }
    )*};
    (@over x $op_self:ident, $x:ident, $y:ident $(, $argument:expr)*) => {{
        ops::$op_self($x, &*$y $(, $argument)*).unwrap();
        Over::First
    }};
    (@over y $op_self:ident, $x:ident, $y:ident $(, $argument:expr)*) => {{
        ops::$op_self(&*$x, $y $(, $argument)*).unwrap();
        Over::Second
    }};
}

/// Reads two arrays, writes a third.
type OfTwo<'f, T> = &'f dyn Fn(&Array<'_, T, 2>, &Array<'_, T, 2>, &mut Array<'_, T, 2>);

/// Reads two arrays, makes a third.
type InitOfTwo<'f, T> = &'f dyn for<'m> Fn(&'m Arena, &Array<'_, T, 2>, &Array<'_, T, 2>) -> Array<'m, T, 2>;

/// The array that an op overwrites.
enum Over {
    First,
    Second,
}

fn binary<T: Real>(
    op: &str,
    call: OfTwo<'_, T>,
    call_self: &dyn Fn(&mut Array<'_, T, 2>, &mut Array<'_, T, 2>) -> Over,
    call_init: InitOfTwo<'_, T>,
) -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
    for case in stem.cases(op, "binary", T::NAME) {
        closeness.cases += 1;
        for layout in LAYOUTS {
            let (mut x, mut y) = (case.placed(&rt, "x", layout), case.placed(&rt, "y", layout));
            let mut out = case.unwritten(&rt, "out", layout);
            x.read(|x| y.read(|y| out.write(|out| call(x, y, out))));
            out.read(|out| closeness.compare(&case, "out", out));
            x.read(|x| y.read(|y| closeness.compare(&case, "out", &call_init(&arena, x, y))));
            if case.shape::<2>("x") != case.shape("y") {
                continue;
            }
            match x.write(|x| y.write(|y| call_self(x, y))) {
                Over::First => x.read(|x| closeness.compare(&case, "out", x)),
                Over::Second => y.read(|y| closeness.compare(&case, "out", y)),
            }
        }
    }
    closeness
}

/// Compares the gradients that rules use, of functions of one array, from its input or its output.
macro_rules! backward {
    ($($op:ident $op_self:ident $op_init:ident of $forward:ident from $role:ident),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            backward::<T>(
                stringify!($forward),
                stringify!($role),
                &|x, gradient, out| ops::$op(x, gradient, out).unwrap(),
                &|x, gradient| ops::$op_self(x, gradient).unwrap(),
                &|arena, x, gradient| ops::$op_init(arena, x, gradient).unwrap(),
            )
        }
    )*};
}

fn backward<T: Real>(
    forward: &str,
    from: &str,
    call: OfTwo<'_, T>,
    call_self: &dyn Fn(&Array<'_, T, 2>, &mut Array<'_, T, 2>),
    call_init: InitOfTwo<'_, T>,
) -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
    for case in stem.cases(forward, "unary", T::NAME) {
        closeness.cases += 1;
        for layout in LAYOUTS {
            let (x, mut gradient) = (case.placed(&rt, from, layout), case.placed(&rt, "gradient", layout));
            let mut out = case.unwritten(&rt, "by_x", layout);
            x.read(|x| gradient.read(|gradient| out.write(|out| call(x, gradient, out))));
            out.read(|out| closeness.compare(&case, "by_x", out));
            x.read(|x| {
                gradient.read(|gradient| closeness.compare(&case, "by_x", &call_init(&arena, x, gradient)))
            });
            x.read(|x| gradient.write(|gradient| call_self(x, gradient)));
            gradient.read(|gradient| closeness.compare(&case, "by_x", gradient));
        }
    }
    closeness
}

/// Compares gradients by a tape of functions of one array.
macro_rules! gradients {
    ($($by_x:ident of $op:ident $op_init:ident ($($argument:expr),*)),* $(,)?) => {$(
        fn $by_x<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let tape = rt.tape();
            let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
            for case in stem.cases(stringify!($op), "unary", T::NAME) {
                closeness.cases += 1;
                let [x, gradient] = ["x", "gradient"].map(|role| case.array::<T, 2>(&rt, role));
                let out = ops::$op_init(&tape, &x $(, $argument)*).unwrap();
                closeness.compare(&case, "by_x", &tape.gradients_from(&out, &gradient, &x).unwrap());
            }
            closeness
        }
    )*};
}

/// Compares gradients by a tape of functions of two arrays. `role` is the gradient in the fixtures, whose inputs are `x` and
/// `y`.
macro_rules! gradients_of_two {
    ($($gradient_by:ident of $op:ident $op_init:ident is $role:ident),* $(,)?) => {$(
        fn $gradient_by<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let tape = rt.tape();
            let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
            let role = stringify!($role);
            for case in stem.cases(stringify!($op), "binary", T::NAME) {
                if !case.has(role) {
                    continue;
                }
                closeness.cases += 1;
                let [x, y, gradient] = ["x", "y", "gradient"].map(|role| case.array::<T, 2>(&rt, role));
                let out = ops::$op_init(&tape, &x, &y).unwrap();
                let by = gradients_of_two!(@input $role x y);
                closeness.compare(&case, role, &tape.gradients_from(&out, &gradient, by).unwrap());
            }
            closeness
        }
    )*};
    (@input by_x $x:ident $y:ident) => {
        &$x
    };
    (@input by_y $x:ident $y:ident) => {
        &$y
    };
}

unary!(
    exp exp_self exp_init (),
    exp2 exp2_self exp2_init (),
    expm1 expm1_self expm1_init (),
    ln ln_self ln_init (),
    log2 log2_self log2_init (),
    log10 log10_self log10_init (),
    log1p log1p_self log1p_init (),
    sqrt sqrt_self sqrt_init (),
    neg neg_self neg_init (),
    abs abs_self abs_init (),
    square square_self square_init (),
    recip recip_self recip_init (),
    sign sign_self sign_init (),
    round round_self round_init (),
    floor floor_self floor_init (),
    ceil ceil_self ceil_init (),
    trunc trunc_self trunc_init (),
    sin sin_self sin_init (),
    cos cos_self cos_init (),
    tan tan_self tan_init (),
    asin asin_self asin_init (),
    acos acos_self acos_init (),
    atan atan_self atan_init (),
    sinh sinh_self sinh_init (),
    cosh cosh_self cosh_init (),
    tanh tanh_self tanh_init (),
    asinh asinh_self asinh_init (),
    acosh acosh_self acosh_init (),
    atanh atanh_self atanh_init (),
    erf erf_self erf_init (),
    relu relu_self relu_init (),
    sigmoid sigmoid_self sigmoid_init (),
    selu selu_self selu_init (),
    gelu gelu_self gelu_init (),
    gelu_tanh gelu_tanh_self gelu_tanh_init (),
    silu silu_self silu_init (),
    softplus softplus_self softplus_init (),
    softplus_scaled softplus_scaled_self softplus_scaled_init (2.0, 5.0),
    hard_sigmoid hard_sigmoid_self hard_sigmoid_init (),
    hard_swish hard_swish_self hard_swish_init (),
    hard_tanh hard_tanh_self hard_tanh_init (-1.0, 1.0),
    relu6 relu6_self relu6_init (),
    threshold threshold_self threshold_init (0.5, 20.0),
    hard_shrink hard_shrink_self hard_shrink_init (T::from_f64(0.5)),
    soft_shrink soft_shrink_self soft_shrink_init (T::from_f64(0.5)),
    tanh_shrink tanh_shrink_self tanh_shrink_init (),
    softsign softsign_self softsign_init (),
    mish mish_self mish_init (),
    celu celu_self celu_init (0.75),
    log_sigmoid log_sigmoid_self log_sigmoid_init (),
    scale scale_self scale_init (T::from_f64(0.75)),
    add_value add_value_self add_value_init (T::from_f64(0.75)),
    clip clip_self clip_init (T::from_f64(-0.5), T::from_f64(0.75)),
    power_value power_value_self power_value_init (T::from_f64(2.5)),
    elu elu_self elu_init (1.0),
    leaky_relu leaky_relu_self leaky_relu_init (0.01),
);

binary!(
    add add_self add_init () over x,
    sub sub_self sub_init () over x,
    mul mul_self mul_init () over x,
    div div_self div_init () over x,
    power power_self power_init () over x,
    atan2 atan2_self atan2_init () over x,
    maximum maximum_self maximum_init () over x,
    minimum minimum_self minimum_init () over x,
    prelu prelu_self prelu_init () over x,
    glu glu_self glu_init () over x,
    axpy axpy_self axpy_init (0.75) over y,
);

backward!(
    relu_backward relu_backward_self relu_backward_init of relu from x,
    sigmoid_backward sigmoid_backward_self sigmoid_backward_init of sigmoid from out,
    gelu_backward gelu_backward_self gelu_backward_init of gelu from x,
    gelu_tanh_backward gelu_tanh_backward_self gelu_tanh_backward_init of gelu_tanh from x,
    silu_backward silu_backward_self silu_backward_init of silu from x,
    mish_backward mish_backward_self mish_backward_init of mish from x,
    softsign_backward softsign_backward_self softsign_backward_init of softsign from x,
    tanh_shrink_backward tanh_shrink_backward_self tanh_shrink_backward_init of tanh_shrink from x,
    softplus_backward softplus_backward_self softplus_backward_init of softplus from x,
    log_sigmoid_backward log_sigmoid_backward_self log_sigmoid_backward_init of log_sigmoid from x,
);

gradients!(
    exp_by_x of exp exp_init (),
    exp2_by_x of exp2 exp2_init (),
    expm1_by_x of expm1 expm1_init (),
    ln_by_x of ln ln_init (),
    log2_by_x of log2 log2_init (),
    log10_by_x of log10 log10_init (),
    log1p_by_x of log1p log1p_init (),
    sqrt_by_x of sqrt sqrt_init (),
    abs_by_x of abs abs_init (),
    square_by_x of square square_init (),
    recip_by_x of recip recip_init (),
    sin_by_x of sin sin_init (),
    cos_by_x of cos cos_init (),
    tan_by_x of tan tan_init (),
    asin_by_x of asin asin_init (),
    acos_by_x of acos acos_init (),
    atan_by_x of atan atan_init (),
    sinh_by_x of sinh sinh_init (),
    cosh_by_x of cosh cosh_init (),
    tanh_by_x of tanh tanh_init (),
    asinh_by_x of asinh asinh_init (),
    acosh_by_x of acosh acosh_init (),
    atanh_by_x of atanh atanh_init (),
    erf_by_x of erf erf_init (),
    selu_by_x of selu selu_init (),
    softplus_scaled_by_x of softplus_scaled softplus_scaled_init (2.0, 5.0),
    hard_sigmoid_by_x of hard_sigmoid hard_sigmoid_init (),
    hard_swish_by_x of hard_swish hard_swish_init (),
    hard_tanh_by_x of hard_tanh hard_tanh_init (-1.0, 1.0),
    relu6_by_x of relu6 relu6_init (),
    threshold_by_x of threshold threshold_init (0.5, 20.0),
    hard_shrink_by_x of hard_shrink hard_shrink_init (T::from_f64(0.5)),
    soft_shrink_by_x of soft_shrink soft_shrink_init (T::from_f64(0.5)),
    celu_by_x of celu celu_init (0.75),
    clip_by_x of clip clip_init (T::from_f64(-0.5), T::from_f64(0.75)),
    power_value_by_x of power_value power_value_init (T::from_f64(2.5)),
    elu_by_x of elu elu_init (1.0),
    leaky_relu_by_x of leaky_relu leaky_relu_init (0.01),
);

// `atan2` calls its first input `y`.
gradients_of_two!(
    power_by_x of power power_init is by_x,
    power_by_y of power power_init is by_y,
    atan2_by_y of atan2 atan2_init is by_x,
    atan2_by_x of atan2 atan2_init is by_y,
    maximum_by_x of maximum maximum_init is by_x,
    maximum_by_y of maximum maximum_init is by_y,
    minimum_by_x of minimum minimum_init is by_x,
    minimum_by_y of minimum minimum_init is by_y,
    prelu_by_x of prelu prelu_init is by_x,
    prelu_by_slope of prelu prelu_init is by_y,
    glu_by_value of glu glu_init is by_x,
    glu_by_gate of glu glu_init is by_y,
);

for_each_real!(
    at least 10:
    exp, exp2, expm1, ln, log2, log10, log1p, sqrt, neg, abs, square, recip, sign, round, floor, ceil,
    trunc, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, relu, sigmoid,
    selu, gelu, gelu_tanh, silu, softplus, softplus_scaled, hard_sigmoid, hard_swish, hard_tanh, relu6, threshold,
    hard_shrink, soft_shrink, tanh_shrink, softsign, mish, celu, prelu, glu, log_sigmoid, scale,
    add_value, clip, power_value, elu, leaky_relu, add, sub, mul, div, power, atan2, maximum, minimum,
    axpy, exp_by_x, exp2_by_x, expm1_by_x, ln_by_x, log2_by_x, log10_by_x, log1p_by_x, sqrt_by_x,
    abs_by_x, square_by_x, recip_by_x, sin_by_x, cos_by_x, tan_by_x, asin_by_x, acos_by_x, atan_by_x,
    sinh_by_x, cosh_by_x, tanh_by_x, asinh_by_x, acosh_by_x, atanh_by_x, erf_by_x, relu_backward,
    sigmoid_backward, selu_by_x, gelu_backward, gelu_tanh_backward, silu_backward, softplus_backward, softplus_scaled_by_x,
    hard_sigmoid_by_x, hard_swish_by_x, hard_tanh_by_x, relu6_by_x, threshold_by_x, hard_shrink_by_x,
    soft_shrink_by_x, tanh_shrink_backward, softsign_backward, mish_backward, celu_by_x, prelu_by_x,
    prelu_by_slope, glu_by_value, glu_by_gate, log_sigmoid_backward, clip_by_x,
    power_value_by_x, elu_by_x, leaky_relu_by_x, power_by_x, power_by_y, atan2_by_y, atan2_by_x,
    maximum_by_x, maximum_by_y, minimum_by_x, minimum_by_y,
);
