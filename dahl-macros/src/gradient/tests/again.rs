//! Derived maps of derived maps, and derived maps as data.

use super::*;

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
pub(super) fn again(map: DerivedMap) -> Codelet {
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
