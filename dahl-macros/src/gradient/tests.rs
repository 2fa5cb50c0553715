//! Derived maps as text. `ops` has those of the crate `dahl`.

mod ops;

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
fn by_the_output() {
    for (function, expected) in [
        (
            "tanh",
            expect![[r#"
            by 0, takes [1]
            fn f_by_x<T: Real>(output: T, gradient: T) -> T {
                gradient * ((T::ONE - output) * (T::ONE + output))
            }
        "#]],
        ),
        (
            "exp",
            expect![[r#"
            by 0, takes [1]
            fn f_by_x<T: Real>(output: T, gradient: T) -> T {
                gradient * output
            }
        "#]],
        ),
        (
            "sqrt",
            expect![[r#"
            by 0, takes [1]
            fn f_by_x<T: Real>(output: T, gradient: T) -> T {
                gradient / (output + output)
            }
        "#]],
        ),
        (
            "recip",
            expect![[r#"
            by 0, takes [1]
            fn f_by_x<T: Real>(output: T, gradient: T) -> T {
                -(gradient * (output * output))
            }
        "#]],
        ),
        (
            "exp_m1",
            expect![[r#"
            by 0, takes [0]
            fn f_by_x<T: Real>(x: T, gradient: T) -> T {
                gradient * x.exp()
            }
        "#]],
        ),
        (
            "abs",
            expect![[r#"
            by 0, takes [0]
            fn f_by_x<T: Real>(x: T, gradient: T) -> T {
                if x == T::ZERO { T::ZERO } else { gradient * x.signum() }
            }
        "#]],
        ),
    ] {
        check(&format!("#[codelet(R, W)] fn f<T: Real>(x: T) -> T {{ x.{function}() }}"), expected);
    }
    check(
        "#[codelet(R, R, W)] fn div<T: Real>(x: T, y: T) -> T { x / y }",
        expect![[r#"
        by 0, takes [1]
        fn div_by_x<T: Real>(y: T, gradient: T) -> T {
            gradient / y
        }
        by 1, takes [1, 2]
        fn div_by_y<T: Real>(y: T, output: T, gradient: T) -> T {
            -(gradient * (output / y))
        }
    "#]],
    );
    check(
        "#[codelet(R, R, W)] fn power<T: Real>(x: T, y: T) -> T { x.powf(y) }",
        expect![[r#"
        by 0, takes [0, 1]
        fn power_by_x<T: Real>(x: T, y: T, gradient: T) -> T {
            if y == T::ZERO { T::ZERO } else { gradient * (y * x.powf(y - T::ONE)) }
        }
        by 1, takes [0, 2]
        fn power_by_y<T: Real>(x: T, output: T, gradient: T) -> T {
            if x == T::ZERO && output.is_finite() {
                T::ZERO
            } else {
                gradient * (output * x.ln())
            }
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

/// Functions of the trait, not Rust's own; `f16` stands for its compute type.
#[test]
fn concrete_types() {
    check(
        "#[codelet(R, R, W)] fn f(x: f32, y: f16) -> f32 { x.max(0.5) * y.sqrt() - 2.0 * Real::max(x, y) }",
        expect![[r#"
            by 0, takes [0, 1]
            fn f_by_x(x: f32, y: f16, gradient: f32) -> f32 {
                gradient
                    * ((if x >= 0.5_f32 { ::dahl::Real::sqrt(y) } else { 0.0_f32 })
                        - (if x < y { 0.0_f32 } else if x == y { 1.0_f32 } else { 2.0_f32 }))
            }
            by 1, takes [0, 1]
            fn f_by_y(x: f32, y: f16, gradient: f32) -> f16 {
                let sqrt = ::dahl::Real::sqrt(y);
                gradient
                    * (x.max(0.5_f32) / (sqrt + sqrt)
                        - (if x > y { 0.0_f32 } else if x == y { 1.0_f32 } else { 2.0_f32 }))
            }
        "#]],
    );
    check(
        "#[codelet(R, W, crate = elsewhere)] fn f(x: f64) -> f64 { Real::erf(x) }",
        expect![[r#"
        by 0, takes [0]
        fn f_by_x(x: f64, gradient: f64) -> f64 {
            let minimum = elsewhere::Element::minimum(elsewhere::Real::abs(x), 40.0_f64);
            let negative = -(minimum * minimum);
            let exp = elsewhere::Real::exp(negative);
            gradient
                * (1.1283791670955126_f64
                    * (exp - exp * elsewhere::Real::mul_add(minimum, minimum, negative)))
        }
    "#]],
    );
}

#[test]
fn concrete_types_in_cuda() {
    for declaration in [
        "#[codelet(R, R, W)] fn f(x: f32, y: f16) -> f32 { x.max(0.5) * y.sqrt() - 2.0 * Real::max(x, y) }",
        "#[codelet(R, W)] fn f(x: bf16) -> bf16 { Real::erf(x).powi(-2) + (1.0 - 2.0 * x).clamp(-0.5, 0.5) }",
        "#[codelet(R, W)] fn f(x: f64, n: i32) -> f64 { if n > 3 { x.log(10.0).mul_add(-1.5, x) } else { x % 2.0 } }",
        "#[codelet(R, W)] fn f<T: Real>(x: T) -> T { T::narrow(x.widen().exp()) * T::from_f64(x.to_f64() * -0.5) }",
    ] {
        for map in derive(&declared(declaration)).unwrap() {
            ops::translate(&map.function, map.inputs.len() + 1);
        }
    }
}

#[test]
fn conversions() {
    check(
        "#[codelet(R, W)]
        fn f<T: Real>(x: T, factor: f64) -> T { T::from_f64(x.to_f64() * x.to_f64() * (factor + 1.0)) }",
        expect![[r#"
            by 0, takes [0]
            fn f_by_x<T: Real>(x: T, gradient: T, factor: f64) -> T {
                let converted = x.to_f64();
                gradient * T::from_f64((converted + converted) * (factor + 1.0_f64))
            }
        "#]],
    );
    check(
        "#[codelet(R, W)]
        fn f<T: Real>(x: T) -> T {
            let wide = x.widen();
            T::narrow(wide * wide * <T::Compute as Real>::from_f64(0.5))
        }",
        expect![[r#"
            by 0, takes [0]
            fn f_by_x<T: Real>(x: T, gradient: T) -> T {
                let wide = x.widen();
                gradient * T::narrow((wide + wide) * <T::Compute as ::dahl::Real>::from_f64(0.5))
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

#[test]
fn type_parameters() {
    check(
        "#[codelet(R, R, R, W)]
        fn f<M: Element, L: Element, T: Real>(mask: M, label: L, x: T) -> T
        where
            M: PartialEq,
            L: PartialEq,
        {
            if label == L::ZERO { T::ZERO } else { x }
        }",
        expect![[r#"
            by 2, takes [1]
            fn f_by_x<L: Element, T: Real>(label: L, gradient: T) -> T
            where
                L: PartialEq,
            {
                if label == L::ZERO { T::ZERO } else { gradient }
            }
        "#]],
    );
}

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

/// Each is read, and written again in its derivative or that of a product.
#[test]
fn every_function_of_real_is_read() {
    let real = include_str!("../../../dahl-element/src/element/real.rs");
    let (_, real) = real.split_once("pub trait Real").unwrap();
    let (real, _) = real.split_once("\n}\n").unwrap();
    let mut functions = 0;
    for line in real.lines().filter_map(|line| line.strip_prefix("    fn ")) {
        let (name, rest) = line.split_once('(').unwrap();
        let (parameters, result) = rest.split_once(") -> ").unwrap_or((rest, ""));
        if name.ends_with("_slice") {
            continue;
        }
        let others =
            parameters.split(',').skip(1).map(|other| if other.ends_with("i32") { "3" } else { "y" });
        let arguments = others.collect::<Vec<_>>().join(", ");
        let body = match (name, result.trim_end_matches([' ', '{', ';'])) {
            ("narrow", _) => "T::narrow(x.widen())".to_owned(),
            ("from_f64" | "to_f64", _) => "T::from_f64(x.to_f64())".to_owned(),
            (_, "bool") => format!("if x.{name}() {{ x * x }} else {{ x }}"),
            (_, "(Self, Self)") => format!("{{ let (a, b) = x.{name}(); a * b }}"),
            (_, "Self") => format!("x * x.{name}({arguments})"),
            (_, "Self::Compute") => format!("T::narrow(x.{name}())"),
            (_, other) => panic!("`{name}` gives `{other}`"),
        };
        let maps =
            derive(&declared(&format!("#[codelet(R, R, W)] fn f<T: Real>(x: T, y: T) -> T {{ {body} }}")));
        let maps = maps.unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
        assert!(maps.iter().any(|map| map.by == 0), "{name}");
        maps.iter().for_each(|map| ops::translate(&map.function, map.inputs.len() + 1));
        functions += 1;
    }
    assert!(functions > 50, "only {functions} functions were found");
}

/// A derived map is a map, with derived maps of its own.
#[test]
fn derived_maps_of_derived_maps() {
    let maps = derive(&declared("#[codelet(R, W)] fn tanh<T: Real>(x: T) -> T { x.tanh() }")).unwrap();
    let texts = maps.into_iter().flat_map(|map| derive(&again(map)).unwrap()).map(text);
    expect![[r#"
        by 0, takes [0, 1]
        fn tanh_by_x_by_output<T: Real>(output: T, gradient: T, gradient_: T) -> T {
            -(gradient_ * (gradient * (output + output)))
        }
        by 1, takes [0]
        fn tanh_by_x_by_gradient<T: Real>(output: T, gradient_: T) -> T {
            gradient_ * ((T::ONE - output) * (T::ONE + output))
        }
    "#]]
    .assert_eq(&texts.collect::<String>());
}

/// The declaration of a derived map.
fn again(map: DerivedMap) -> Codelet {
    let mut function = map.function;
    let modes = std::iter::repeat_n(quote::format_ident!("R"), map.inputs.len() + 1);
    function.attrs.push(syn::parse_quote!(#[codelet(#(#modes,)* W)]));
    model(function)
}

/// The derived maps of a declaration as data.
fn data(declaration: &str) -> String {
    let maps = derive(&declared(declaration)).unwrap_or_else(|refusal| panic!("{}", refusal.message));
    let lines = maps.into_iter().map(|map| match map.expression {
        None => format!("by {}: none\n", map.by),
        Some(Expression { text, leaves }) => {
            let leaves = leaves.iter().map(|leaf| format!("\n    {}", crate::tokens::text(leaf)));
            format!("by {}: {text}{}\n", map.by, leaves.collect::<String>())
        }
    });
    lines.collect()
}

#[test]
fn derived_maps_as_data() {
    // Arguments, constants and literals are leaves; `T` and its compute type are one type.
    expect![[r#"
        by 1: input 0 other; input 1 real0; leaf 0 real0; leaf 1 other; leaf 2 bool; number 0.5 real0; * 1 5; number 3.0 other; != 0 7; number 7.0 other; > 3 9; && 8 10; && 11 4; leaf 3 real0; cos 6; * 14 5; * 15 2; * 15 13; if 12 16 17; input 2 real0; * 19 18
            ::dahl::Real::to_f64(slope)
            (limit) as::core::primitive::f64
            (on) as::core::primitive::u8 as::core::primitive::f64
            ::dahl::Real::to_f64(T::PI)
    "#]]
    .assert_eq(&data(
        "#[codelet(R, R, W)] fn f<T: Real>(mask: u8, x: T, slope: T, limit: usize, on: bool) -> T {
            let half = T::narrow((x.widen() * T::Compute::from_f64(0.5)).sin());
            if mask != 3 && limit > 7 && on { half * slope } else { half * T::PI }
        }",
    ));
    expect![[r#"
        by 0: input 0 real0; convert 0 real2; convert 1 real0; input 1 real0; * 3 2
        by 1: input 0 real0; convert 0 real2; input 1 real0; convert 1 real0; * 2 3
    "#]]
    .assert_eq(&data(
        "#[codelet(R, R, W)] fn f<T: Real>(x: T, y: T) -> T { T::from_f64(x.to_f64() * y.to_f64()) }",
    ));
    // A number whose type is not known here.
    expect![[r#"
        by 1: none
    "#]]
    .assert_eq(&data(
        "#[codelet(R, R, W)] fn f<T: Real>(mask: u8, x: T) -> T { if mask == MASK { x * x } else { x } }",
    ));
}
