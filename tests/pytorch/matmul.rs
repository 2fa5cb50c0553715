use dahl::ops::{Transposed, matmul_add_transposed, matmul_transposed_init, matvec_init, outer_init};
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

fn matmul<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("matmul"), Closeness::default());
    for case in stem.cases("matmul", "factors", T::NAME) {
        closeness.cases += 1;
        let [transpose_a, transpose_b] = ["transpose_a", "transpose_b"].map(|role| case.count(role) == 1);
        for layout in LAYOUTS {
            let (a, b) = (case.placed::<T, 2>(&rt, "a", layout), case.placed(&rt, "b", layout));
            let mut out = case.unwritten(&rt, "out", layout);
            a.read(|a| {
                b.read(|b| {
                    out.write(|out| {
                        dahl::ops::matmul_transposed(
                            a,
                            b,
                            out,
                            Transposed { left: transpose_a, right: transpose_b },
                        )
                    })
                    .unwrap();
                    let made = matmul_transposed_init(
                        &arena,
                        a,
                        b,
                        Transposed { left: transpose_a, right: transpose_b },
                    )
                    .unwrap();
                    closeness.compare(&case, "out", &made);
                });
            });
            out.read(|out| closeness.compare(&case, "out", out));
        }
    }
    closeness
}

/// `torch.addmm`.
fn matmul_added<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("matmul"), Closeness::default());
    for case in stem.cases("matmul_add", "factors", T::NAME) {
        closeness.cases += 1;
        let [transpose_a, transpose_b] = ["transpose_a", "transpose_b"].map(|role| case.count(role) == 1);
        for layout in LAYOUTS {
            let (a, b) = (case.placed::<T, 2>(&rt, "a", layout), case.placed::<T, 2>(&rt, "b", layout));
            let mut out = case.array::<T, 2>(&rt, "start");
            a.read(|a| {
                b.read(|b| {
                    matmul_add_transposed(
                        a,
                        b,
                        &mut out,
                        Transposed { left: transpose_a, right: transpose_b },
                    )
                    .unwrap()
                })
            });
            closeness.compare(&case, "out", &out);
        }
    }
    closeness
}

fn matvec<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("matmul"), Closeness::default());
    for case in stem.cases("matvec", "factors", T::NAME) {
        closeness.cases += 1;
        let (transpose_a, vector) = (case.count("transpose_a") == 1, case.array::<T, 1>(&rt, "vector"));
        for layout in LAYOUTS {
            let a = case.placed::<T, 2>(&rt, "a", layout);
            let mut out = case.unwritten(&rt, "out", layout);
            a.read(|a| {
                let made = if transpose_a {
                    out.write(|out| dahl::ops::matvec_transposed(a, &vector, out)).unwrap();
                    dahl::ops::matvec_transposed_init(&arena, a, &vector)
                } else {
                    out.write(|out| dahl::ops::matvec(a, &vector, out)).unwrap();
                    matvec_init(&arena, a, &vector)
                };
                closeness.compare(&case, "out", &made.unwrap());
            });
            out.read(|out| closeness.compare(&case, "out", out));
        }
    }
    closeness
}

fn outer<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("matmul"), Closeness::default());
    for case in stem.cases("outer", "outer", T::NAME) {
        closeness.cases += 1;
        let [column, row] = ["column", "row"].map(|role| case.array::<T, 1>(&rt, role));
        for layout in LAYOUTS {
            let mut out = case.unwritten(&rt, "out", layout);
            out.write(|out| dahl::ops::outer(&column, &row, out)).unwrap();
            out.read(|out| closeness.compare(&case, "out", out));
        }
        closeness.compare(&case, "out", &outer_init(&arena, &column, &row).unwrap());
    }
    closeness
}

for_each_real!(at least 15: matmul, matmul_added, matvec, outer);
