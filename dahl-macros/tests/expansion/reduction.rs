/// Adds the sum of all elements to `out`.
///
/// The codelet behind [`sum`], [`sum_init`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct Sum;
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub type __codelet_of_sum = Sum;
impl Sum {
    /// The name, for display.
    pub const NAME: &'static str = "sum";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 2] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::REDUX(::dahl::Reduction::Sum),
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0x629cef6f81b97f5e)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "x",
                            ::dahl::AccessMode::R,
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
                    ]
                })
                .kernels(const {
                    &[
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "rust",
                                |views| Sum::cpu::<
                                    T,
                                >(views.slice::<T>(), views.slice_mut::<T::Compute>()),
                            ),
                        ),
                    ]
                })
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    pub fn cpu<T: Real>(x: &[T], out: &mut [T::Compute]) {
        struct Call<'views, T: Real> {
            x: &'views [T],
            out: &'views mut [T::Compute],
        }
        impl<'views, T: Real> ::dahl::__private::Vectorised for Call<'views, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                Sum::body::<T>(self.x, self.out)
            }
        }
        ::dahl::__private::dispatch(Call { x, out })
    }
    /// The task of [`sum`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real, const N: usize>(
        x: &'task ::dahl::Array<'_, T, N>,
        out: &'task mut ::dahl::Array<'_, T, 0>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(Sum::codelet::<T>());
        let shapes = Sum::shapes::<T, N>();
        task.read(x);
        task.write(out);
        task.require_shape(1, shapes);
        task
    }
    /// What the option `shape` says.
    fn shapes<T: Real, const N: usize>() -> [usize; 0] {
        ::dahl::__private::IntoShape::<0>::into_shape([])
    }
    #[inline(always)]
    fn body<T: Real>(x: &[T], out: &mut [T::Compute]) {
        out[0] += ::dahl::simd::sum(x);
    }
}
#[allow(unused_variables)]
impl<
    T: Real,
    const N: usize,
> ::dahl::__private::Variants<
    (::dahl::Array<'static, T, N>, ::dahl::Array<'static, T, 0>),
    (),
> for Sum {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (::dahl::Array<'static, T, N>, ::dahl::Array<'static, T, 0>),
        arguments: (),
    ) -> ::dahl::Task<'task> {
        Sum::task::<T, N>(&arrays.0, &mut arrays.1)
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(::dahl::Array<'static, T, N>, ::dahl::Array<'static, T, 0>),
        arguments: (),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            sum_init::<T, N>(arena, &arrays.0)
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
                |views| Sum::cpu::<
                    P,
                >(views.slice::<P>(), views.slice_mut::<<P as ::dahl::Real>::Compute>()),
            ),
        )
    }
}
/// Adds the sum of all elements to `out`.
///
/// Submits a task on the given arrays. The shape of `out` is `[]`.
#[track_caller]
pub fn sum<T: Real, const N: usize>(
    x: &::dahl::Array<'_, T, N>,
    out: &mut ::dahl::Array<'_, T, 0>,
) -> ::dahl::Result<()> {
    Sum::task(x, out).submit()
}
/// Adds the sum of all elements to `out`.
///
/// Makes `out` in `scope`, as a new array, and submits the task. The shape of `out` is `[]`.
#[track_caller]
pub fn sum_init<'m, T: Real, const N: usize>(
    scope: &'m impl ::dahl::Scope<Sum>,
    x: &::dahl::Array<'_, T, N>,
) -> ::dahl::Result<::dahl::Array<'m, T, 0>> {
    let shapes = Sum::shapes::<T, N>();
    let mut out = ::dahl::Scope::<Sum>::output(scope, shapes, true)?;
    ::dahl::Scope::<
        Sum,
    >::submit(scope, Sum::task(x, &mut out), ::dahl::__private::no_gradient)?;
    ::core::result::Result::Ok(out)
}
