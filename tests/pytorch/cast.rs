use dahl::ops::{self, CastTo};
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{Case, LAYOUTS, Stem};

/// From `T` to every type.
fn cast<T>() -> Closeness
where
    T: Real + CastTo<f16> + CastTo<bf16> + CastTo<f32> + CastTo<f64> + CastTo<u8> + CastTo<i32> + CastTo<i64>,
{
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("cast"), Closeness::default());
    for case in stem.cases("cast", "cast", T::NAME) {
        match case.name.rsplit('-').next().unwrap() {
            "f16" => to_real::<T, f16>(&rt, &case, &mut closeness),
            "bf16" => to_real::<T, bf16>(&rt, &case, &mut closeness),
            "f32" => to_real::<T, f32>(&rt, &case, &mut closeness),
            "f64" => to_real::<T, f64>(&rt, &case, &mut closeness),
            "u8" => to_integer::<T, u8>(&rt, &case, &mut closeness),
            "i32" => to_integer::<T, i32>(&rt, &case, &mut closeness),
            "i64" => to_integer::<T, i64>(&rt, &case, &mut closeness),
            other => panic!("no fixtures are in {other}"),
        }
    }
    closeness
}

/// From integer types to `T`.
fn cast_from_integers<T: Real>() -> Closeness
where
    u8: CastTo<T>,
    i32: CastTo<T>,
    i64: CastTo<T>,
{
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("cast"), Closeness::default());
    for type_name in ["u8", "i32", "i64"] {
        for case in stem.cases("cast", "cast", type_name) {
            if case.name.rsplit('-').next() != Some(T::NAME) {
                continue;
            }
            match type_name {
                "u8" => to_real::<u8, T>(&rt, &case, &mut closeness),
                "i32" => to_real::<i32, T>(&rt, &case, &mut closeness),
                _ => to_real::<i64, T>(&rt, &case, &mut closeness),
            }
        }
    }
    closeness
}

fn to_real<T: CastTo<U>, U: Real>(rt: &Runtime, case: &Case<'_>, closeness: &mut Closeness) {
    closeness.cases += 1;
    for layout in LAYOUTS {
        let (input, mut out) =
            (case.placed::<T, 2>(rt, "input", layout), case.unwritten::<U, 2>(rt, "out", layout));
        input.read(|input| out.write(|out| ops::cast(input, out))).unwrap();
        out.read(|out| closeness.compare(case, "out", out));
    }
}

fn to_integer<T: CastTo<U>, U: Element + Into<i64>>(
    rt: &Runtime,
    case: &Case<'_>,
    closeness: &mut Closeness,
) {
    closeness.cases += 1;
    for layout in LAYOUTS {
        let (input, mut out) =
            (case.placed::<T, 2>(rt, "input", layout), case.unwritten::<U, 2>(rt, "out", layout));
        input.read(|input| out.write(|out| ops::cast(input, out))).unwrap();
        out.read(|out| closeness.compare_integers(case, "out", out));
    }
}

for_each_real!(at least 12: cast, cast_from_integers);
