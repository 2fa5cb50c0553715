//! Each function of `Real`.

use super::*;

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

/// Each is read, and written again in its derivative or that of a product.
#[test]
fn every_function_of_real_is_read() {
    let real = include_str!("../../../../dahl-element/src/element/real.rs");
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
