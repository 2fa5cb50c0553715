/// `out = sum(a * b)`.
///
/// The codelet behind [`dot`], [`dot_init`]: its name, access modes and kernels.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct Dot;
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub type __codelet_of_dot = Dot;
impl Dot {
    /// The name, for display.
    pub const NAME: &'static str = "dot";
    /// The access modes of the data parameters, in order.
    pub const MODES: [::dahl::AccessMode; 3] = [
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::R,
        ::dahl::AccessMode::W,
    ];
    /// The descriptor that the runtime gets.
    pub fn codelet<T: Real>() -> &'static ::dahl::Codelet {
        const {
            &::dahl::Codelet::new(Self::NAME, ::core::module_path!(), 0xf7366194402bbfc8)
                .parameters(const {
                    &[
                        ::dahl::__private::Parameter::new(
                            "a",
                            ::dahl::AccessMode::R,
                            ::dahl::ElementType::of::<T>(),
                        ),
                        ::dahl::__private::Parameter::new(
                            "b",
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
                                |views| Dot::cpu::<
                                    T,
                                >(
                                    views.slice::<T>(),
                                    views.slice::<T>(),
                                    views.slice_mut::<T>(),
                                ),
                            ),
                        ),
                        ::core::option::Option::Some(
                            ::dahl::__private::Kernel::new(
                                "dot_unrolled",
                                |views| {
                                    #[allow(clippy::type_complexity)]
                                    let kernel: fn(&[T], &[T], &mut [T]) = dot_unrolled;
                                    kernel(
                                        views.slice::<T>(),
                                        views.slice::<T>(),
                                        views.slice_mut::<T>(),
                                    )
                                },
                            ),
                        ),
                        kernels::DOT_C.kernel::<T>(),
                    ]
                })
                .flops(|operands| {
                    let a = operands.extents();
                    let _ = operands.extents();
                    let _ = operands.extents();
                    let count = 2 * a.len();
                    count as f64
                })
        }
    }
    /// Runs the kernel on the calling thread, without a runtime.
    pub fn cpu<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
        struct Call<'views, T: Real> {
            a: &'views [T],
            b: &'views [T],
            out: &'views mut [T],
        }
        impl<'views, T: Real> ::dahl::__private::Vectorised for Call<'views, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                Dot::body::<T>(self.a, self.b, self.out)
            }
        }
        ::dahl::__private::dispatch(Call { a, b, out })
    }
    /// The task of [`dot`], to be given options and submitted.
    #[track_caller]
    pub fn task<'task, T: Real, const N: usize>(
        a: &'task ::dahl::Array<'_, T, N>,
        b: &'task ::dahl::Array<'_, T, N>,
        out: &'task mut ::dahl::Array<'_, T, 0>,
    ) -> ::dahl::Task<'task> {
        let mut task = ::dahl::Task::new(Dot::codelet::<T>());
        if let ::core::result::Result::Err(error) = Dot::checks::<
            T,
            N,
        >(a.extents(), b.extents()) {
            task.fail(error);
            return task;
        }
        let shapes = Dot::shapes::<T, N>();
        task.read(a);
        task.read(b);
        task.write(out);
        task.require_shape(2, shapes);
        task
    }
    /// What the option `shape` says.
    fn shapes<T: Real, const N: usize>() -> [usize; 0] {
        ::dahl::__private::IntoShape::<0>::into_shape([])
    }
    /// What the option `check` says.
    #[track_caller]
    fn checks<T: Real, const N: usize>(
        a: ::dahl::Extents<N>,
        b: ::dahl::Extents<N>,
    ) -> ::dahl::Result<()> {
        match (&(a.len()), &(b.len())) {
            (left, right) => {
                ::dahl::__private::require(
                    Dot::codelet::<T>(),
                    left == right,
                    "a.len() == b.len()",
                    &[("a.len()", &left), ("b.len()", &right), ("a", &a), ("b", &b)],
                )?
            }
        }
        ::core::result::Result::Ok(())
    }
    #[inline(always)]
    fn body<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
        out[0] = product(a, b);
    }
}
const _: () = kernels::DOT_C.check("Dot", &Dot::MODES, &["T", "T", "T"], &[]);
#[allow(unused_variables)]
impl<
    T: Real,
    const N: usize,
> ::dahl::__private::Variants<
    (
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, N>,
        ::dahl::Array<'static, T, 0>,
    ),
    (),
> for Dot {
    fn descriptor() -> &'static ::dahl::Codelet {
        Self::codelet::<T>()
    }
    fn task<'task>(
        arrays: &'task mut (
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, 0>,
        ),
        arguments: (),
    ) -> ::dahl::Task<'task> {
        Dot::task::<T, N>(&arrays.0, &arrays.1, &mut arrays.2)
    }
    fn init(
        arena: &::dahl::Arena,
        arrays: &(
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, N>,
            ::dahl::Array<'static, T, 0>,
        ),
        arguments: (),
        made: &mut dyn ::core::ops::FnMut(usize, &dyn ::dahl::AnyArray),
    ) -> ::core::option::Option<::dahl::Result<()>> {
        ::core::option::Option::Some(
            dot_init::<T, N>(arena, &arrays.0, &arrays.1)
                .map(|made_0| {
                    made(2, &made_0);
                }),
        )
    }
    fn numerics() -> ::dahl::__private::Numerics {
        ::dahl::__private::Numerics::new(&[true, true, true], false)
    }
    fn declaration<P: ::dahl::Real>() -> ::core::option::Option<
        ::dahl::__private::Kernel,
    > {
        ::core::option::Option::Some(
            ::dahl::__private::Kernel::new(
                "declaration",
                |views| Dot::cpu::<
                    P,
                >(views.slice::<P>(), views.slice::<P>(), views.slice_mut::<P>()),
            ),
        )
    }
}
/// `out = sum(a * b)`.
///
/// Submits a task on the given arrays. The shape of `out` is `[]`.
#[track_caller]
pub fn dot<T: Real, const N: usize>(
    a: &::dahl::Array<'_, T, N>,
    b: &::dahl::Array<'_, T, N>,
    out: &mut ::dahl::Array<'_, T, 0>,
) -> ::dahl::Result<()> {
    Dot::task(a, b, out).submit()
}
/// `out = sum(a * b)`.
///
/// Makes `out` in `scope`, as a new array, and submits the task. The shape of `out` is `[]`.
#[track_caller]
pub fn dot_init<'m, T: Real, const N: usize>(
    scope: &'m impl ::dahl::Scope<Dot>,
    a: &::dahl::Array<'_, T, N>,
    b: &::dahl::Array<'_, T, N>,
) -> ::dahl::Result<::dahl::Array<'m, T, 0>> {
    Dot::checks::<T, N>(a.extents(), b.extents())?;
    let shapes = Dot::shapes::<T, N>();
    let mut out = ::dahl::Scope::<Dot>::output(scope, shapes, false)?;
    ::dahl::Scope::<
        Dot,
    >::submit(scope, Dot::task(a, b, &mut out), ::dahl::__private::no_gradient)?;
    ::core::result::Result::Ok(out)
}
