//! Derived maps as text. `ops` has those of the crate `dahl`, `functions` those of each function of `Real`, `types` those of
//! several types, `again` derived maps of derived maps, and `refusals` what has none.

mod again;
mod functions;
mod ops;
mod refusals;
mod types;

use expect_test::{Expect, expect};
use quote::ToTokens;
use syn::{File, ItemFn, Meta};

use super::{DerivedMap, Expression, derive};
use crate::errors::Errors;
use crate::model::Codelet;
use crate::parse::Declaration;

/// The model of a function with the attribute `#[codelet(..)]`.
fn model(mut function: ItemFn) -> Codelet {
    let index = function.attrs.iter().position(is_codelet).unwrap();
    let Meta::List(attribute) = function.attrs.remove(index).meta else { panic!("`#[codelet]` has no list") };
    let mut errors = Errors::default();
    let declaration =
        Declaration::parse(attribute.tokens, function.into_token_stream(), &mut errors).unwrap();
    let codelet = Codelet::new(declaration, &mut errors);
    crate::check::check(&codelet, &mut errors);
    assert!(errors.is_empty(), "{}", errors.into_compile_errors());
    codelet
}

fn is_codelet(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("codelet")
}

fn declared(declaration: &str) -> Codelet {
    model(syn::parse_str(declaration).unwrap())
}

/// The derived maps of a declaration, or the reason why there are none.
fn derived(declaration: &str) -> String {
    match derive(&declared(declaration)) {
        Ok(maps) => maps.into_iter().map(text).collect(),
        Err(refusal) => refusal.message,
    }
}

fn text(map: DerivedMap) -> String {
    let DerivedMap { by, inputs, mut function, .. } = map;
    function.attrs.clear();
    let file: File = syn::parse2(function.into_token_stream()).unwrap();
    format!("by {by}, takes {inputs:?}\n{}", prettyplease::unparse(&file))
}

fn check(declaration: &str, expected: Expect) {
    expected.assert_eq(&derived(declaration));
}

#[test]
fn relu() {
    check(
        "#[codelet(R, W)] fn relu<T: Real>(x: T) -> T { if x <= T::ZERO { T::ZERO } else { x } }",
        expect![[r#"
            by 0, takes [0]
            fn relu_by_x<T: Real>(x: T, gradient: T) -> T {
                if x <= T::ZERO { T::ZERO } else { gradient }
            }
        "#]],
    );
}

#[test]
fn sigmoid_of_the_absolute_value() {
    check(
        "#[codelet(R, W)]
        fn sigmoid<T: Real>(x: T) -> T {
            let power = (-x.abs()).exp();
            let numerator = if x < T::ZERO { power } else { T::ONE };
            numerator / (T::ONE + power)
        }",
        expect![[r#"
            by 0, takes [0]
            fn sigmoid_by_x<T: Real>(x: T, gradient: T) -> T {
                let power = (-x.abs()).exp();
                let sum = T::ONE + power;
                let product = power * x.signum();
                gradient
                    * (if x < T::ZERO {
                        (power / sum * product - product) / sum
                    } else if x == T::ZERO {
                        T::ZERO
                    } else {
                        product / sum / sum
                    })
            }
        "#]],
    );
}

#[test]
fn swish_with_an_argument() {
    check(
        "#[codelet(R, W)] fn swish<T: Real>(x: T, slope: T) -> T { x / (T::ONE + (-slope * x).exp()) }",
        expect![[r#"
            by 0, takes [0]
            fn swish_by_x<T: Real>(x: T, gradient: T, slope: T) -> T {
                let exp = (-(slope * x)).exp();
                let sum = T::ONE + exp;
                gradient * ((T::ONE + x / sum * (exp * slope)) / sum)
            }
        "#]],
    );
}

#[test]
fn extremes() {
    check(
        "#[codelet(R, W)] fn clip<T: Real>(x: T, low: T, high: T) -> T { x.clamp(low, high) }",
        expect![[r#"
            by 0, takes [0]
            fn clip_by_x<T: Real>(x: T, gradient: T, low: T, high: T) -> T {
                if low <= x && x <= high { gradient } else { T::ZERO }
            }
        "#]],
    );
    check(
        "#[codelet(R, R, W)] fn maximum<T: Real>(x: T, y: T) -> T { x.max(y) }",
        expect![[r#"
        by 0, takes [0, 1]
        fn maximum_by_x<T: Real>(x: T, y: T, gradient: T) -> T {
            if x < y { T::ZERO } else if x == y { gradient * T::from_f64(0.5) } else { gradient }
        }
        by 1, takes [0, 1]
        fn maximum_by_y<T: Real>(x: T, y: T, gradient: T) -> T {
            if x > y { T::ZERO } else if x == y { gradient * T::from_f64(0.5) } else { gradient }
        }
    "#]],
    );
    check(
        "#[codelet(R, W)] fn least<T: Real>(x: T) -> T { x.min(T::from_f64(0.5) - x) }",
        expect![[r#"
        by 0, takes [0]
        fn least_by_x<T: Real>(x: T, gradient: T) -> T {
            let difference = T::from_f64(0.5) - x;
            if x > difference { -gradient } else if x < difference { gradient } else { T::ZERO }
        }
    "#]],
    );
}

#[test]
fn select_by_a_mask() {
    check(
        "#[codelet(R, R, R, W)]
        fn select<T: Real>(mask: u8, x: T, y: T) -> T { if mask != 0 { x } else { y } }",
        expect![[r#"
            by 1, takes [0]
            fn select_by_x<T: Real>(mask: u8, gradient: T) -> T {
                if mask != 0 { gradient } else { T::ZERO }
            }
            by 2, takes [0]
            fn select_by_y<T: Real>(mask: u8, gradient: T) -> T {
                if mask != 0 { T::ZERO } else { gradient }
            }
        "#]],
    );
}

#[test]
fn gelu() {
    check(
        "#[codelet(R, W)]
        fn gelu<T: Real>(x: T) -> T {
            let half = T::from_f64(0.5);
            half * x * (T::ONE + (x * T::FRAC_1_SQRT_2).erf())
        }",
        expect![[r#"
            by 0, takes [0]
            fn gelu_by_x<T: Real>(x: T, gradient: T) -> T {
                let product = x * T::FRAC_1_SQRT_2;
                let minimum = product.abs().min(T::from_f64(40.0));
                let negative = -(minimum * minimum);
                let exp = negative.exp();
                gradient
                    * (T::from_f64(0.5) * (T::ONE + product.erf())
                        + T::from_f64(0.5) * x
                            * (T::FRAC_2_SQRT_PI * (exp - exp * minimum.mul_add(minimum, negative))
                                * T::FRAC_1_SQRT_2))
            }
        "#]],
    );
}

#[test]
fn a_let_that_shadows() {
    check(
        "#[codelet(R, W)]
        fn f<T: Real>(x: T) -> T {
            let x = x * x;
            let y = {
                let x = x + T::ONE;
                x * x
            };
            let (sine, cosine) = y.sin_cos();
            x + sine * cosine
        }",
        expect![[r#"
            by 0, takes [0]
            fn f_by_x<T: Real>(x: T, gradient: T) -> T {
                let x_2 = x * x + T::ONE;
                let y = x_2 * x_2;
                let (sine, cosine) = y.sin_cos();
                let sum = x + x;
                let sum_2 = sum * x_2 + x_2 * sum;
                gradient * (sum + (cosine * sum_2 * cosine - sine * (sine * sum_2)))
            }
        "#]],
    );
}

#[test]
fn nested_choices() {
    check(
        "#[codelet(R, W)]
        fn f<T: Real>(x: T, limit: f64) -> T {
            let limit = T::from_f64(limit);
            if x > limit { limit } else if x < -limit { -x.ln_1p() } else { if x.is_nan() { x } else { x * x } }
        }",
        expect![[r#"
            by 0, takes [0]
            fn f_by_x<T: Real>(x: T, gradient: T, limit: f64) -> T {
                let limit_2 = T::from_f64(limit);
                if x > limit_2 {
                    T::ZERO
                } else {
                    gradient
                        * (if x < -limit_2 {
                            -(T::ONE / (T::ONE + x))
                        } else if x.is_nan() {
                            T::ONE
                        } else {
                            x + x
                        })
                }
            }
        "#]],
    );
}

/// Integers that may fail stay in the branch that guards them.
#[test]
fn arithmetic_of_integers() {
    check(
        "#[codelet(R, R, R, W)]
        fn f<T: Real>(x: T, n: i32, d: i32) -> T {
            if d != 0 { if n / d > 2 { x * x } else { x.exp() } } else { x }
        }",
        expect![[r#"
            by 0, takes [0, 1, 2]
            fn f_by_x<T: Real>(x: T, n: i32, d: i32, gradient: T) -> T {
                if d != 0 { gradient * (if n / d > 2 { x + x } else { x.exp() }) } else { gradient }
            }
        "#]],
    );
}

#[test]
fn names_that_the_declaration_has() {
    check(
        "#[codelet(R, R, W)]
        fn f<T: Real>(gradient: T, output: T) -> T { gradient.exp() * output.exp() }",
        expect![[r#"
            by 0, takes [2]
            fn f_by_gradient<T: Real>(output_: T, gradient_: T) -> T {
                gradient_ * output_
            }
            by 1, takes [2]
            fn f_by_output<T: Real>(output_: T, gradient_: T) -> T {
                gradient_ * output_
            }
        "#]],
    );
}
