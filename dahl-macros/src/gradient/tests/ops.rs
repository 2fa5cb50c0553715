//! The derived maps of the crate `dahl`, and their values.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use dahl_cuda::map::Map;
use dahl_expression::{Graph, NodeId};
use proc_macro2::TokenStream;
use syn::{Item, ItemFn};

use super::super::reading::Reader;
use super::super::real_type::Types;
use super::again::again;
use super::{derive, is_codelet, model};
use crate::model::{Codelet, Form};

/// The maps that `src/ops` of the crate `dahl` declares, by name.
fn ops() -> BTreeMap<String, Codelet> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/ops");
    let mut ops = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = syn::parse_file(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
        let functions = file.items.into_iter().filter_map(|item| match item {
            Item::Fn(function) if function.attrs.iter().any(is_codelet) => Some(function),
            _ => None,
        });
        for function in functions {
            let codelet = model(function);
            if codelet.form == Form::Map {
                ops.insert(codelet.name.to_string(), codelet);
            }
        }
    }
    assert!(ops.len() > 60, "only {} maps were found", ops.len());
    ops
}

pub(super) fn translate(function: &ItemFn, inputs: usize) {
    if let Err(refusal) = Map::translate(function, inputs) {
        panic!("{}: {}", function.sig.ident, refusal.message);
    }
}

#[test]
fn each_map_has_derived_maps_also_in_cuda() {
    for (name, codelet) in ops() {
        let maps = derive(&codelet).unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
        for map in maps {
            translate(&map.function, map.inputs.len() + 1);
            let codelet = again(map);
            let name = &codelet.name;
            let maps = derive(&codelet).unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
            maps.iter().for_each(|map| translate(&map.function, map.inputs.len() + 1));
        }
    }
}

/// A map as a function of named numbers.
struct Function {
    graph: Graph,
    root: NodeId,
    inputs: Vec<String>,
    leaves: Vec<TokenStream>,
}

impl Function {
    fn of(codelet: &Codelet) -> Self {
        let (output, inputs) = codelet.parameters.split_last().unwrap();
        let mut types = Types::new(&codelet.generics);
        let ty = types.of(&output.element).unwrap();
        let mut graph = Graph::new();
        let mut reader = Reader::new(&mut graph, types, codelet);
        let root = reader.body(&codelet.function.block, ty).unwrap();
        let leaves = reader.leaves;
        Self { graph, root, inputs: inputs.iter().map(|input| input.name.to_string()).collect(), leaves }
    }

    fn value(&self, at: &Numbers) -> f64 {
        let inputs: Vec<f64> = self.inputs.iter().map(|name| at.of(name)).collect();
        let leaves: Vec<f64> =
            self.leaves.iter().map(|leaf| at.of(&leaf.to_string().replace(' ', ""))).collect();
        self.graph.evaluate(self.root, &inputs, &leaves)
    }
}

/// The values of inputs and arguments by name.
#[derive(Clone, Debug)]
struct Numbers(BTreeMap<String, f64>);

impl Numbers {
    /// The values at the place `index` of a sequence.
    fn of_codelet(codelet: &Codelet, values: &[f64], index: usize) -> Self {
        let (_, inputs) = codelet.parameters.split_last().unwrap();
        let mut index = index;
        let mut numbers = BTreeMap::new();
        for input in inputs {
            numbers.insert(input.name.to_string(), values[index % values.len()]);
            index /= values.len();
        }
        for (argument, value) in codelet.arguments.iter().zip([-0.75, 1.25, 0.5]) {
            numbers.insert(argument.name.to_string(), value);
        }
        numbers.insert("gradient".to_owned(), 1.75);
        Self(numbers)
    }

    fn of(&self, name: &str) -> f64 {
        let constant = || match name.rsplit("::").next().unwrap() {
            "NAN" => f64::NAN,
            "INFINITY" => f64::INFINITY,
            "NEG_INFINITY" => f64::NEG_INFINITY,
            "FRAC_1_SQRT_2" => std::f64::consts::FRAC_1_SQRT_2,
            "FRAC_2_SQRT_PI" => std::f64::consts::FRAC_2_SQRT_PI,
            "LN_2" => std::f64::consts::LN_2,
            "LOG2_E" => std::f64::consts::LOG2_E,
            "LOG10_E" => std::f64::consts::LOG10_E,
            "true" => 1.0,
            "false" => 0.0,
            other => other.parse().unwrap_or_else(|_| panic!("what is `{name}`?")),
        };
        self.0.get(name).copied().unwrap_or_else(constant)
    }

    fn with(&self, name: &str, value: f64) -> Self {
        let mut numbers = self.clone();
        numbers.0.insert(name.to_owned(), value);
        numbers
    }
}

/// The derivative of `forward` by an input: none at a place where differences of several steps disagree, as at kinks.
fn difference(forward: &Function, at: &Numbers, by: &str) -> Option<f64> {
    let of_step = |step: f64| {
        let value = |steps: f64| forward.value(&at.with(by, at.of(by) + steps * step));
        (8.0 * (value(1.0) - value(-1.0)) - (value(2.0) - value(-2.0))) / (12.0 * step)
    };
    let (fine, coarse) = (of_step(4e-4), of_step(1e-3));
    ((fine - coarse).abs() <= 1e-8 * (1.0 + fine.abs())).then_some(fine)
}

/// A derived map with the names of its inputs that the declaration does not have.
struct Gradient {
    by: String,
    function: Function,
    gradient: String,
    output: Option<String>,
}

impl Gradient {
    fn all(codelet: &Codelet) -> Vec<Self> {
        let maps = derive(codelet).unwrap().into_iter();
        let gradients = maps.map(|map| {
            let by = codelet.parameters[map.by].name.to_string();
            let takes_output = map.inputs.last() == Some(&(codelet.parameters.len() - 1));
            let count = map.inputs.len();
            let function = Function::of(&again(map));
            let output = takes_output.then(|| function.inputs[count - 1].clone());
            Self { by, gradient: function.inputs[count].clone(), output, function }
        });
        gradients.collect()
    }

    fn value(&self, forward: &Function, at: &Numbers, gradient: f64) -> f64 {
        let mut numbers = at.with(&self.gradient, gradient);
        if let Some(output) = &self.output {
            numbers = numbers.with(output, forward.value(at));
        }
        self.function.value(&numbers)
    }
}

#[test]
fn derived_maps_agree_with_differences() {
    let values = [-2.7, -1.6, -0.55, 0.35, 0.6, 1.45, 2.2, 3.6];
    for (name, codelet) in ops() {
        let forward = Function::of(&codelet);
        for map in Gradient::all(&codelet) {
            let by = &map.by;
            let mut compared = 0;
            for index in 0..values.len().pow(codelet.parameters.len() as u32 - 1) {
                let at = Numbers::of_codelet(&codelet, &values, index);
                let Some(expected) = difference(&forward, &at, by) else { continue };
                let (value, expected) = (map.value(&forward, &at, 1.75), 1.75 * expected);
                let bound = 1e-7 * (1.0 + expected.abs());
                assert!(
                    (value - expected).abs() <= bound,
                    "{name} by {by} at {at:?}: {value} and not {expected}"
                );
                compared += 1;
            }
            assert!(compared >= 3, "{name} by {by}: differences exist at {compared} places");
        }
    }
}

/// Where the derivatives of bodies are not PyTorch's gradients of the operations, which the written ones have.
const DIFFERENT: [(&str, &[f64], &str); 4] = [
    ("sigmoid", &[0.0], "the kink of `abs` in its body, which its rule does not have"),
    ("gelu", &[f64::INFINITY, f64::NEG_INFINITY], "an infinity times a density of 0"),
    ("softsign", &[f64::INFINITY, f64::NEG_INFINITY], "an infinity by an infinity"),
    ("gelu_tanh", &[f64::INFINITY, f64::NEG_INFINITY], "an infinity times a density of 0"),
];

/// The derivative of an operation by an input: of the inputs `x` and `y` and of numbers by name.
type Derivative = fn(x: f64, y: f64, of: &dyn Fn(&str) -> f64) -> f64;

/// PyTorch's derivatives, of operations without a written gradient.
const FORMULAS: [(&str, &str, Derivative); 51] = [
    ("leaky_relu", "x", |x, _, of| if x > 0.0 { 1.0 } else { of("slope") }),
    ("elu", "x", |x, _, of| if x > 0.0 { 1.0 } else { of("alpha") * x.exp() }),
    ("selu", "x", |x, _, _| if x > 0.0 { 1.0507009873554805 } else { 1.7580993408473766 * x.exp() }),
    ("hard_sigmoid", "x", |x, _, _| if x.abs() < 3.0 { 1.0 / 6.0 } else { 0.0 }),
    ("hard_swish", "x", |x, _, _| match x {
        x if x <= -3.0 => 0.0,
        x if x < 3.0 => (2.0 * x + 3.0) / 6.0,
        _ => 1.0,
    }),
    ("hard_tanh", "x", |x, _, of| if x <= of("low") || x >= of("high") { 0.0 } else { 1.0 }),
    ("relu6", "x", |x, _, _| if x <= 0.0 || x >= 6.0 { 0.0 } else { 1.0 }),
    ("threshold", "x", |x, _, of| if x <= of("limit") { 0.0 } else { 1.0 }),
    ("hard_shrink", "x", |x, _, of| if x.abs() <= of("threshold") { 0.0 } else { 1.0 }),
    ("soft_shrink", "x", |x, _, of| if x.abs() <= of("threshold") { 0.0 } else { 1.0 }),
    ("celu", "x", |x, _, of| if x > 0.0 { 1.0 } else { (x / of("alpha")).exp() }),
    ("prelu", "x", |x, _, of| if x > 0.0 { 1.0 } else { of("slope") }),
    ("prelu", "slope", |x, _, _| if x > 0.0 { 0.0 } else { x }),
    ("glu", "value", |_, _, of| sigmoid(of("gate"))),
    ("glu", "gate", |_, _, of| of("value") * sigmoid(of("gate")) * sigmoid(-of("gate"))),
    ("abs", "x", |x, _, _| if x == 0.0 { 0.0 } else { x.signum() }),
    ("square", "x", |x, _, _| 2.0 * x),
    ("recip", "x", |x, _, _| -1.0 / (x * x)),
    ("sqrt", "x", |x, _, _| 0.5 / x.sqrt()),
    ("power", "x", |x, y, _| power_by_base(x, y)),
    ("power", "y", |x, y, of| if x == 0.0 && y >= 0.0 { 0.0 } else { of("output") * x.ln() }),
    ("power_value", "x", |x, _, of| power_by_base(x, of("exponent"))),
    ("select", "x", |_, _, of| if of("mask") == 0.0 { 0.0 } else { 1.0 }),
    ("select", "y", |_, _, of| if of("mask") == 0.0 { 1.0 } else { 0.0 }),
    ("maximum", "x", |x, y, _| share_of_larger(x, y)),
    ("maximum", "y", |x, y, _| share_of_larger(y, x)),
    ("minimum", "x", |x, y, _| share_of_larger(y, x)),
    ("minimum", "y", |x, y, _| share_of_larger(x, y)),
    ("clip", "x", |x, _, of| if (of("low")..=of("high")).contains(&x) { 1.0 } else { 0.0 }),
    ("erf", "x", |x, _, _| std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp()),
    ("exp", "x", |x, _, _| x.exp()),
    ("exp2", "x", |x, _, _| x.exp2() * std::f64::consts::LN_2),
    ("expm1", "x", |x, _, _| x.exp()),
    ("ln", "x", |x, _, _| 1.0 / x),
    ("log2", "x", |x, _, _| 1.0 / (x * std::f64::consts::LN_2)),
    ("log10", "x", |x, _, _| 1.0 / (x * std::f64::consts::LN_10)),
    ("log1p", "x", |x, _, _| 1.0 / (1.0 + x)),
    ("sinh", "x", |x, _, _| x.cosh()),
    ("cosh", "x", |x, _, _| x.sinh()),
    ("tanh", "x", |_, _, of| (1.0 - of("output")) * (1.0 + of("output"))),
    ("asinh", "x", |x, _, _| 1.0 / x.hypot(1.0)),
    ("acosh", "x", |x, _, _| 1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt())),
    ("atanh", "x", |x, _, _| 1.0 / ((1.0 - x) * (1.0 + x))),
    ("sin", "x", |x, _, _| x.cos()),
    ("cos", "x", |x, _, _| -x.sin()),
    ("tan", "x", |x, _, _| 1.0 + x.tan().powi(2)),
    ("asin", "x", |x, _, _| 1.0 / ((1.0 - x) * (1.0 + x)).sqrt()),
    ("acos", "x", |x, _, _| -1.0 / ((1.0 - x) * (1.0 + x)).sqrt()),
    ("atan", "x", |x, _, _| 1.0 / (1.0 + x * x)),
    ("atan2", "y", |x, y, _| x / (x * x + y * y)),
    ("atan2", "x", |x, y, _| -y / (x * x + y * y)),
];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn power_by_base(x: f64, exponent: f64) -> f64 {
    if exponent == 0.0 { 0.0 } else { exponent * x.powf(exponent - 1.0) }
}

/// The part of a gradient that goes to `x`, if it is the larger one; NaN is larger than any number.
fn share_of_larger(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        Some(Ordering::Less) => 0.0,
        Some(Ordering::Equal) => 0.5,
        _ => 1.0,
    }
}

/// The gradient of an operation by an input, at a place with `output` and `gradient`.
enum Expected {
    Formula(Derivative),
    /// The body of an operation that computes the gradient; comparisons with PyTorch's are elsewhere.
    Written(Function),
}

impl Expected {
    fn value(&self, at: &Numbers) -> f64 {
        match self {
            Self::Formula(derivative) => {
                let [x, y] = ["x", "y"].map(|name| at.0.get(name).copied().unwrap_or(f64::NAN));
                at.of("gradient") * derivative(x, y, &|name| at.of(name))
            }
            Self::Written(function) => function.value(at),
        }
    }
}

/// Kinks, ends of domains, infinities and NaN are among the places.
#[test]
fn derived_maps_agree_with_formulas() {
    let ops = ops();
    let mut pairs: Vec<_> =
        FORMULAS.into_iter().map(|(name, by, formula)| (name, by, Expected::Formula(formula))).collect();
    // The rule of binary cross-entropy has PyTorch's bounds where the derivative is infinite.
    for name in ops.keys().filter(|name| *name != "binary_cross_entropy") {
        if let Some(backward) = ops.get(&format!("{name}_backward")) {
            pairs.push((name, "x", Expected::Written(Function::of(backward))));
        }
    }
    assert_eq!(pairs.len(), FORMULAS.len() + 11, "the gradients of activations are written");
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        3.0,
        -3.0,
        -0.75,
        1.25,
        0.5,
        -2.5,
        6.0,
        50.0,
        -50.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let mut wrong = Vec::new();
    for (name, by, gradient) in pairs {
        let codelet = &ops[name];
        let forward = Function::of(codelet);
        let map = Gradient::all(codelet).into_iter().find(|map| map.by == by).unwrap();
        for index in 0..values.len().pow(codelet.parameters.len() as u32 - 1) {
            let at = Numbers::of_codelet(codelet, &values, index);
            let value = map.value(&forward, &at, 1.75);
            let expected = gradient.value(&at.with("output", forward.value(&at)));
            // The written gradient of `sigmoid` loses the digits of `1 - output`.
            let is_same =
                equal(value, expected) || (value - expected).abs() <= 1e-12 * expected.abs() + 1e-20;
            let place = at.of(by);
            let is_known = DIFFERENT
                .iter()
                .any(|(known, places, _)| *known == name && places.iter().any(|known| equal(*known, place)));
            if is_same == is_known {
                wrong.push(format!("{name} by {by} at {at:?}: {value} and not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn equal(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}
