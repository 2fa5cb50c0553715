//! The kernel in CUDA of fused maps: one function of all that they compute of an element, as text, which NVRTC compiles when the
//! task first runs on a device.

use dahl_cuda::{ELEMENTS_PER_BLOCK, FusedMap, FusedMaps, FusedValue, Stored, THREADS};

use super::declaration::Codelet;
use super::fused::{FusedOperand, FusedStep};
use crate::cuda::{
    CudaArgument, CudaElement, CudaImage, CudaInstance, CudaKernel, CudaLen, CudaPass, CudaStep, CudaView,
};
use crate::element::ElementType;
use crate::shape::MAX_RANK;

/// Bytes of parameters that a kernel takes on every device.
const PARAMETER_BYTES: usize = 4096;

/// Whether a map can be a part of a fused kernel in CUDA: it has one, whose text is known.
pub(crate) fn joins_in_cuda(codelet: &Codelet) -> bool {
    codelet.is_map && codelet.cuda.is_some_and(|cuda| cuda.kernel.element.is_some())
}

/// The kernel of these maps, whose operands have these types, inputs first.
///
/// # Errors
/// Why there is none.
pub(super) fn kernel(
    name: &'static str,
    steps: &[FusedStep],
    given: &[ElementType],
    inputs: usize,
) -> Result<CudaInstance, &'static str> {
    let maps = steps.iter().map(map).collect::<Option<Vec<_>>>();
    let maps = maps.ok_or("one of the tasks that were fused has no kernel in CUDA that can be fused")?;
    let arguments: Vec<_> =
        maps.iter().flat_map(|map| &map.arguments).map(|stored| argument(stored.rust())).collect();
    // A pointer, a rank, extents and strides; an argument is at most one word.
    let bytes = 8 * (given.len() * (2 + 2 * MAX_RANK) + arguments.len());
    if bytes > PARAMETER_BYTES {
        return Err("the tasks that were fused have more parameters than a kernel in CUDA takes");
    }
    let views = given.iter().enumerate().map(|(index, element)| CudaView {
        is_const: index < inputs,
        element: CudaElement::Fixed(element.name),
        rank: None,
    });
    let views: Vec<_> = views.collect();
    let given = given.iter().map(|element| Stored::named(element.name)).collect::<Option<_>>();
    let given =
        given.ok_or("one of the tasks that were fused has an element type that CUDA does not have")?;
    let text = FusedMaps { given, inputs, maps }.source();
    let image: &'static CudaImage = Box::leak(Box::new(CudaImage::Source(text.leak())));
    let blocks = vec![CudaStep::Len(inputs), CudaStep::Number(ELEMENTS_PER_BLOCK), CudaStep::Blocks];
    let pass = CudaPass {
        function: FusedMaps::FUNCTION,
        grid: [blocks.leak(), &[CudaStep::Number(1)], &[CudaStep::Number(1)]],
        block: [THREADS, 1, 1],
        shared_bytes: &[CudaStep::Number(0)],
    };
    let kernel =
        CudaKernel::new(name, "fused", image).takes(views.leak(), arguments.leak()).passes(vec![pass].leak());
    Ok(CudaInstance { kernel: Box::leak(Box::new(kernel)), types: &[] })
}

/// A step as a map of the kernel; none if it has no such kernel, or its submitter named another one.
fn map(step: &FusedStep) -> Option<FusedMap<'static>> {
    let cuda = step.codelet.cuda.filter(|_| joins_in_cuda(step.codelet) && step.kernel.is_none())?;
    let value = |operand: &FusedOperand| match *operand {
        FusedOperand::Given(index) => FusedValue::Given(index),
        FusedOperand::Passed(index) => FusedValue::Passed(index),
    };
    let (output, inputs) = step.operands.split_last()?;
    let arguments = cuda.kernel.arguments.iter();
    Some(FusedMap {
        element: cuda.kernel.element?,
        function: cuda.kernel.passes.first()?.function,
        types: cuda.types.iter().map(|element| Stored::named(element.name)).collect::<Option<_>>()?,
        inputs: inputs.iter().map(value).collect(),
        output: value(output),
        arguments: arguments
            .map(|argument| Stored::named(argument.element.name(cuda.types)))
            .collect::<Option<_>>()?,
    })
}

fn argument(rust: &'static str) -> CudaArgument {
    CudaArgument { element: CudaElement::Fixed(rust), len: CudaLen::One }
}
