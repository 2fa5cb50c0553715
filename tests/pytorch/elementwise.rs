use dahl::ops;
use dahl::prelude::*;

use crate::closeness::Tally;
use crate::fixture::{LAYOUTS, Stem};

/// Compares ops of one array; the numbers are PyTorch's arguments in the script.
macro_rules! unary {
    ($($op:ident $op_self:ident $op_init:ident ($($argument:literal),*)),* $(,)?) => {$(
        fn $op<T: Real>() -> Tally {
            unary::<T>(
                stringify!($op),
                |x, out| ops::$op(x, out $(, T::from_f64($argument))*).unwrap(),
                |x| ops::$op_self(x $(, T::from_f64($argument))*).unwrap(),
                |arena, x| ops::$op_init(arena, x $(, T::from_f64($argument))*).unwrap(),
            )
        }
    )*};
}

fn unary<T: Real>(
    op: &str,
    call: impl Fn(&Array<'_, T, 2>, &mut Array<'_, T, 2>),
    call_self: impl Fn(&mut Array<'_, T, 2>),
    call_init: impl for<'m> Fn(&'m Arena, &Array<'_, T, 2>) -> Array<'m, T, 2>,
) -> Tally {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut tally) = (Stem::open("elementwise"), Tally::default());
    for case in stem.cases(op, "unary", T::NAME) {
        tally.cases += 1;
        for layout in LAYOUTS {
            let (mut x, mut out) = (case.placed(&rt, "x", layout), case.unwritten(&rt, "out", layout));
            x.read(|x| out.write(|out| call(x, out)));
            out.read(|out| tally.compare(&case, "out", out));
            x.read(|x| tally.compare(&case, "out", &call_init(&arena, x)));
            x.write(&call_self);
            x.read(|x| tally.compare(&case, "out", x));
        }
    }
    tally
}

/// Compares ops of two arrays, of which `in_place` is overwritten.
macro_rules! binary {
    ($($op:ident $op_self:ident $op_init:ident ($($argument:literal),*) over $in_place:ident),* $(,)?) => {$(
        fn $op<T: Real>() -> Tally {
            binary::<T>(
                stringify!($op),
                |x, y, out| ops::$op(x, y, out $(, T::from_f64($argument))*).unwrap(),
                |x, y| binary!(@over $in_place $op_self, x, y $(, T::from_f64($argument))*),
                |arena, x, y| ops::$op_init(arena, x, y $(, T::from_f64($argument))*).unwrap(),
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

/// Which of two arrays an op has overwritten.
enum Over {
    First,
    Second,
}

fn binary<T: Real>(
    op: &str,
    call: impl Fn(&Array<'_, T, 2>, &Array<'_, T, 2>, &mut Array<'_, T, 2>),
    call_self: impl Fn(&mut Array<'_, T, 2>, &mut Array<'_, T, 2>) -> Over,
    call_init: impl for<'m> Fn(&'m Arena, &Array<'_, T, 2>, &Array<'_, T, 2>) -> Array<'m, T, 2>,
) -> Tally {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut tally) = (Stem::open("elementwise"), Tally::default());
    for case in stem.cases(op, "binary", T::NAME) {
        tally.cases += 1;
        for layout in LAYOUTS {
            let (mut x, mut y) = (case.placed(&rt, "x", layout), case.placed(&rt, "y", layout));
            let mut out = case.unwritten(&rt, "out", layout);
            x.read(|x| y.read(|y| out.write(|out| call(x, y, out))));
            out.read(|out| tally.compare(&case, "out", out));
            x.read(|x| y.read(|y| tally.compare(&case, "out", &call_init(&arena, x, y))));
            if case.shape::<2>("x") != case.shape("y") {
                continue;
            }
            match x.write(|x| y.write(|y| call_self(x, y))) {
                Over::First => x.read(|x| tally.compare(&case, "out", x)),
                Over::Second => y.read(|y| tally.compare(&case, "out", y)),
            }
        }
    }
    tally
}

/// Compares gradients of functions of one array, from its input or its output.
macro_rules! backward {
    ($($op:ident $op_self:ident $op_init:ident of $forward:ident ($($argument:literal),*) from $role:ident),* $(,)?) => {$(
        fn $op<T: Real>() -> Tally {
            backward::<T>(
                stringify!($forward),
                stringify!($role),
                |x, gradient, out| ops::$op(x, gradient, out $(, T::from_f64($argument))*).unwrap(),
                |x, gradient| ops::$op_self(x, gradient $(, T::from_f64($argument))*).unwrap(),
                |arena, x, gradient| ops::$op_init(arena, x, gradient $(, T::from_f64($argument))*).unwrap(),
            )
        }
    )*};
}

fn backward<T: Real>(
    forward: &str,
    from: &str,
    call: impl Fn(&Array<'_, T, 2>, &Array<'_, T, 2>, &mut Array<'_, T, 2>),
    call_self: impl Fn(&Array<'_, T, 2>, &mut Array<'_, T, 2>),
    call_init: impl for<'m> Fn(&'m Arena, &Array<'_, T, 2>, &Array<'_, T, 2>) -> Array<'m, T, 2>,
) -> Tally {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut tally) = (Stem::open("elementwise"), Tally::default());
    for case in stem.cases(forward, "unary", T::NAME) {
        tally.cases += 1;
        for layout in LAYOUTS {
            let (x, mut gradient) = (case.placed(&rt, from, layout), case.placed(&rt, "gradient", layout));
            let mut out = case.unwritten(&rt, "by_x", layout);
            x.read(|x| gradient.read(|gradient| out.write(|out| call(x, gradient, out))));
            out.read(|out| tally.compare(&case, "by_x", out));
            x.read(|x| {
                gradient.read(|gradient| tally.compare(&case, "by_x", &call_init(&arena, x, gradient)))
            });
            x.read(|x| gradient.write(|gradient| call_self(x, gradient)));
            gradient.read(|gradient| tally.compare(&case, "by_x", gradient));
        }
    }
    tally
}

unary!(
    exp exp_self exp_init (),
    ln ln_self ln_init (),
    sqrt sqrt_self sqrt_init (),
    tanh tanh_self tanh_init (),
    sigmoid sigmoid_self sigmoid_init (),
    relu relu_self relu_init (),
    scale scale_self scale_init (0.75),
    add_value add_value_self add_value_init (0.75),
);

binary!(
    add add_self add_init () over x,
    sub sub_self sub_init () over x,
    mul mul_self mul_init () over x,
    div div_self div_init () over x,
    axpy axpy_self axpy_init (0.75) over y,
);

backward!(
    tanh_backward tanh_backward_self tanh_backward_init of tanh () from out,
    sigmoid_backward sigmoid_backward_self sigmoid_backward_init of sigmoid () from out,
    relu_backward relu_backward_self relu_backward_init of relu () from x,
);

for_each_real!(
    at least 10: exp, ln, sqrt, tanh, sigmoid, relu, scale, add_value, add, sub, mul, div, axpy, tanh_backward,
    sigmoid_backward, relu_backward,
);
