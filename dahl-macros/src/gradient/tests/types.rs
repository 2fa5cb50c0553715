//! Maps of concrete types, conversions, type parameters.

use super::*;

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
