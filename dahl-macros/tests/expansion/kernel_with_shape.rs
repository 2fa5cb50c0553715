/// Softmax of every row.
///
/// The codelet behind [`softmax_rows`], [`softmax_rows_self`], [`softmax_rows_init`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct SoftmaxRows;
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub type __codelet_of_softmax_rows = SoftmaxRows;
impl SoftmaxRows {
    /// The name, for display.
    pub const NAME: &'static str = "softmax_rows";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 2] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0xda61d6e48f1597db)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "input",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "out",
                            ::dahl::AccessMode::W,
                            ::dahl::ElementType::of::<T>(),
                        ),
                    ]
                })
                .kernels(const {
                    &[
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "rust",
                                |views| SoftmaxRows::cpu::<
                                    T,
                                >(
                                    views.view::<T, ::dahl::ndarray::Ix2>(),
                                    views.view_mut::<T, ::dahl::ndarray::Ix2>(),
                                ),
                            ),
                        ),
                    ]
                })
                .in_place(::dahl::__private::InPlace::rename(0))
                .flops(|operands| {
                    let input = operands.extents();
                    let _ = operands.extents();
                    let count = 5 * input.len();
                    count as f64
                })
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    pub fn cpu<T: Real>(input: ArrayView2<T>, out: ArrayViewMut2<T>) {
        struct Call<'views, T: Real> {
            input: ArrayView2<'views, T>,
            out: ArrayViewMut2<'views, T>,
        }
        impl<'views, T: Real> ::dahl::__private::Vectorised for Call<'views, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                SoftmaxRows::body::<T>(self.input, self.out)
            }
        }
        ::dahl::__private::dispatch(Call { input, out })
    }
    /// The task of [`softmax_rows`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real>(
        input: &'task ::dahl::Array<'_, T, 2>,
        out: &'task mut ::dahl::Array<'_, T, 2>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(SoftmaxRows::codelet::<T>());
        let shapes = SoftmaxRows::shapes::<T>(input.extents());
        task.read(input);
        task.write(out);
        task.require_shape(1, shapes);
        task
    }
    /// The task of [`softmax_rows_self`], to be given options and submitted.
    #[track_caller]
    pub fn task_self<'task, T: Real>(
        input: &'task mut ::dahl::Array<'_, T, 2>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new_in_place(SoftmaxRows::codelet::<T>());
        let shapes = SoftmaxRows::shapes::<T>(input.extents());
        task.write(input);
        task.require_shape(1, shapes);
        task
    }
    /// What the option `shape` says.
    fn shapes<T: Real>(input: ::dahl::Extents<2>) -> [usize; 2] {
        ::dahl::__private::IntoShape::<2>::into_shape(input)
    }
    #[inline(always)]
    fn body<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
        softmax(input, out)
    }
}
#[allow(unused_variables)]
impl<
    T: Real,
> ::dahl::__private::Variants<
    (::dahl::Array<'static, T, 2>, ::dahl::Array<'static, T, 2>),
    (),
> for SoftmaxRows {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (::dahl::Array<'static, T, 2>, ::dahl::Array<'static, T, 2>),
        arguments: (),
    ) -> ::dahl::Task<'task> {
        SoftmaxRows::task::<T>(&arrays.0, &mut arrays.1)
    }
    fn task_self<'task>(
        arrays: &'task mut (::dahl::Array<'static, T, 2>, ::dahl::Array<'static, T, 2>),
        arguments: (),
    ) -> ::core::option::Option<::dahl::Task<'task>> {
        ::core::option::Option::Some(SoftmaxRows::task_self::<T>(&mut arrays.0))
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(::dahl::Array<'static, T, 2>, ::dahl::Array<'static, T, 2>),
        arguments: (),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            softmax_rows_init::<T>(arena, &arrays.0)
                .map(|made_0| {
                    made(1, &made_0);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[true, true], false)
    }
    fn declaration<P: ::dahl::Real>() -> ::core::option::Option<
        ::dahl::__private::Kernel,
    > {
        ::core::option::Option::Some(
            ::dahl::__private::Kernel::new(
                "declaration",
                |views| SoftmaxRows::cpu::<
                    P,
                >(
                    views.view::<P, ::dahl::ndarray::Ix2>(),
                    views.view_mut::<P, ::dahl::ndarray::Ix2>(),
                ),
            ),
        )
    }
}
/// Softmax of every row.
///
/// Submits a task on the given arrays. The shape of `out` is that of `input`.
#[track_caller]
pub fn softmax_rows<T: Real>(
    input: &::dahl::Array<'_, T, 2>,
    out: &mut ::dahl::Array<'_, T, 2>,
) -> ::dahl::Result<()> {
    SoftmaxRows::task(input, out).submit()
}
/// Softmax of every row.
///
/// Submits a task that overwrites `input` with the result.
#[track_caller]
pub fn softmax_rows_self<T: Real>(
    input: &mut ::dahl::Array<'_, T, 2>,
) -> ::dahl::Result<()> {
    SoftmaxRows::task_self(input).submit()
}
/// Softmax of every row.
///
/// Makes `out` in `scope`, as a new array, and submits the task. The shape of `out` is that of `input`.
#[track_caller]
pub fn softmax_rows_init<'m, T: Real>(
    scope: &'m impl ::dahl::Scope<SoftmaxRows>,
    input: &::dahl::Array<'_, T, 2>,
) -> ::dahl::Result<::dahl::Array<'m, T, 2>> {
    let shapes = SoftmaxRows::shapes::<T>(input.extents());
    let mut out = ::dahl::Scope::<SoftmaxRows>::output(scope, shapes, false)?;
    ::dahl::Scope::<
        SoftmaxRows,
    >::submit(
        scope,
        SoftmaxRows::task(input, &mut out),
        ::dahl::__private::no_gradient,
    )?;
    ::core::result::Result::Ok(out)
}
