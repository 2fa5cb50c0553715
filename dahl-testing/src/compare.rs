//! [`compare`]: runs a codelet in all possible ways, and compares the results with the expected ones.

use super::arrays::{Arrays, Placement};
use super::buffer::Buffer;
use super::distribution::Distribution;
use super::failure::{Check, Failure};
use super::fault::Fault;
use super::format::Format;
use super::operand::{Operands, Spec, Values};
use super::report::{ErrorStatistics, Reference, Summary};
use super::shrink::{Range, shrink};
use super::subject::{Subject, Typed};
use super::tier::{Selection, Tier};
use dahl_core::Runtime;
use dahl_core::access::AccessMode;
use dahl_core::codelet::{Kernel, Parameter, Variants};
use dahl_core::element::Element;

/// Compares a codelet's results with its reference: every variant, every kernel, whole arrays and strided parts, on
/// inputs from every [`Distribution`].
///
/// `T` is the element type that shapes in `operands` stand for.
///
/// # Errors
/// The first error, with the smallest inputs found that show it.
///
/// # Panics
/// If the ranks or the number of the operands are not those of the codelet.
pub fn compare<T, C, A, G, O>(
    op: &str,
    codelet: C,
    operands: &O,
    arguments: G,
) -> Result<Summary, Box<Failure>>
where
    T: Element,
    C: Variants<A, G>,
    A: Arrays,
    G: Copy,
    O: Operands<A>,
{
    compare_in::<T, C, A, G, O>(Tier::Thorough, op, codelet, operands, arguments)
}

/// As [`compare`], with the distributions and placements of the tier; [`numerics!`](crate::numerics) calls this for
/// each element type.
///
/// # Errors
/// As [`compare`].
///
/// # Panics
/// As [`compare`].
pub fn compare_in<T, C, A, G, O>(
    tier: Tier,
    op: &str,
    codelet: C,
    operands: &O,
    arguments: G,
) -> Result<Summary, Box<Failure>>
where
    T: Element,
    C: Variants<A, G>,
    A: Arrays,
    G: Copy,
    O: Operands<A>,
{
    let _ = codelet;
    examine::<T, A, O>(tier, op, operands, &Typed::<C, A, G>::new(arguments, None))
}

/// Compares kernels that are not the codelet's own with its reference, as [`compare_in`] does with its own: such as
/// those of another machine, run by an emulator.
///
/// # Errors
/// As [`compare`].
///
/// # Panics
/// As [`compare`], or if there are no kernels.
pub fn compare_kernels<T, C, A, G, O>(
    tier: Tier,
    op: &str,
    codelet: C,
    operands: &O,
    arguments: G,
    kernels: &'static [Kernel],
) -> Result<Summary, Box<Failure>>
where
    T: Element,
    C: Variants<A, G>,
    A: Arrays,
    G: Copy,
    O: Operands<A>,
{
    let _ = codelet;
    assert!(!kernels.is_empty(), "{op}: there are no kernels to compare");
    examine::<T, A, O>(tier, op, operands, &Typed::<C, A, G>::new(arguments, Some(kernels)))
}

fn examine<T: Element, A: Arrays, O: Operands<A>>(
    tier: Tier,
    op: &str,
    operands: &O,
    subject: &dyn Subject,
) -> Result<Summary, Box<Failure>> {
    let runtime = Runtime::builder().cpu_workers(1).check(false).build().expect("a runtime of one worker");
    let selection = Selection::from_env(tier, op);
    Comparison { op, element: T::NAME, subject, specs: operands.specs(), runtime, selection }.run()
}

/// A codelet in one element type.
pub(crate) struct Comparison<'a> {
    op: &'a str,
    element: &'static str,
    pub(super) subject: &'a dyn Subject,
    pub(super) specs: Vec<Spec>,
    pub(super) runtime: Runtime,
    selection: Selection,
}

impl<'a> Comparison<'a> {
    /// A comparison of which only the calls are used.
    pub(crate) fn of(op: &'a str, subject: &'a dyn Subject, specs: Vec<Spec>) -> Self {
        let runtime =
            Runtime::builder().cpu_workers(1).check(false).build().expect("a runtime of one worker");
        let selection = Selection::everything(1);
        Self { op, element: "", subject, specs, runtime, selection }
    }
}

impl Comparison<'_> {
    fn run(&self) -> Result<Summary, Box<Failure>> {
        let mut statistics = ErrorStatistics::default();
        let mut reference = Reference::Absent;
        for (distribution, placements) in &self.selection.distributions {
            let inputs = self.draw(*distribution);
            match self.examine(&inputs, placements, &mut statistics) {
                Ok(against) => reference = against,
                Err(fault) => return Err(Box::new(self.failure(*fault, inputs, *distribution))),
            }
        }
        if statistics.results == 0 && reference != Reference::Absent {
            let fact = "there is no element to compare: an extent is 0".to_owned();
            let inputs = self.draw(Distribution::Uniform);
            let fault = Fault::new(Check::Runs, None, fact);
            return Err(Box::new(self.failure(*fault, inputs, Distribution::Uniform)));
        }
        let kernels = self.subject.kernels().iter().map(|kernel| kernel.name()).collect();
        Ok(Summary {
            op: self.op.to_owned(),
            element: self.element,
            reference,
            kernels,
            results: statistics.results,
            max_ulps: statistics.max_ulps,
            mean_ulps: statistics.sum_ulps / (statistics.results.max(1) as f64),
            max_relative: statistics.max_relative,
            max_absolute: statistics.max_absolute,
            bound_fraction: statistics.bound_fraction,
            units: statistics.units,
        })
    }

    /// The data parameters that have arrays, in order.
    pub(super) fn parameters(&self) -> Vec<&'static Parameter> {
        let parameters = self.subject.codelet().parameters.iter();
        parameters.filter(|parameter| parameter.mode != AccessMode::SCRATCH).collect()
    }

    /// The inputs; none for an output.
    fn draw(&self, distribution: Distribution) -> Vec<Option<Buffer>> {
        let mut random = fastrand::Rng::with_seed(self.selection.seed);
        let (elements, ranks) = (self.subject.elements(), self.subject.ranks());
        assert_eq!(self.specs.len(), elements.len(), "{}: as many operands as arrays", self.op);
        let draw = |(place, spec): (usize, &Spec)| {
            let extents = spec.extents.clone().filter(|_| !matches!(spec.values, Values::Output))?;
            assert_eq!(extents.len(), ranks[place], "{}: the rank of operand {place}", self.op);
            let len: usize = extents.iter().product();
            let format = Format::of(elements[place]);
            let mut value = |i: usize| match (&spec.values, format) {
                (Values::Given(values), _) => values[i],
                (Values::Below(count), _) => f64::from(random.u32(0..(*count).max(1))),
                (Values::Within(low, high), Some(format)) => {
                    distribution.draw_within(&mut random, format, *low, *high)
                }
                (_, Some(format)) => distribution.draw(&mut random, format),
                (_, None) => f64::from(random.u8(0..100)),
            };
            let values = spec.excepted((0..len).map(&mut value).collect());
            Some(Buffer::of(elements[place], extents, &values))
        };
        self.specs.iter().enumerate().map(draw).collect()
    }

    /// The failure to report, with smaller inputs if they fail too.
    fn failure(&self, fault: Fault, inputs: Vec<Option<Buffer>>, distribution: Distribution) -> Failure {
        let keep_shapes = fault.check == Check::Runs
            || self.specs.iter().any(|spec| matches!(spec.values, Values::Output) && spec.extents.is_some());
        let check = fault.check;
        let fails = |candidate: &[Option<Buffer>]| {
            self.examine(candidate, &Placement::IN_PARTS, &mut ErrorStatistics::default())
                .is_err_and(|fault| fault.check == check)
        };
        let ranges: Vec<Range> = self.specs.iter().map(|spec| spec.values.range()).collect();
        let smallest = shrink(inputs, &ranges, keep_shapes, fails);
        let mut shown = self.show(&smallest);
        let again = self.examine(&smallest, &Placement::IN_PARTS, &mut ErrorStatistics::default()).err();
        if let Some(worst) = again.and_then(|fault| fault.worst) {
            shown += &format!("  {}\n{}\n", worst.element, worst.digits);
        }
        Failure {
            op: self.op.to_owned(),
            element: self.element,
            check,
            way: fault.way,
            drawn: Some((distribution, self.selection.variables())),
            fact: fault.fact,
            worst: fault.worst,
            histogram: fault.histogram,
            smallest: Some(shown),
        }
    }

    /// Inputs as text.
    fn show(&self, inputs: &[Option<Buffer>]) -> String {
        let mut text = String::new();
        for (parameter, buffer) in self.parameters().into_iter().zip(inputs) {
            let Some(buffer) = buffer else { continue };
            let intro = format!("  {} {:?} = ", parameter.name, buffer.extents);
            let indent = " ".repeat(intro.len());
            text += &format!("{intro}{}\n", buffer.printed().replace('\n', &format!("\n{indent}")));
        }
        text
    }
}
