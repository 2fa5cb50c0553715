/// Adds `scale` times the distances of the columns of `a` from `origin` to `out`, and notes which are near.
///
/// The codelet behind [`distances`], [`distances_init`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct Distances;
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub type __codelet_of_distances = Distances;
impl Distances {
    /// The name, for display.
    pub const NAME: &'static str = "distances";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 4] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::SCRATCH,
        ::dahl::AccessMode::REDUX(::dahl::Reduction::Sum),
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real, const P: usize>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0x4a82c3bf415571ed)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "a",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "tmp",
                            ::dahl::AccessMode::SCRATCH,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                                "out",
                                ::dahl::AccessMode::REDUX(::dahl::Reduction::Sum),
                                ::dahl::ElementType::of::<T>(),
                            )
                            .accumulates_in(
                                ::dahl::__private::Accumulator::compute::<
                                    T,
                                >(::dahl::Reduction::Sum),
                            ),
                        ::dahl::__private::Parameter::new(
                            "near",
                            ::dahl::AccessMode::W,
                            ::dahl::ElementType::of::<u32>(),
                        ),
                    ]
                })
                .arguments(&["scale", "origin"])
                .kernels(const {
                    &[
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "rust",
                                |views| Distances::cpu::<
                                    T,
                                    P,
                                >(
                                    views.view::<T, ::dahl::ndarray::Ix2>(),
                                    views.view_mut::<T, ::dahl::ndarray::Ix2>(),
                                    views.slice_mut::<T::Compute>(),
                                    views.slice_mut::<u32>(),
                                    views.argument::<T>(),
                                    views.argument::<[u32; P]>(),
                                ),
                            ),
                        ),
                    ]
                })
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    pub fn cpu<T: Real, const P: usize>(
        a: ArrayView2<T>,
        tmp: ArrayViewMut2<T>,
        out: &mut [T::Compute],
        near: &mut [u32],
        scale: T,
        origin: [u32; P],
    ) {
        struct Call<'views, T: Real, const P: usize> {
            a: ArrayView2<'views, T>,
            tmp: ArrayViewMut2<'views, T>,
            out: &'views mut [T::Compute],
            near: &'views mut [u32],
            scale: T,
            origin: [u32; P],
        }
        impl<'views, T: Real, const P: usize> ::dahl::__private::Vectorised
        for Call<'views, T, P> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                Distances::body::<
                    T,
                    P,
                >(self.a, self.tmp, self.out, self.near, self.scale, self.origin)
            }
        }
        ::dahl::__private::dispatch(Call {
            a,
            tmp,
            out,
            near,
            scale,
            origin,
        })
    }
    /// The task of [`distances`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real, const P: usize>(
        a: &'task ::dahl::Array<'_, T, 2>,
        out: &'task mut ::dahl::Array<'_, T, 1>,
        near: &'task mut ::dahl::Array<'_, u32, 1>,
        scale: T,
        origin: [u32; P],
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(Distances::codelet::<T, P>());
        let shapes = Distances::shapes::<T, P>(a.extents());
        task.read(a);
        task.scratch::<T, 2>(shapes.0);
        task.write(out);
        task.write(near);
        task.argument(scale);
        task.argument(origin);
        task.require_shape(2, shapes.1);
        task.require_shape(3, shapes.2);
        task
    }
    /// What the option `shape` says.
    fn shapes<T: Real, const P: usize>(
        a: ::dahl::Extents<2>,
    ) -> ([usize; 2], [usize; 1], [usize; 1]) {
        (
            ::dahl::__private::IntoShape::<2>::into_shape(a),
            ::dahl::__private::IntoShape::<1>::into_shape([a.ncols()]),
            ::dahl::__private::IntoShape::<1>::into_shape([a.ncols()]),
        )
    }
    #[inline(always)]
    fn body<T: Real, const P: usize>(
        a: ArrayView2<T>,
        tmp: ArrayViewMut2<T>,
        out: &mut [T::Compute],
        near: &mut [u32],
        scale: T,
        origin: [u32; P],
    ) {
        measure(a, tmp, out, near, scale, origin)
    }
}
#[allow(unused_variables)]
impl<
    T: Real,
    const P: usize,
> ::dahl::__private::Variants<
    (
        ::dahl::Array<'static, T, 2>,
        ::dahl::Array<'static, T, 1>,
        ::dahl::Array<'static, u32, 1>,
    ),
    (T, [u32; P]),
> for Distances {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T, P>()
    }
    fn task<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, T, 2>,
            ::dahl::Array<'static, T, 1>,
            ::dahl::Array<'static, u32, 1>,
        ),
        arguments: (T, [u32; P]),
    ) -> ::dahl::Task<'task> {
        Distances::task::<
            T,
            P,
        >(&arrays.0, &mut arrays.1, &mut arrays.2, arguments.0, arguments.1)
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(
            ::dahl::Array<'static, T, 2>,
            ::dahl::Array<'static, T, 1>,
            ::dahl::Array<'static, u32, 1>,
        ),
        arguments: (T, [u32; P]),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            distances_init::<T, P>(arena, &arrays.0, arguments.0, arguments.1)
                .map(|(made_0, made_1)| {
                    made(1, &made_0);
                    made(2, &made_1);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[true, true, true, false], false)
            .reference(
                ::dahl::__private::Kernel::new(
                    "reference",
                    |views| {
                        #[allow(clippy::type_complexity)]
                        let kernel: fn(
                            ::dahl::ndarray::ArrayView<'_, f64, ::dahl::ndarray::Ix2>,
                            ::dahl::ndarray::ArrayViewMut<'_, f64, ::dahl::ndarray::Ix2>,
                            &mut [f64],
                            &mut [u32],
                            f64,
                            [u32; P],
                        ) = distances_in_f64;
                        kernel(
                            views.view::<f64, ::dahl::ndarray::Ix2>(),
                            views.view_mut::<f64, ::dahl::ndarray::Ix2>(),
                            views.slice_mut::<f64>(),
                            views.slice_mut::<u32>(),
                            views.argument_in_f64::<T>(),
                            views.argument::<[u32; P]>(),
                        )
                    },
                ),
            )
            .error(::dahl::__private::ErrorClass::Sum {
                terms: |operands| {
                    let a = operands.extents();
                    let _ = operands.extents();
                    let _ = operands.extents();
                    let _ = operands.extents();
                    let _ = operands.argument::<T>();
                    let _ = operands.argument::<[u32; P]>();
                    let count = 2 * a.nrows();
                    count as f64
                },
                magnitude: ::core::option::Option::Some(
                    ::dahl::__private::Kernel::new(
                        "magnitude",
                        |views| {
                            #[allow(clippy::type_complexity)]
                            let kernel: fn(
                                ::dahl::ndarray::ArrayView<'_, f64, ::dahl::ndarray::Ix2>,
                                ::dahl::ndarray::ArrayViewMut<
                                    '_,
                                    f64,
                                    ::dahl::ndarray::Ix2,
                                >,
                                &mut [f64],
                                &mut [u32],
                                f64,
                                [u32; P],
                            ) = magnitudes;
                            kernel(
                                views.view::<f64, ::dahl::ndarray::Ix2>(),
                                views.view_mut::<f64, ::dahl::ndarray::Ix2>(),
                                views.slice_mut::<f64>(),
                                views.slice_mut::<u32>(),
                                views.argument_in_f64::<T>(),
                                views.argument::<[u32; P]>(),
                            )
                        },
                    ),
                ),
            })
    }
}
/// Adds `scale` times the distances of the columns of `a` from `origin` to `out`, and notes which are near.
///
/// Submits a task on the given arrays. The shape of `out` is `[a.ncols()]`. The shape of `near` is `[a.ncols()]`.
#[track_caller]
pub fn distances<T: Real, const P: usize>(
    a: &::dahl::Array<'_, T, 2>,
    out: &mut ::dahl::Array<'_, T, 1>,
    near: &mut ::dahl::Array<'_, u32, 1>,
    scale: T,
    origin: [u32; P],
) -> ::dahl::Result<()> {
    Distances::task(a, out, near, scale, origin).submit()
}
/// Adds `scale` times the distances of the columns of `a` from `origin` to `out`, and notes which are near.
///
/// Makes `out` and `near` in `scope`, as new arrays, and submits the task. The shape of `out` is `[a.ncols()]`. The shape of `near` is `[a.ncols()]`.
#[track_caller]
pub fn distances_init<'m, T: Real, const P: usize>(
    scope: &'m impl ::dahl::Scope<Distances>,
    a: &::dahl::Array<'_, T, 2>,
    scale: T,
    origin: [u32; P],
) -> ::dahl::Result<(::dahl::Array<'m, T, 1>, ::dahl::Array<'m, u32, 1>)> {
    let shapes = Distances::shapes::<T, P>(a.extents());
    let mut out = ::dahl::Scope::<Distances>::output(scope, shapes.1, true)?;
    let mut near = ::dahl::Scope::<Distances>::output(scope, shapes.2, false)?;
    ::dahl::Scope::<
        Distances,
    >::submit(
        scope,
        Distances::task(a, &mut out, &mut near, scale, origin),
        ::dahl::__private::no_gradient,
    )?;
    ::core::result::Result::Ok((out, near))
}
