//! A convolution of images and its gradients, on the CPU and by cuDNN, the only kernel on a device.

use dahl_core::__private::{CudaArrayMut, CudaCall, CudaCallError, CudaLibrary, Kernel, Parameter, Views};
use dahl_core::ndarray::{Array4, Ix4};
use dahl_core::{AccessMode, Codelet, Element, ElementType, Real, Result, Runtime, Task, Tensor};

use super::product::number;
use crate::runtime::bed::cuda;

/// A direction: computes the output, from the input and the filters;
pub(super) const FORWARD: usize = 0;
/// the gradient by the input, from that by the output and the filters;
pub(super) const DATA: usize = 1;
/// the gradient by the filters, from the input and the gradient by the output.
pub(super) const FILTER: usize = 2;

/// A shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) input: [usize; 4],
    pub(super) filters: [usize; 4],
    pub(super) stride: [usize; 2],
    pub(super) padding: [usize; 2],
}

/// The arrays of a task, in the order of its parameters.
pub(super) struct Arrays<T: Element, O: Element> {
    first: Tensor<'static, T>,
    second: Tensor<'static, T>,
    pub(super) out: Tensor<'static, O>,
    case: Case,
}

/// `[input, filters, output]`, from the parameters of a direction, or the reverse.
fn by_role<A>(way: usize, [first, second, out]: [A; 3]) -> [A; 3] {
    match way {
        FORWARD => [first, second, out],
        DATA => [out, second, first],
        _ => [first, out, second],
    }
}

fn on_cpu<T: Real, O: Real, const WAY: usize>(views: &mut Views<'_>) {
    let (first, second, mut out) =
        (views.view::<T, Ix4>(), views.view::<T, Ix4>(), views.view_mut::<O, Ix4>());
    let [stride, padding] = [(); 2].map(|()| views.argument::<[usize; 2]>());
    let keep: bool = views.argument();
    let [input, filters, output] = by_role(WAY, [first.dim(), second.dim(), out.dim()]);
    let mut sums = Array4::<f64>::zeros(out.raw_dim());
    // Each position of each filter and each tap is a product, which belongs to one element of each array.
    for ((image, filter, row, col), (channel, j, k)) in
        places(output).flat_map(|place| taps(filters).map(move |tap| (place, tap)))
    {
        let source =
            |at: usize, axis: usize, tap: usize| (at * stride[axis] + tap).checked_sub(padding[axis]);
        let (Some(y), Some(x)) = (source(row, 0, j), source(col, 1, k)) else { continue };
        if y >= input.2 || x >= input.3 {
            continue;
        }
        let (pixel, weight, place) =
            ((image, channel, y, x), (filter, channel, j, k), (image, filter, row, col));
        match WAY {
            FORWARD => sums[place] += first[pixel].to_f64() * second[weight].to_f64(),
            DATA => sums[pixel] += first[place].to_f64() * second[weight].to_f64(),
            _ => sums[weight] += first[pixel].to_f64() * second[place].to_f64(),
        }
    }
    for (at, out) in out.indexed_iter_mut() {
        *out = O::from_f64(sums[at] + if keep { out.to_f64() } else { 0.0 });
    }
}

type Four = (usize, usize, usize, usize);

fn places(extents: Four) -> impl Iterator<Item = Four> {
    dahl_core::ndarray::indices(extents).into_iter()
}

/// Channel, row and column of each tap of a filter.
fn taps((_, channels, rows, cols): Four) -> impl Iterator<Item = (usize, usize, usize)> {
    dahl_core::ndarray::indices((channels, rows, cols)).into_iter()
}

fn by_cudnn<T: Real, O: Element, const WAY: usize>(
    call: &mut CudaCall<'_>,
) -> std::result::Result<(), CudaCallError> {
    let (first, second) = (call.array::<T, 4>(), call.array::<T, 4>());
    if WAY == FILTER {
        let mut out: CudaArrayMut<'_, O, 4> = call.array_mut();
        let [stride, padding] = [(); 2].map(|()| call.argument::<[usize; 2]>());
        let beta = f64::from(u8::from(call.argument::<bool>()));
        return call.convolution_backward_filter(first, second, beta, &mut out, stride, padding);
    }
    let mut out: CudaArrayMut<'_, T, 4> = call.array_mut();
    let [stride, padding] = [(); 2].map(|()| call.argument::<[usize; 2]>());
    match WAY {
        FORWARD => call.convolution(first, second, &mut out, stride, padding),
        _ => call.convolution_backward_data(first, second, &mut out, stride, padding),
    }
}

const fn parameters<T: Element, O: Element>() -> [Parameter; 3] {
    [
        Parameter::new("first", AccessMode::R, ElementType::of::<T>()),
        Parameter::new("second", AccessMode::R, ElementType::of::<T>()),
        Parameter::new("out", AccessMode::RW, ElementType::of::<O>()),
    ]
}

fn codelet<T: Real, O: Real, const WAY: usize>() -> &'static Codelet {
    const {
        let name = ["convolution", "convolution_backward_data", "convolution_backward_filter"][WAY];
        &Codelet::new(name, module_path!(), 30 + WAY as u64)
            .parameters(const { &parameters::<T, O>() })
            .arguments(&["stride", "padding", "keep"])
            .kernels(const { &[Some(Kernel::new("rust", on_cpu::<T, O, WAY>))] })
            .cuda_calls(
                const { &[Kernel::call("by_cudnn", Some(CudaLibrary::Cudnn), by_cudnn::<T, O, WAY>)] },
            )
    }
}

impl Case {
    fn output(&self) -> [usize; 4] {
        let [rows, cols] = [0, 1].map(|axis| {
            let padded = self.input[axis + 2] + 2 * self.padding[axis];
            (padded - self.filters[axis + 2]) / self.stride[axis] + 1
        });
        [self.input[0], self.filters[0], rows, cols]
    }
}

impl<T: Real, O: Real> Arrays<T, O> {
    pub(super) fn new<const WAY: usize>(rt: &Runtime, case: Case) -> Result<Self> {
        let [first, second, out] = by_role(WAY, [case.input, case.filters, case.output()]);
        Ok(Self {
            first: numbers(rt, first, 0)?,
            second: numbers(rt, second, 5)?,
            out: numbers(rt, out, 2)?,
            case,
        })
    }

    /// Sets all elements of the arrays that are read.
    pub(super) fn fill(&mut self, first: f64, second: f64) -> Result<()> {
        self.first.write()?.fill(T::from_f64(first));
        self.second.write()?.fill(T::from_f64(second));
        Ok(())
    }

    #[track_caller]
    pub(super) fn task<const WAY: usize>(&mut self, keep: bool) -> Task<'_> {
        let mut task = Task::new(codelet::<T, O, WAY>());
        task.read(&self.first);
        task.read(&self.second);
        task.write(&mut self.out);
        task.argument(self.case.stride);
        task.argument(self.case.padding);
        task.argument(keep);
        task
    }
}

fn numbers<T: Real>(rt: &Runtime, extents: [usize; 4], first: usize) -> Result<Tensor<'static, T>> {
    let count = extents.iter().product::<usize>();
    rt.from_vec(extents, (first..first + count).map(|i| T::from_f64(number(i))).collect())
}

pub(super) const SMALL: Case =
    Case { input: [2, 3, 6, 5], filters: [4, 3, 3, 2], stride: [1, 1], padding: [1, 0] };

/// Whether there is no cuDNN, on a machine whose own driver is used. With the fake driver there is one.
pub(super) fn is_absent(rt: &Runtime) -> bool {
    let mut arrays = Arrays::<f32, f32>::new::<FORWARD>(rt, SMALL).expect("it can be had");
    let refused = arrays.task::<FORWARD>(false).on(cuda(0)).submit().err();
    if let Some(refused) = &refused {
        assert_eq!(std::env::var("FAKE_CUDA").as_deref(), Ok("0"), "{refused}");
        eprintln!("not tested: {refused}");
    }
    refused.is_some()
}
