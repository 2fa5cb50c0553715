//! What has no derived maps, and why.

use super::*;

#[test]
fn outputs_that_are_no_reals_have_no_derivative() {
    check("#[codelet(R, W)] fn less<T: Real>(x: T) -> u8 { if x < T::ZERO { 1 } else { 0 } }", expect![[""]]);
    check("#[codelet(R, W)] fn floor<T: Real>(x: T) -> T { x.floor() }", expect![[""]]);
}

#[test]
fn refusals() {
    for (declaration, expected) in [
        (
            "#[codelet(R, W)] fn f<T: Element>(x: T) -> T { x }",
            expect![
                "`f` returns `T`, which is not known to be a real type; bound it by `Real`, or give a rule"
            ],
        ),
        (
            "#[codelet(R, W)] fn f(x: Length) -> Length { x }",
            expect![
                "`f` returns `Length`, which is not known to be a real type; bound it by `Real`, or give a rule"
            ],
        ),
        (
            "#[codelet(R, W, cpu_only)] fn f<T: Real>(x: T) -> T { x }",
            expect![
                "the body of `f` may contain anything, since it is `cpu_only`, and is not differentiated; give a rule"
            ],
        ),
        (
            "#[codelet(R, R, W)] fn f<T: Real, U: Real>(x: T, y: U) -> T { x * T::from_f64(y.to_f64()) }",
            expect!["`y` has another real type than the result of `f`, which depends on it; give a rule"],
        ),
        (
            "#[codelet(R, W)] fn f<T: Real>(x: T, n: i32) -> T { x.powi(n) }",
            expect!["this exponent is not known here; write it out, use `powf`, or give a rule"],
        ),
        (
            "#[codelet(R, W)] fn f<T: Real>(x: &[T], y: &mut [T]) {}",
            expect!["`f` is not a map; give it a rule"],
        ),
        (
            "#[codelet(R, W)] fn f<T: Real>(x: T) -> T { if LIMIT.is_nan() { T::ONE } else { x } }",
            expect!["the type of this value is not clear here; give it a `let` with a type, or give a rule"],
        ),
    ] {
        check(declaration, expected);
    }
    // It only compares with the other type.
    check(
        "#[codelet(R, R, W)]
        fn f<T: Real, U: Real>(x: T, y: U) -> T { if y > U::ZERO { x } else { T::ZERO } }",
        expect![[r#"
            by 0, takes [1]
            fn f_by_x<T: Real, U: Real>(y: U, gradient: T) -> T {
                if y > U::ZERO { gradient } else { T::ZERO }
            }
        "#]],
    );
}
