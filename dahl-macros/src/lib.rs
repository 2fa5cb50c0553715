//! The attribute `#[codelet]` and the derive macro `Argument` of dahl.
//!
//! A declaration passes four modules: `parse` (from tokens to the parts that the user wrote), `model` (their meaning),
//! `check` (whether they agree) and `expand` (the items that replace the function). Errors are collected on the way and
//! reported together, each at the user's own tokens; then stubs replace the items, so that callers do not fail too.

mod argument;
mod check;
mod compute;
mod errors;
mod expand;
mod mode;
mod model;
mod parse;
mod selection;
mod tokens;
mod view;

#[cfg(test)]
#[path = "../tests/expansion/mod.rs"]
mod expansion;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::model::Codelet;
use crate::parse::Declaration;

/// Declares a function as a codelet: an operation that the runtime can run, on arrays of any element type that its
/// bounds allow, with a typed wrapper for every variant.
///
/// ```
/// use dahl::prelude::*;
///
/// /// `out = alpha * x + y`, element by element.
/// #[codelet(R, R, W, in_place = y)]
/// pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
///     alpha * x + y
/// }
///
/// fn main() -> dahl::Result<()> {
///     let rt = Runtime::new()?;
///     let arena = rt.arena();
///     let x = arena.from_slice([3], &[1.0_f32, 2.0, 3.0])?;
///     let mut y = arena.from_slice([3], &[10.0_f32, 20.0, 30.0])?;
///     let mut out = arena.zeros([3])?;
///     axpy(&x, &y, &mut out, 2.0)?; // into a given output
///     let made = axpy_init(&arena, &x, &y, 2.0)?; // creates its output
///     axpy_self(&x, &mut y, 2.0)?; // over `y`
///     Axpy::task(&x, &y, &mut out, 2.0).priority(1).submit()?; // with options of the task
///     assert_eq!(made.to_vec()?, [12.0, 24.0, 36.0]);
///     Ok(())
/// }
/// ```
///
/// # The mode row
///
/// The attribute begins with one access mode for each array, in the order of the parameters. Parameters after them are
/// plain arguments, of types that implement `Argument`.
///
/// | mode | the kernel | its view |
/// |---|---|---|
/// | `R` | reads | shared |
/// | `W` | writes every element; the old content is undefined | mutable |
/// | `RW` | reads and writes | mutable |
/// | `REDUX`, `REDUX(max)`, `REDUX(min)` | combines into a private buffer that starts with the identity (of a sum, a maximum, a minimum); it may be of `T::Compute`, and is rounded to `T` once, at the end | mutable |
/// | `REDUX(identity = EXPR, combine = PATH)` | the same, by a codelet of your own: see below | mutable |
/// | `COMMUTE` | as `RW`; such tasks run one at a time, in any order | mutable |
/// | `SCRATCH` | uses a temporary array, which is not a parameter of the wrapper; `shape(..)` gives its extents; an array precedes it | mutable |
///
/// **A reduction of your own** names the initial value of private buffers, and the function of a codelet that combines two
/// partial results, the later one into the earlier one. That codelet is a map of two inputs (`mul`), or a kernel with the
/// modes `(RW, R)`, `merge(earlier, later)`, which receives whole buffers, contiguous and of rank 1. Its arrays have the
/// parameter's element type, which follows from that of the reduction. If the function is named without a path, its type
/// (`Merge`) must be in scope too. Combining must be associative. Its order is that of the submissions, for any number of
/// workers. The array's old value is combined last, as the earlier one.
///
/// ```
/// use dahl::prelude::*;
///
/// /// Multiplies `out` by the product of `x`.
/// #[codelet(R, REDUX(identity = T::ONE, combine = dahl::ops::mul), shape(out = []))]
/// fn product<T: Real>(x: &[T], out: &mut [T]) {
///     for &x in x {
///         out[0] *= x;
///     }
/// }
///
/// fn main() -> dahl::Result<()> {
///     let rt = Runtime::new()?;
///     let x = rt.from_vec([4], vec![1.0_f64, 2.0, 3.0, 4.0])?;
///     let mut out = rt.from_vec([], vec![10.0])?;
///     product(&x, &mut out)?;
///     assert_eq!(out.to_vec()?, [240.0]);
///     Ok(())
/// }
/// ```
///
/// # The two forms
///
/// | form | parameters | result | runs over |
/// |---|---|---|---|
/// | map | elements, by value: a type parameter or a concrete element type | an element | every element of arrays of one shape |
/// | kernel | views: `&[T]`, `&mut [T]`, `ArrayView0` to `ArrayView6`, `ArrayViewD`, and `ArrayViewMut..` | none: outputs are parameters | the whole arrays |
///
/// Views are recognised by the last name of their type. Slices are contiguous and of any rank (a strided part is
/// copied); ndarray's views are passed without a copy. The parameters without a fixed rank, slices and `D`, share one rank, unless
/// `shape(..)` gives one of them another by the length of an array literal.
///
/// **A map's modes** are those of its inputs, all `R`, and, last, that of the return value, `W`, which the options call
/// `out`. Its body is compiled in the compute type: type parameters bounded by `Real` are `Real::Compute` there (`f32` for
/// `f16` and `bf16`), and so are the types `f16` and `bf16`; the result is rounded once. (On the CPU a generic body that
/// only compares values and chooses among them is compiled in the element types: nothing is rounded.) It is restricted to
/// what every device can compute:
///
/// * arithmetic, comparisons, boolean operators, parentheses, literals, constants;
/// * `let` and `if`/`else`;
/// * the functions of `Real`, as methods (`x.exp()`) or associated functions (`T::from_f64(0.5)`).
///
/// With the option `cpu_only`, the body is any Rust.
///
/// # What is generated
///
/// For `axpy`, with the visibility of the function:
///
/// * the type `Axpy` with `NAME`, `MODES`, `codelet()` (the descriptor), `cpu(..)` (the kernel on slices or views, without a
///   runtime; for maps also `cpu_self(..)`), `task(..)` and `task_self(..)` (builders of tasks);
/// * the trait `Variants`, through which generic tests call a codelet;
/// * `axpy(..)`: submits a task on the given arrays;
/// * `axpy_self(..)`: overwrites an input. It exists if exactly one array is changed, of mode `W`, and an `R`
///   parameter has its element type and rank. Maps run in place, and so do kernels with an `in_place_kernel`; otherwise the
///   result replaces the input's buffer, with the same effect for the caller;
/// * `axpy_init(&arena, ..)`: creates the `W` and `REDUX` outputs, and returns the array, or a tuple of them. It exists if the
///   shapes of all of them are known: in a map with an input; by `shape(..)`; for an output of rank 0. `RW` and `COMMUTE` arrays
///   are passed as usual. A new `REDUX` output has no old value: the result is that of the reduction alone.
///
/// Shapes, ranks and preconditions are checked in the call; an error names the codelet, the shapes and the caller's line.
///
/// # Options
///
/// In the expressions, the name of an array stands for its extents: `a` (as a shape), `a.len()` (number of elements),
/// `a.shape()[1]`, `a.nrows()`, `a.ncols()`. Arguments stand for their values.
///
/// * `shape(out = EXPR)`: the shape of an output or a scratch, computed from the inputs: `shape(out = a)` or
///   `shape(out = [a.nrows(), b.ncols()])`. Once for each. It enables `_init`, and given outputs must have this shape.
/// * `check(EXPR)`: a precondition, of type `bool`; its failure shows the expression and the values. May be repeated.
///   Those that do not mention a `W` or `REDUX` output run before the shapes are computed, which may rely on them.
/// * `in_place = PARAM`: the input that `_self` overwrites. The default is the first suitable one.
/// * `in_place_kernel = PATH`: a kernel for `_self`, with the declaration's parameters without the output; the input that is
///   overwritten is a mutable view.
/// * `cpu = [PATH, ..]`: further CPU kernels, with the parameters of `cpu(..)`. A name in upper case is a kernel of
///   `dahl-build`. The function's own body comes first. Words before a path describe the kernel: `parallel PATH`
///   uses several cores, as below; `equal PATH` gives the same bits as the function's own body, so that
///   the runtime may take whichever is faster (`docs/kernels.md`).
/// * `cpu_only`: there will be no kernel for other devices; in a map, the body is any Rust.
/// * `cuda = PATH`: the kernel in CUDA, a name in upper case of `dahl-build`'s table (`kernels::CONV2D`). It must
///   have the declaration's parameters, or compilation fails. That of a map is generated from its body; `docs/cuda.md` says
///   what that means for results.
/// * `cuda_call = [cublas PATH, ..]`: kernels for CUDA devices that call a library: functions that take a `CudaCall`, then a
///   `CudaArray` or `CudaArrayMut` for each array, then the arguments. Before the path stands the library that it needs,
///   `cublas` or `cudnn`, or none. They take precedence over the kernel in CUDA; with `last PATH`, the kernel in CUDA does. `docs/cuda-devices.md`
///   says which kernel runs.
/// * `broadcast`: in a map, an input's extent of 1 is broadcast, as in NumPy.
/// * `parallel`: the function's own body uses several cores, by the functions of `dahl::rayon`; in a map, whose loop is
///   generated, the loop does. `parallel = PATH`: the body uses one core, and the kernel of this path several. They give
///   the same bits, for any number of cores; idle workers help if that is faster (`docs/kernels.md`).
/// * `flops = EXPR`, `bytes = EXPR`: the floating-point operations of a task, and the bytes that it moves, as any number;
///   performance models compute rates with them.
/// * `reference = PATH`, `error = CLASS`: the reference and the error bound of tests: see below.
/// * `crate = PATH`: the path of dahl, if not `::dahl`.
///
/// `gradient` is reserved.
///
/// # Reference and error
///
/// `reference = PATH` names independent code that computes the same in `f64`. In kernel form it has the function's own
/// signature with `f64` for every type parameter `T`, and for `T::Compute`:
/// `fn matmul(a: ArrayView2<f64>, b: ArrayView2<f64>, out: ArrayViewMut2<f64>)`. It receives the
/// same old values of `RW` and `REDUX` arrays as the kernel. In map form it is a function of scalars, `fn(f64, f64, f64) -> f64`, first
/// the inputs, then the arguments; for `exp`, `reference = f64::exp`. All other types are as declared: labels, indices,
/// structs of arguments.
///
/// `error = CLASS` says how far a result may be from the exact one:
///
/// | class | the result is |
/// |---|---|
/// | `rounded` | the nearest number of the element type |
/// | `ulp(N)` | within `N` units in the last place of the compute type, and half a unit of the element type if that is narrower |
/// | `sum(n = EXPR)` | a sum of `n` terms in the compute type, rounded to the element type. The bound grows with the sum of the terms' absolute values, which the reference computes from the inputs' and arguments' absolute values |
/// | `sum(n = EXPR, terms = PATH)` | the same where terms are subtracted: `PATH` has the signature of a reference, and computes for each element the sum of its terms' absolute values |
///
/// ```
/// use dahl::prelude::*;
///
/// /// Adds the sum of the products of `a` and `b` to `out`.
/// #[codelet(R, R, REDUX, shape(out = []), check(a.len() == b.len()), reference = dot_in_f64, error = sum(n = a.len()))]
/// fn dot<T: Real>(a: &[T], b: &[T], out: &mut [T::Compute]) {
///     for (a, b) in a.iter().zip(b) {
///         out[0] += a.widen() * b.widen();
///     }
/// }
///
/// fn dot_in_f64(a: &[f64], b: &[f64], out: &mut [f64]) {
///     out[0] += a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
/// }
///
/// /// The sigmoid of every element.
/// #[codelet(R, W, reference = sigmoid_in_f64, error = ulp(4))]
/// fn sigmoid<T: Real>(x: T) -> T {
///     T::ONE / (T::ONE + (-x).exp())
/// }
///
/// fn sigmoid_in_f64(x: f64) -> f64 {
///     1.0 / (1.0 + (-x).exp())
/// }
/// ```
///
/// # Errors
///
/// All errors of a declaration are reported together, each under the user's own token. The items of the declaration are
/// generated nevertheless, so that its callers get no errors of their own.
#[proc_macro_attribute]
pub fn codelet(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_codelet(attribute.into(), item.into()).into()
}

/// Implements `Argument` for a struct of arguments or an enum without fields, so that tasks can carry it beside their
/// arrays.
///
/// A struct needs `#[repr(C)]`: the encoding has every field at its offset in C, and zeros as padding. A kernel in C or
/// CUDA takes the fields one by one, as if each were an argument; then there may be no padding. An enum needs
/// `#[repr(u8)]` or another integer, which is what a kernel takes.
/// `#[argument(crate = PATH)]` gives the path of dahl, if not `::dahl`.
///
/// ```
/// use dahl::prelude::*;
///
/// #[derive(Clone, Copy, Debug, Argument)]
/// #[repr(C)]
/// struct Window {
///     rows: u8,
///     cols: u32,
/// }
///
/// let mut bytes = [0xff; Window::SIZE_BYTES];
/// Window { rows: 3, cols: 5 }.encode(&mut bytes);
/// assert_eq!(bytes[..4], [3, 0, 0, 0]);
/// assert_eq!(Window::decode(&bytes).cols, 5);
///
/// #[derive(Clone, Copy, Debug, PartialEq, Argument)]
/// #[repr(u8)]
/// enum Border {
///     Zero,
///     Mirror = 7,
/// }
///
/// let mut bytes = [0];
/// Border::Mirror.encode(&mut bytes);
/// assert_eq!((bytes, Border::decode(&bytes)), ([7], Border::Mirror));
/// ```
#[proc_macro_derive(Argument, attributes(argument))]
pub fn argument(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    argument::derive(item.into()).into()
}

/// `#[codelet(attribute)] item`, as a function of tokens for tests.
pub(crate) fn expand_codelet(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(declaration) = Declaration::parse(attribute, item.clone(), &mut errors) else {
        return [item, errors.into_compile_errors()].into_iter().collect();
    };
    let is_method = declaration.function.sig.receiver().is_some();
    let codelet = Codelet::new(declaration, &mut errors);
    check::check(&codelet, &mut errors);
    if errors.is_empty() {
        return expand::expand(&codelet);
    }
    // A type cannot be declared inside an `impl`.
    let instead = if is_method { item } else { expand::stubs(codelet) };
    [instead, errors.into_compile_errors()].into_iter().collect()
}
