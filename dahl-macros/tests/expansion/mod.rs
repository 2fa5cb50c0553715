//! The expansions of typical declarations, stored as readable text beside this file.
//!
//! `UPDATE_EXPECT=1 cargo test -p dahl-macros --lib` updates them; read the difference.

use expect_test::{ExpectFile, expect_file};
use quote::ToTokens;
use syn::{File, ItemFn, Meta};

/// The expansion of `declaration`, which is one function with the attribute `#[codelet(..)]`.
fn expanded(declaration: &str) -> String {
    let mut function: ItemFn = syn::parse_str(declaration).unwrap();
    let is_codelet = |attribute: &syn::Attribute| attribute.path().is_ident("codelet");
    let index = function.attrs.iter().position(is_codelet).unwrap();
    let Meta::List(attribute) = function.attrs.remove(index).meta else { panic!("`#[codelet]` has no list") };
    let expansion = crate::expand_codelet(attribute.tokens, function.into_token_stream());
    let file: File = syn::parse2(expansion).unwrap();
    prettyplease::unparse(&file)
}

fn check(declaration: &str, expected: ExpectFile) {
    expected.assert_eq(&expanded(declaration));
}

#[test]
fn another_path_of_dahl_is_the_only_one() {
    let declarations = [
        "#[codelet(R, R, W, in_place = y, broadcast, parallel, reference = f, error = ulp(2), crate = elsewhere)]
        fn axpy<T: Real>(x: T, y: T, alpha: T) -> T { alpha * x + y }",
        "#[codelet(R, REDUX, shape(total = []), flops = x.len(), crate = elsewhere)]
        fn sum<T: Real>(x: &[T], total: &mut [T]) {}",
        "#[codelet(R, SCRATCH, W, shape(tmp = [x.nrows()]), shape(out = x), check(x.ncols() > n),
            cpu = [other], cuda = kernels::K, bytes = x.len(), crate = elsewhere)]
        fn rows<T: Real>(x: ArrayView2<T>, tmp: &mut [T], mut out: ArrayViewMut2<T>, n: usize) {}",
    ];
    let path_of_others = |text: &str| text.replace(' ', "").matches("::dahl").count();
    for declaration in declarations {
        let text = expanded(declaration);
        assert!(text.contains("elsewhere::") && !text.contains("compile_error"), "{text}");
        assert_eq!(path_of_others(&text), 0, "{text}");
        assert!(path_of_others(&expanded(&declaration.replace(", crate = elsewhere", ""))) > 0);
    }
    let argument = "#[argument(crate = elsewhere)] #[repr(C)] struct Window { rows: u8, cols: u32 }";
    let text = crate::argument::derive(syn::parse_str(argument).unwrap()).to_string();
    assert!(text.contains("elsewhere ::") && path_of_others(&text) == 0, "{text}");
}

#[test]
fn a_map() {
    check(
        "
        /// `out = alpha * x + y`, element by element.
        #[codelet(R, R, W, in_place = y)]
        pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
            alpha * x + y
        }
        ",
        expect_file!["map.rs"],
    );
}

#[test]
fn a_map_of_several_types_that_broadcasts() {
    check(
        "
        /// `out = value` where `mask` is not zero, else `otherwise`.
        #[codelet(R, R, R, W, broadcast, in_place = otherwise)]
        pub(crate) fn select<T: Element>(mask: u8, value: T, otherwise: T) -> T {
            if mask != 0 { value } else { otherwise }
        }
        ",
        expect_file!["map_with_broadcast.rs"],
    );
}

#[test]
fn a_kernel_with_shape() {
    check(
        "
        /// Softmax of every row.
        #[codelet(R, W, shape(out = input), flops = 5 * input.len())]
        pub fn softmax_rows<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
            softmax(input, out)
        }
        ",
        expect_file!["kernel_with_shape.rs"],
    );
}

#[test]
fn several_outputs() {
    check(
        "
        /// The largest element of every row, and where it is.
        #[codelet(R, W, W, shape(largest = [x.nrows()]), shape(place = [x.nrows()]))]
        pub fn max_rows<T: Real>(x: ArrayView2<T>, largest: &mut [T], place: &mut [u32]) {
            find(x, largest, place)
        }
        ",
        expect_file!["several_outputs.rs"],
    );
}

#[test]
fn a_reduction_in_the_compute_type() {
    check(
        "
        /// Adds the sum of all elements to `out`.
        #[codelet(R, REDUX, shape(out = []))]
        pub fn sum<T: Real>(x: &[T], out: &mut [T::Compute]) {
            out[0] += ::dahl::simd::sum(x);
        }
        ",
        expect_file!["reduction.rs"],
    );
}

#[test]
fn a_reduction_by_a_codelet_of_the_users() {
    check(
        "
        /// Multiplies `out` by the product of `x`.
        #[codelet(R, REDUX(identity = T::ONE.widen(), combine = dahl::ops::mul), shape(out = []))]
        pub fn product<T: Real>(x: &[T], out: &mut [T::Compute]) {
            multiply(x, out)
        }
        ",
        expect_file!["reduction_of_the_users.rs"],
    );
}

#[test]
fn a_codelet_that_combines() {
    check(
        "
        /// Puts the larger one first.
        #[codelet(RW, R)]
        pub fn merge<T: Real>(earlier: &mut [T], later: &[T]) {
            pick(earlier, later)
        }
        ",
        expect_file!["combining.rs"],
    );
}

#[test]
fn a_kernel_with_checks_and_further_kernels() {
    check(
        "
        /// `out = sum(a * b)`.
        #[codelet(
            R, R, W,
            shape(out = []),
            check(a.len() == b.len()),
            cpu = [dot_unrolled, kernels::DOT_C],
            flops = 2 * a.len(),
        )]
        pub fn dot<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
            out[0] = product(a, b);
        }
        ",
        expect_file!["kernel_with_checks.rs"],
    );
}

#[test]
fn a_map_with_reference_and_error() {
    check(
        "
        /// `out = alpha * exp(x)` where `mask` is not zero, else zero.
        #[codelet(R, R, W, reference = reference::masked_exp, error = ulp(2.5))]
        fn masked_exp<T: Real>(mask: u8, x: T, alpha: T) -> T {
            if mask != 0 { alpha * x.exp() } else { T::ZERO }
        }
        ",
        expect_file!["map_with_reference.rs"],
    );
}

#[test]
fn a_kernel_with_reference_and_error() {
    check(
        "
        /// Adds `scale` times the distances of the columns of `a` from `origin` to `out`, and notes which are near.
        #[codelet(
            R, SCRATCH, REDUX, W,
            shape(tmp = a), shape(out = [a.ncols()]), shape(near = [a.ncols()]),
            reference = distances_in_f64,
            error = sum(n = 2 * a.nrows(), terms = magnitudes),
        )]
        pub fn distances<T: Real, const P: usize>(
            a: ArrayView2<T>,
            tmp: ArrayViewMut2<T>,
            out: &mut [T::Compute],
            near: &mut [u32],
            scale: T,
            origin: [u32; P],
        ) {
            measure(a, tmp, out, near, scale, origin)
        }
        ",
        expect_file!["kernel_with_reference.rs"],
    );
}
