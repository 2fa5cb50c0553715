/// `out = alpha * x + y`, element by element.
///
/// The codelet behind [`axpy`], [`axpy_self`], [`axpy_init`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct Axpy;
impl Axpy {
    /// The name, for display.
    pub const NAME: &'static str = "axpy";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 3] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0xd1825827d8a1d444)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "x",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "y",
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
                .arguments(&["alpha"])
                .kernels(const {
                    &[
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "rust",
                                |views| {
                                    let alpha = views.argument::<T>();
                                    views
                                        .for_each_run(|run| Axpy::cpu::<
                                            T,
                                        >(
                                            run.slice::<T>(),
                                            run.slice::<T>(),
                                            run.slice_mut::<T>(),
                                            alpha,
                                        ))
                                },
                            ),
                        ),
                    ]
                })
                .in_place(
                    ::dahl::__private::InPlace::kernel(
                        1,
                        ::dahl::__private::Kernel::new(
                            "rust",
                            |views| {
                                let alpha = views.argument::<T>();
                                views
                                    .for_each_run(|run| Axpy::cpu_self::<
                                        T,
                                    >(run.slice::<T>(), run.slice_mut::<T>(), alpha))
                            },
                        ),
                    ),
                )
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn cpu<T: Real>(x: &[T], y: &[T], out: &mut [T], alpha: T) {
        struct Map<'slices, T: Real> {
            x: &'slices [T],
            y: &'slices [T],
            out: &'slices mut [T],
            alpha: T,
        }
        impl<'slices, T: Real> ::dahl::__private::Vectorised for Map<'slices, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self { x, y, out, alpha } = self;
                let len = out.len();
                let x = &x[..len];
                let y = &y[..len];
                let alpha = ::dahl::Real::widen(alpha);
                for i in 0..len {
                    out[i] = <T as ::dahl::Real>::narrow(
                        Axpy::body::<
                            <T as ::dahl::Real>::Compute,
                        >(::dahl::Real::widen(x[i]), ::dahl::Real::widen(y[i]), alpha),
                    );
                }
            }
        }
        ::core::assert!(
            x.len() == out.len() && y.len() == out.len(),
            "axpy: the slices differ in length"
        );
        ::dahl::__private::dispatch(Map { x, y, out, alpha })
    }
    /// Runs the kernel on the calling thread, without a runtime, over `y`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn cpu_self<T: Real>(x: &[T], y: &mut [T], alpha: T) {
        struct Map<'slices, T: Real> {
            x: &'slices [T],
            y: &'slices mut [T],
            alpha: T,
        }
        impl<'slices, T: Real> ::dahl::__private::Vectorised for Map<'slices, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self { x, y, alpha } = self;
                let len = y.len();
                let x = &x[..len];
                let alpha = ::dahl::Real::widen(alpha);
                for i in 0..len {
                    y[i] = <T as ::dahl::Real>::narrow(
                        Axpy::body::<
                            <T as ::dahl::Real>::Compute,
                        >(::dahl::Real::widen(x[i]), ::dahl::Real::widen(y[i]), alpha),
                    );
                }
            }
        }
        ::core::assert!(x.len() == y.len(), "axpy: the slices differ in length");
        ::dahl::__private::dispatch(Map { x, y, alpha })
    }
    /// The task of [`axpy`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real, const N: usize>(
        x: &'task ::dahl::Array<'_, T, N>,
        y: &'task ::dahl::Array<'_, T, N>,
        out: &'task mut ::dahl::Array<'_, T, N>,
        alpha: T,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(Axpy::codelet::<T>());
        task.read(x);
        task.read(y);
        task.write(out);
        task.argument(alpha);
        task.require_same_shapes();
        task
    }
    /// The task of [`axpy_self`], to be given options and submitted.
    #[track_caller]
    pub fn task_self<'task, T: Real, const N: usize>(
        x: &'task ::dahl::Array<'_, T, N>,
        y: &'task mut ::dahl::Array<'_, T, N>,
        alpha: T,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new_in_place(Axpy::codelet::<T>());
        task.read(x);
        task.write(y);
        task.argument(alpha);
        task.require_same_shapes();
        task
    }
    #[inline(always)]
    fn body<T: Real>(x: T, y: T, alpha: T) -> T {
        alpha * x + y
    }
}
#[allow(unused_variables)]
impl<
    T: Real,
    const N: usize,
> ::dahl::__private::Variants<
    (
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, N>,
    ),
    (T,),
> for Axpy {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (T,),
    ) -> ::dahl::Task<'task> {
        Axpy::task::<T, N>(&arrays.0, &arrays.1, &mut arrays.2, arguments.0)
    }
    fn task_self<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (T,),
    ) -> ::core::option::Option<::dahl::Task<'task>> {
        ::core::option::Option::Some(
            Axpy::task_self::<T, N>(&arrays.0, &mut arrays.1, arguments.0),
        )
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (T,),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            axpy_init::<T, N>(arena, &arrays.0, &arrays.1, arguments.0)
                .map(|made_0| {
                    made(2, &made_0);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[true, true, true], true)
    }
    fn declaration<P: ::dahl::Real>() -> ::core::option::Option<
        ::dahl::__private::Kernel,
    > {
        ::core::option::Option::Some(
            ::dahl::__private::Kernel::new(
                "declaration",
                |views| {
                    let alpha = <P as ::dahl::Real>::from_f64(
                        views.argument_in_f64::<T>(),
                    );
                    views
                        .for_each_run(|run| Axpy::cpu::<
                            P,
                        >(
                            run.slice::<P>(),
                            run.slice::<P>(),
                            run.slice_mut::<P>(),
                            alpha,
                        ))
                },
            ),
        )
    }
}
/// `out = alpha * x + y`, element by element.
///
/// Submits a task on the given arrays. All arrays have one shape.
#[track_caller]
pub fn axpy<T: Real, const N: usize>(
    x: &::dahl::Array<'_, T, N>,
    y: &::dahl::Array<'_, T, N>,
    out: &mut ::dahl::Array<'_, T, N>,
    alpha: T,
) -> ::dahl::Result<()> {
    Axpy::task(x, y, out, alpha).submit()
}
/// `out = alpha * x + y`, element by element.
///
/// Submits a task that overwrites `y` with the result. All arrays have the shape of `y`.
#[track_caller]
pub fn axpy_self<T: Real, const N: usize>(
    x: &::dahl::Array<'_, T, N>,
    y: &mut ::dahl::Array<'_, T, N>,
    alpha: T,
) -> ::dahl::Result<()> {
    Axpy::task_self(x, y, alpha).submit()
}
/// `out = alpha * x + y`, element by element.
///
/// Makes `out` in `arena`, as a new array, and submits the task. It has the inputs' shape.
#[track_caller]
pub fn axpy_init<'m, T: Real, const N: usize>(
    arena: &'m ::dahl::Arena,
    x: &::dahl::Array<'_, T, N>,
    y: &::dahl::Array<'_, T, N>,
    alpha: T,
) -> ::dahl::Result<::dahl::Array<'m, T, N>> {
    let shapes = ::dahl::__private::map_shape(
        Axpy::codelet::<T>(),
        &[("x", x.shape()), ("y", y.shape())],
        false,
    )?;
    let mut out = ::dahl::__private::uninit(arena, shapes)?;
    Axpy::task(x, y, &mut out, alpha).submit()?;
    ::core::result::Result::Ok(out)
}
