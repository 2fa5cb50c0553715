use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

/// Compares ops of one array; the numbers are PyTorch's arguments in the script.
macro_rules! unary {
    ($($op:ident $op_self:ident $op_init:ident ($($argument:literal),*)),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            unary::<T>(
                stringify!($op),
                &|x, out| ops::$op(x, out $(, T::from_f64($argument))*).unwrap(),
                &|x| ops::$op_self(x $(, T::from_f64($argument))*).unwrap(),
                &|arena, x| ops::$op_init(arena, x $(, T::from_f64($argument))*).unwrap(),
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

/// Compares gradients of functions of one array, from its input or its output.
macro_rules! backward {
    ($($op:ident $op_self:ident $op_init:ident of $forward:ident ($($argument:literal),*) from $role:ident),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            backward::<T>(
                stringify!($forward),
                stringify!($role),
                &|x, gradient, out| ops::$op(x, gradient, out $(, T::from_f64($argument))*).unwrap(),
                &|x, gradient| ops::$op_self(x, gradient $(, T::from_f64($argument))*).unwrap(),
                &|arena, x, gradient| ops::$op_init(arena, x, gradient $(, T::from_f64($argument))*).unwrap(),
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

/// Compares gradients by one of two arrays.
macro_rules! backward_of_two {
    ($($op:ident $op_self:ident $op_init:ident of $forward:ident by $by:ident from $first:ident $second:ident),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
            let by = stringify!($by);
            for case in stem.cases(stringify!($forward), "binary", T::NAME) {
                if !case.has(by) {
                    continue;
                }
                closeness.cases += 1;
                let [first, second] = [stringify!($first), stringify!($second)].map(|role| case.array::<T, 2>(&rt, role));
                for layout in LAYOUTS {
                    let mut gradient = case.placed::<T, 2>(&rt, "gradient", layout);
                    let mut out = case.unwritten::<T, 2>(&rt, by, layout);
                    gradient.read(|gradient| {
                        out.write(|out| ops::$op(&first, &second, gradient, out)).unwrap();
                        closeness.compare(&case, by, &ops::$op_init(&arena, &first, &second, gradient).unwrap());
                    });
                    out.read(|out| closeness.compare(&case, by, out));
                    gradient.write(|gradient| ops::$op_self(&first, &second, gradient)).unwrap();
                    gradient.read(|gradient| closeness.compare(&case, by, gradient));
                }
            }
            closeness
        }
    )*};
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
    hard_sigmoid hard_sigmoid_self hard_sigmoid_init (),
    hard_swish hard_swish_self hard_swish_init (),
    hard_tanh hard_tanh_self hard_tanh_init (),
    log_sigmoid log_sigmoid_self log_sigmoid_init (),
    scale scale_self scale_init (0.75),
    add_value add_value_self add_value_init (0.75),
    clip clip_self clip_init (-0.5, 0.75),
    power_value power_value_self power_value_init (2.5),
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
    axpy axpy_self axpy_init (0.75) over y,
);

backward!(
    exp_backward exp_backward_self exp_backward_init of exp () from out,
    exp2_backward exp2_backward_self exp2_backward_init of exp2 () from out,
    expm1_backward expm1_backward_self expm1_backward_init of expm1 () from x,
    ln_backward ln_backward_self ln_backward_init of ln () from x,
    log2_backward log2_backward_self log2_backward_init of log2 () from x,
    log10_backward log10_backward_self log10_backward_init of log10 () from x,
    log1p_backward log1p_backward_self log1p_backward_init of log1p () from x,
    sqrt_backward sqrt_backward_self sqrt_backward_init of sqrt () from out,
    abs_backward abs_backward_self abs_backward_init of abs () from x,
    square_backward square_backward_self square_backward_init of square () from x,
    recip_backward recip_backward_self recip_backward_init of recip () from out,
    sin_backward sin_backward_self sin_backward_init of sin () from x,
    cos_backward cos_backward_self cos_backward_init of cos () from x,
    tan_backward tan_backward_self tan_backward_init of tan () from out,
    asin_backward asin_backward_self asin_backward_init of asin () from x,
    acos_backward acos_backward_self acos_backward_init of acos () from x,
    atan_backward atan_backward_self atan_backward_init of atan () from x,
    sinh_backward sinh_backward_self sinh_backward_init of sinh () from x,
    cosh_backward cosh_backward_self cosh_backward_init of cosh () from x,
    tanh_backward tanh_backward_self tanh_backward_init of tanh () from out,
    asinh_backward asinh_backward_self asinh_backward_init of asinh () from x,
    acosh_backward acosh_backward_self acosh_backward_init of acosh () from x,
    atanh_backward atanh_backward_self atanh_backward_init of atanh () from x,
    erf_backward erf_backward_self erf_backward_init of erf () from x,
    relu_backward relu_backward_self relu_backward_init of relu () from x,
    sigmoid_backward sigmoid_backward_self sigmoid_backward_init of sigmoid () from out,
    selu_backward selu_backward_self selu_backward_init of selu () from x,
    gelu_backward gelu_backward_self gelu_backward_init of gelu () from x,
    gelu_tanh_backward gelu_tanh_backward_self gelu_tanh_backward_init of gelu_tanh () from x,
    silu_backward silu_backward_self silu_backward_init of silu () from x,
    softplus_backward softplus_backward_self softplus_backward_init of softplus () from x,
    hard_sigmoid_backward hard_sigmoid_backward_self hard_sigmoid_backward_init of hard_sigmoid () from x,
    hard_swish_backward hard_swish_backward_self hard_swish_backward_init of hard_swish () from x,
    hard_tanh_backward hard_tanh_backward_self hard_tanh_backward_init of hard_tanh () from x,
    log_sigmoid_backward log_sigmoid_backward_self log_sigmoid_backward_init of log_sigmoid () from x,
    clip_backward clip_backward_self clip_backward_init of clip (-0.5, 0.75) from x,
    power_value_backward power_value_backward_self power_value_backward_init of power_value (2.5) from x,
    elu_backward elu_backward_self elu_backward_init of elu (1.0) from x,
    leaky_relu_backward leaky_relu_backward_self leaky_relu_backward_init of leaky_relu (0.01) from x,
);

backward_of_two!(
    power_backward_base power_backward_base_self power_backward_base_init of power by by_x from x y,
    power_backward_exponent power_backward_exponent_self power_backward_exponent_init of power by by_y from out x,
    atan2_backward_y atan2_backward_y_self atan2_backward_y_init of atan2 by by_x from x y,
    atan2_backward_x atan2_backward_x_self atan2_backward_x_init of atan2 by by_y from x y,
    maximum_backward maximum_backward_self maximum_backward_init of maximum by by_x from x y,
    minimum_backward minimum_backward_self minimum_backward_init of minimum by by_x from x y,
);

for_each_real!(
    at least 10:
    exp, exp2, expm1, ln, log2, log10, log1p, sqrt, neg, abs, square, recip, sign, round, floor, ceil,
    trunc, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, relu, sigmoid, selu,
    gelu, gelu_tanh, silu, softplus, hard_sigmoid, hard_swish, hard_tanh, log_sigmoid, scale, add_value,
    clip, power_value, elu, leaky_relu, add, sub, mul, div, power, atan2, maximum, minimum, axpy,
    exp_backward, exp2_backward, expm1_backward, ln_backward, log2_backward, log10_backward, log1p_backward,
    sqrt_backward, abs_backward, square_backward, recip_backward, sin_backward, cos_backward, tan_backward,
    asin_backward, acos_backward, atan_backward, sinh_backward, cosh_backward, tanh_backward,
    asinh_backward, acosh_backward, atanh_backward, erf_backward, relu_backward, sigmoid_backward,
    selu_backward, gelu_backward, gelu_tanh_backward, silu_backward, softplus_backward,
    hard_sigmoid_backward, hard_swish_backward, hard_tanh_backward, log_sigmoid_backward, clip_backward,
    power_value_backward, elu_backward, leaky_relu_backward, power_backward_base, power_backward_exponent,
    atan2_backward_y, atan2_backward_x, maximum_backward, minimum_backward,
);
