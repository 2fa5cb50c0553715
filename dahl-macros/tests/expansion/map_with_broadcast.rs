/// `out = value` where `mask` is not zero, else `otherwise`.
///
/// The codelet behind [`select`], [`select_self`], [`select_init`]: its name, access modes and kernels.
#[allow(dead_code)]
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub(crate) struct Select;
#[allow(dead_code)]
impl Select {
    /// The name, for display.
    pub(crate) const NAME: &'static str = "select";
    /// The access modes of the data parameters, in order.
    pub(crate) const MODES: [::dahl::AccessMode; 4] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    pub(crate) fn codelet<T: Element>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0x8dadca934b3a6da4)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "mask",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<u8>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "value",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "otherwise",
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
                                |views| {
                                    views
                                        .for_each_run(|run| Select::cpu::<
                                            T,
                                        >(
                                            run.slice::<u8>(),
                                            run.slice::<T>(),
                                            run.slice::<T>(),
                                            run.slice_mut::<T>(),
                                        ))
                                },
                            ),
                        ),
                    ]
                })
                .in_place(
                    ::dahl::__private::InPlace::kernel(
                        2,
                        ::dahl::__private::Kernel::new(
                            "rust",
                            |views| {
                                views
                                    .for_each_run(|run| Select::cpu_self::<
                                        T,
                                    >(
                                        run.slice::<u8>(),
                                        run.slice::<T>(),
                                        run.slice_mut::<T>(),
                                    ))
                            },
                        ),
                    ),
                )
                .broadcasts()
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub(crate) fn cpu<T: Element>(
        mask: &[u8],
        value: &[T],
        otherwise: &[T],
        out: &mut [T],
    ) {
        struct Map<'slices, T: Element> {
            mask: &'slices [u8],
            value: &'slices [T],
            otherwise: &'slices [T],
            out: &'slices mut [T],
        }
        impl<'slices, T: Element> ::dahl::__private::Vectorised for Map<'slices, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self { mask, value, otherwise, out } = self;
                let len = out.len();
                let mask = &mask[..len];
                let value = &value[..len];
                let otherwise = &otherwise[..len];
                for i in 0..len {
                    out[i] = Select::body::<T>(mask[i], value[i], otherwise[i]);
                }
            }
        }
        ::core::assert!(
            mask.len() == out.len() && value.len() == out.len() && otherwise.len() == out
            .len(), "select: the slices differ in length"
        );
        ::dahl::__private::dispatch(Map { mask, value, otherwise, out })
    }
    /// Runs the kernel on the calling thread, without a runtime, over `otherwise`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub(crate) fn cpu_self<T: Element>(mask: &[u8], value: &[T], otherwise: &mut [T]) {
        struct Map<'slices, T: Element> {
            mask: &'slices [u8],
            value: &'slices [T],
            otherwise: &'slices mut [T],
        }
        impl<'slices, T: Element> ::dahl::__private::Vectorised for Map<'slices, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self { mask, value, otherwise } = self;
                let len = otherwise.len();
                let mask = &mask[..len];
                let value = &value[..len];
                for i in 0..len {
                    otherwise[i] = Select::body::<T>(mask[i], value[i], otherwise[i]);
                }
            }
        }
        ::core::assert!(
            mask.len() == otherwise.len() && value.len() == otherwise.len(),
            "select: the slices differ in length"
        );
        ::dahl::__private::dispatch(Map { mask, value, otherwise })
    }
    /// The task of [`select`], to be given options and submitted.
    #[track_caller]
    pub(crate) fn task<'task, T: Element, const N: usize>(
        mask: &'task ::dahl::Array<'_, u8, N>,
        value: &'task ::dahl::Array<'_, T, N>,
        otherwise: &'task ::dahl::Array<'_, T, N>,
        out: &'task mut ::dahl::Array<'_, T, N>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(Select::codelet::<T>());
        task.read(mask);
        task.read(value);
        task.read(otherwise);
        task.write(out);
        task.require_broadcast();
        task
    }
    /// The task of [`select_self`], to be given options and submitted.
    #[track_caller]
    pub(crate) fn task_self<'task, T: Element, const N: usize>(
        mask: &'task ::dahl::Array<'_, u8, N>,
        value: &'task ::dahl::Array<'_, T, N>,
        otherwise: &'task mut ::dahl::Array<'_, T, N>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new_in_place(Select::codelet::<T>());
        task.read(mask);
        task.read(value);
        task.write(otherwise);
        task.require_broadcast();
        task
    }
    #[inline(always)]
    fn body<T: Element>(mask: u8, value: T, otherwise: T) -> T {
        if mask != 0 { value } else { otherwise }
    }
}
#[allow(dead_code)]
#[allow(unused_variables)]
impl<
    T: Element,
    const N: usize,
> ::dahl::__private::Variants<
    (
        ::dahl::Array<'static, u8, N>,
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, N>,
    ),
    (),
> for Select {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, u8, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (),
    ) -> ::dahl::Task<'task> {
        Select::task::<T, N>(&arrays.0, &arrays.1, &arrays.2, &mut arrays.3)
    }
    fn task_self<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, u8, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (),
    ) -> ::core::option::Option<::dahl::Task<'task>> {
        ::core::option::Option::Some(
            Select::task_self::<T, N>(&arrays.0, &arrays.1, &mut arrays.2),
        )
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(
            ::dahl::Array<'static, u8, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
        ),
        arguments: (),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            select_init::<T, N>(arena, &arrays.0, &arrays.1, &arrays.2)
                .map(|made_0| {
                    made(3, &made_0);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[false, true, true, true], true)
    }
    fn declaration<P: ::dahl::Real>() -> ::core::option::Option<
        ::dahl::__private::Kernel,
    > {
        ::core::option::Option::Some(
            ::dahl::__private::Kernel::new(
                "declaration",
                |views| {
                    views
                        .for_each_run(|run| Select::cpu::<
                            P,
                        >(
                            run.slice::<u8>(),
                            run.slice::<P>(),
                            run.slice::<P>(),
                            run.slice_mut::<P>(),
                        ))
                },
            ),
        )
    }
}
/// `out = value` where `mask` is not zero, else `otherwise`.
///
/// Submits a task on the given arrays. All arrays have one shape; an input's extent of 1 stretches.
#[allow(dead_code)]
#[track_caller]
pub(crate) fn select<T: Element, const N: usize>(
    mask: &::dahl::Array<'_, u8, N>,
    value: &::dahl::Array<'_, T, N>,
    otherwise: &::dahl::Array<'_, T, N>,
    out: &mut ::dahl::Array<'_, T, N>,
) -> ::dahl::Result<()> {
    Select::task(mask, value, otherwise, out).submit()
}
/// `out = value` where `mask` is not zero, else `otherwise`.
///
/// Submits a task that overwrites `otherwise` with the result. All arrays have the shape of `otherwise`; an input's extent of 1 stretches.
#[allow(dead_code)]
#[track_caller]
pub(crate) fn select_self<T: Element, const N: usize>(
    mask: &::dahl::Array<'_, u8, N>,
    value: &::dahl::Array<'_, T, N>,
    otherwise: &mut ::dahl::Array<'_, T, N>,
) -> ::dahl::Result<()> {
    Select::task_self(mask, value, otherwise).submit()
}
/// `out = value` where `mask` is not zero, else `otherwise`.
///
/// Makes `out` in `arena`, as a new array, and submits the task. It has the inputs' shape; an input's extent of 1 stretches.
#[allow(dead_code)]
#[track_caller]
pub(crate) fn select_init<'m, T: Element, const N: usize>(
    arena: &'m ::dahl::Arena,
    mask: &::dahl::Array<'_, u8, N>,
    value: &::dahl::Array<'_, T, N>,
    otherwise: &::dahl::Array<'_, T, N>,
) -> ::dahl::Result<::dahl::Array<'m, T, N>> {
    let shapes = ::dahl::__private::map_shape(
        Select::codelet::<T>(),
        &[
            ("mask", mask.shape()),
            ("value", value.shape()),
            ("otherwise", otherwise.shape()),
        ],
        true,
    )?;
    let mut out = ::dahl::__private::uninit(arena, shapes)?;
    Select::task(mask, value, otherwise, &mut out).submit()?;
    ::core::result::Result::Ok(out)
}
