/// `out = alpha * exp(x)` where `mask` is not zero, else zero.
///
/// The codelet behind [`masked_exp`], [`masked_exp_self`], [`masked_exp_init`]: its name, access modes and kernels.
#[allow(dead_code)]
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
struct MaskedExp;
#[allow(dead_code)]
impl MaskedExp {
    /// The name, for display.
    const NAME: &'static str = "masked_exp";
    /// The access modes of the data parameters, in order.
    const MODES: [::dahl::AccessMode; 3] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0x37f7488b0da4e436)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "mask",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<u8>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "x",
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
                                        .for_each_run(|run| MaskedExp::cpu::<
                                            T,
                                        >(
                                            run.slice::<u8>(),
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
                                    .for_each_run(|run| MaskedExp::cpu_self::<
                                        T,
                                    >(run.slice::<u8>(), run.slice_mut::<T>(), alpha))
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
    fn cpu<T: Real>(mask: &[u8], x: &[T], out: &mut [T], alpha: T) {
        struct Map<'slices, T: Real> {
            mask: &'slices [u8],
            x: &'slices [T],
            out: &'slices mut [T],
            alpha: T,
        }
        impl<'slices, T: Real> ::dahl::__private::Vectorised for Map<'slices, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self { mask, x, out, alpha } = self;
                let len = out.len();
                let mask = &mask[..len];
                let x = &x[..len];
                let alpha = ::dahl::Real::widen(alpha);
                for i in 0..len {
                    out[i] = <T as ::dahl::Real>::narrow(
                        MaskedExp::body::<
                            <T as ::dahl::Real>::Compute,
                        >(mask[i], ::dahl::Real::widen(x[i]), alpha),
                    );
                }
            }
        }
        ::core::assert!(
            mask.len() == out.len() && x.len() == out.len(),
            "masked_exp: the slices differ in length"
        );
        ::dahl::__private::dispatch(Map { mask, x, out, alpha })
    }
    /// Runs the kernel on the calling thread, without a runtime, over `x`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    fn cpu_self<T: Real>(mask: &[u8], x: &mut [T], alpha: T) {
        struct Map<'slices, T: Real> {
            mask: &'slices [u8],
            x: &'slices mut [T],
            alpha: T,
        }
        impl<'slices, T: Real> ::dahl::__private::Vectorised for Map<'slices, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self { mask, x, alpha } = self;
                let len = x.len();
                let mask = &mask[..len];
                let alpha = ::dahl::Real::widen(alpha);
                for i in 0..len {
                    x[i] = <T as ::dahl::Real>::narrow(
                        MaskedExp::body::<
                            <T as ::dahl::Real>::Compute,
                        >(mask[i], ::dahl::Real::widen(x[i]), alpha),
                    );
                }
            }
        }
        ::core::assert!(
            mask.len() == x.len(), "masked_exp: the slices differ in length"
        );
        ::dahl::__private::dispatch(Map { mask, x, alpha })
    }
    /// The task of [`masked_exp`], to be given options and submitted.
    #[track_caller]
    fn task<'task, T: Real, const N: usize>(
        mask: &'task ::dahl::Array<'_, u8, N>,
        x: &'task ::dahl::Array<'_, T, N>,
        out: &'task mut ::dahl::Array<'_, T, N>,
        alpha: T,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(MaskedExp::codelet::<T>());
        task.read(mask);
        task.read(x);
        task.write(out);
        task.argument(alpha);
        task.require_same_shapes();
        task
    }
    /// The task of [`masked_exp_self`], to be given options and submitted.
    #[track_caller]
    fn task_self<'task, T: Real, const N: usize>(
        mask: &'task ::dahl::Array<'_, u8, N>,
        x: &'task mut ::dahl::Array<'_, T, N>,
        alpha: T,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new_in_place(MaskedExp::codelet::<T>());
        task.read(mask);
        task.write(x);
        task.argument(alpha);
        task.require_same_shapes();
        task
    }
    #[inline(always)]
    fn body<T: Real>(mask: u8, x: T, alpha: T) -> T {
        if mask != 0 { alpha * x.exp() } else { T::ZERO }
    }
}
#[allow(dead_code)]
#[allow(unused_variables)]
impl<
    T: Real,
    const N: usize,
> ::dahl::__private::Variants<
    (
        ::dahl::Array<'static, u8, N>,
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, N>,
    ),
    (T,),
> for MaskedExp {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, u8, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (T,),
    ) -> ::dahl::Task<'task> {
        MaskedExp::task::<T, N>(&arrays.0, &arrays.1, &mut arrays.2, arguments.0)
    }
    fn task_self<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, u8, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (T,),
    ) -> ::core::option::Option<::dahl::Task<'task>> {
        ::core::option::Option::Some(
            MaskedExp::task_self::<T, N>(&arrays.0, &mut arrays.1, arguments.0),
        )
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(
            ::dahl::Array<'static, u8, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (T,),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            masked_exp_init::<T, N>(arena, &arrays.0, &arrays.1, arguments.0)
                .map(|made_0| {
                    made(2, &made_0);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[false, true, true], true)
            .reference(
                ::dahl::__private::Kernel::new(
                    "reference",
                    |views| {
                        #[allow(clippy::type_complexity)]
                        let scalar: fn(u8, f64, f64) -> f64 = reference::masked_exp;
                        let alpha = views.argument_in_f64::<T>();
                        views
                            .for_each_run(|run| {
                                let mask = run.slice::<u8>();
                                let x = run.slice::<f64>();
                                let out = run.slice_mut::<f64>();
                                for i in 0..out.len() {
                                    out[i] = scalar(mask[i], x[i], alpha);
                                }
                            })
                    },
                ),
            )
            .error(::dahl::__private::ErrorClass::Ulp(2.5f64))
    }
}
/// `out = alpha * exp(x)` where `mask` is not zero, else zero.
///
/// Submits a task on the given arrays. All arrays have one shape.
#[allow(dead_code)]
#[track_caller]
fn masked_exp<T: Real, const N: usize>(
    mask: &::dahl::Array<'_, u8, N>,
    x: &::dahl::Array<'_, T, N>,
    out: &mut ::dahl::Array<'_, T, N>,
    alpha: T,
) -> ::dahl::Result<()> {
    MaskedExp::task(mask, x, out, alpha).submit()
}
/// `out = alpha * exp(x)` where `mask` is not zero, else zero.
///
/// Submits a task that overwrites `x` with the result. All arrays have the shape of `x`.
#[allow(dead_code)]
#[track_caller]
fn masked_exp_self<T: Real, const N: usize>(
    mask: &::dahl::Array<'_, u8, N>,
    x: &mut ::dahl::Array<'_, T, N>,
    alpha: T,
) -> ::dahl::Result<()> {
    MaskedExp::task_self(mask, x, alpha).submit()
}
/// `out = alpha * exp(x)` where `mask` is not zero, else zero.
///
/// Makes `out` in `arena`, as a new array, and submits the task. It has the inputs' shape.
#[allow(dead_code)]
#[track_caller]
fn masked_exp_init<'m, T: Real, const N: usize>(
    arena: &'m ::dahl::Arena,
    mask: &::dahl::Array<'_, u8, N>,
    x: &::dahl::Array<'_, T, N>,
    alpha: T,
) -> ::dahl::Result<::dahl::Array<'m, T, N>> {
    let shapes = ::dahl::__private::map_shape(
        MaskedExp::codelet::<T>(),
        &[("mask", mask.shape()), ("x", x.shape())],
        false,
    )?;
    let mut out = ::dahl::__private::uninit(arena, shapes)?;
    MaskedExp::task(mask, x, &mut out, alpha).submit()?;
    ::core::result::Result::Ok(out)
}
