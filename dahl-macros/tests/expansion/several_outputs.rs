/// The largest element of every row, and where it is.
///
/// The codelet behind [`max_rows`], [`max_rows_init`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct MaxRows;
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub type __codelet_of_max_rows = MaxRows;
impl MaxRows {
    /// The name, for display.
    pub const NAME: &'static str = "max_rows";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 3] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::W,
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0xb53b74549a591995)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "x",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "largest",
                            ::dahl::AccessMode::W,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "place",
                            ::dahl::AccessMode::W,
                            ::dahl::ElementType::of::<u32>(),
                        ),
                    ]
                })
                .kernels(const {
                    &[
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "rust",
                                |views| MaxRows::cpu::<
                                    T,
                                >(
                                    views.view::<T, ::dahl::ndarray::Ix2>(),
                                    views.slice_mut::<T>(),
                                    views.slice_mut::<u32>(),
                                ),
                            ),
                        ),
                    ]
                })
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    pub fn cpu<T: Real>(x: ArrayView2<T>, largest: &mut [T], place: &mut [u32]) {
        struct Call<'views, T: Real> {
            x: ArrayView2<'views, T>,
            largest: &'views mut [T],
            place: &'views mut [u32],
        }
        impl<'views, T: Real> ::dahl::__private::Vectorised for Call<'views, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                MaxRows::body::<T>(self.x, self.largest, self.place)
            }
        }
        ::dahl::__private::dispatch(Call { x, largest, place })
    }
    /// The task of [`max_rows`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real>(
        x: &'task ::dahl::Array<'_, T, 2>,
        largest: &'task mut ::dahl::Array<'_, T, 1>,
        place: &'task mut ::dahl::Array<'_, u32, 1>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(MaxRows::codelet::<T>());
        let shapes = MaxRows::shapes::<T>(x.extents());
        task.read(x);
        task.write(largest);
        task.write(place);
        task.require_shape(1, shapes.0);
        task.require_shape(2, shapes.1);
        task
    }
    /// What the option `shape` says.
    fn shapes<T: Real>(x: ::dahl::Extents<2>) -> ([usize; 1], [usize; 1]) {
        (
            ::dahl::__private::IntoShape::<1>::into_shape([x.nrows()]),
            ::dahl::__private::IntoShape::<1>::into_shape([x.nrows()]),
        )
    }
    #[inline(always)]
    fn body<T: Real>(x: ArrayView2<T>, largest: &mut [T], place: &mut [u32]) {
        find(x, largest, place)
    }
}
#[allow(unused_variables)]
impl<
    T: Real,
> ::dahl::__private::Variants<
    (
        ::dahl::Array<'static, T, 2>,
        ::dahl::Array<'static, T, 1>,
        ::dahl::Array<'static, u32, 1>,
    ),
    (),
> for MaxRows {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, T, 2>,
            ::dahl::Array<'static, T, 1>,
            ::dahl::Array<'static, u32, 1>,
        ),
        arguments: (),
    ) -> ::dahl::Task<'task> {
        MaxRows::task::<T>(&arrays.0, &mut arrays.1, &mut arrays.2)
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(
            ::dahl::Array<'static, T, 2>,
            ::dahl::Array<'static, T, 1>,
            ::dahl::Array<'static, u32, 1>,
        ),
        arguments: (),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            max_rows_init::<T>(arena, &arrays.0)
                .map(|(made_0, made_1)| {
                    made(1, &made_0);
                    made(2, &made_1);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[true, true, false], false)
    }
    fn declaration<P: ::dahl::Real>() -> ::core::option::Option<
        ::dahl::__private::Kernel,
    > {
        ::core::option::Option::Some(
            ::dahl::__private::Kernel::new(
                "declaration",
                |views| MaxRows::cpu::<
                    P,
                >(
                    views.view::<P, ::dahl::ndarray::Ix2>(),
                    views.slice_mut::<P>(),
                    views.slice_mut::<u32>(),
                ),
            ),
        )
    }
}
/// The largest element of every row, and where it is.
///
/// Submits a task on the given arrays. The shape of `largest` is `[x.nrows()]`. The shape of `place` is `[x.nrows()]`.
#[track_caller]
pub fn max_rows<T: Real>(
    x: &::dahl::Array<'_, T, 2>,
    largest: &mut ::dahl::Array<'_, T, 1>,
    place: &mut ::dahl::Array<'_, u32, 1>,
) -> ::dahl::Result<()> {
    MaxRows::task(x, largest, place).submit()
}
/// The largest element of every row, and where it is.
///
/// Makes `largest` and `place` in `scope`, as new arrays, and submits the task. The shape of `largest` is `[x.nrows()]`. The shape of `place` is `[x.nrows()]`.
#[track_caller]
pub fn max_rows_init<'m, T: Real>(
    scope: &'m impl ::dahl::Scope<MaxRows>,
    x: &::dahl::Array<'_, T, 2>,
) -> ::dahl::Result<(::dahl::Array<'m, T, 1>, ::dahl::Array<'m, u32, 1>)> {
    let shapes = MaxRows::shapes::<T>(x.extents());
    let mut largest = ::dahl::Scope::<MaxRows>::output(scope, shapes.0, false)?;
    let mut place = ::dahl::Scope::<MaxRows>::output(scope, shapes.1, false)?;
    ::dahl::Scope::<
        MaxRows,
    >::submit(
        scope,
        MaxRows::task(x, &mut largest, &mut place),
        ::dahl::__private::no_gradient,
    )?;
    ::core::result::Result::Ok((largest, place))
}
