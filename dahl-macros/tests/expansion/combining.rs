/// Puts the larger one first.
///
/// The codelet behind [`merge`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct Merge;
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub type __codelet_of_merge = Merge;
impl Merge {
    /// The name, for display.
    pub const NAME: &'static str = "merge";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 2] = [
        ::dahl::AccessMode::RW,
        ::dahl::AccessMode::R,
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0xbee5e9b34fa84003)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "earlier",
                            ::dahl::AccessMode::RW,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "later",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                    ]
                })
                .kernels(const {
                    &[
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "rust",
                                |views| Merge::cpu::<
                                    T,
                                >(views.slice_mut::<T>(), views.slice::<T>()),
                            ),
                        ),
                    ]
                })
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    pub fn cpu<T: Real>(earlier: &mut [T], later: &[T]) {
        struct Call<'views, T: Real> {
            earlier: &'views mut [T],
            later: &'views [T],
        }
        impl<'views, T: Real> ::dahl::__private::Vectorised for Call<'views, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                Merge::body::<T>(self.earlier, self.later)
            }
        }
        ::dahl::__private::dispatch(Call { earlier, later })
    }
    /// The task of [`merge`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real, const N: usize>(
        earlier: &'task mut ::dahl::Array<'_, T, N>,
        later: &'task ::dahl::Array<'_, T, N>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(Merge::codelet::<T>());
        task.write(earlier);
        task.read(later);
        task
    }
    #[inline(always)]
    fn body<T: Real>(earlier: &mut [T], later: &[T]) {
        pick(earlier, later)
    }
}
#[diagnostic::do_not_recommend]
impl<T: Real> ::dahl::__private::Combines<T> for Merge {
    fn codelet() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
}
#[allow(unused_variables)]
impl<
    T: Real,
    const N: usize,
> ::dahl::__private::Variants<
    (::dahl::Array<'static, T, N>, ::dahl::Array<'static, T, N>),
    (),
> for Merge {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (::dahl::Array<'static, T, N>, ::dahl::Array<'static, T, N>),
        arguments: (),
    ) -> ::dahl::Task<'task> {
        Merge::task::<T, N>(&mut arrays.0, &arrays.1)
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
                |views| Merge::cpu::<P>(views.slice_mut::<P>(), views.slice::<P>()),
            ),
        )
    }
}
/// Puts the larger one first.
///
/// Submits a task on the given arrays.
#[track_caller]
pub fn merge<T: Real, const N: usize>(
    earlier: &mut ::dahl::Array<'_, T, N>,
    later: &::dahl::Array<'_, T, N>,
) -> ::dahl::Result<()> {
    Merge::task(earlier, later).submit()
}
