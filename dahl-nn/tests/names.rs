//! `use dahl::ops::*; use dahl_nn::prelude::*;` have no conflicts: no layer, loss, etc. has the name of an op.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A program that imports everything with globs and uses every name. Two items with the same name would be ambiguous
/// here.
#[allow(dead_code, unused_imports, reason = "it is enough that it compiles")]
mod program {
    use dahl::ops::*;
    use dahl::prelude::*;
    use dahl_nn::checkpoint::*;
    use dahl_nn::dataset::*;
    use dahl_nn::layer::*;
    use dahl_nn::loss::*;
    use dahl_nn::module::*;
    use dahl_nn::optimizer::*;
    use dahl_nn::prelude::*;
    use dahl_nn::schedule::*;
    use dahl_nn::sequential::*;
    use dahl_nn::training::*;

    type Layers<'m> = (
        Conv2d<'m, f32>,
        Linear<'m, f32>,
        Embedding<'m, f32>,
        Dropout,
        MaxPool2d,
        AvgPool2d,
        Parameter<'m, f32>,
    );
    type Optimizers = (
        Adadelta<f32>,
        Adagrad<f32>,
        Adam<f32>,
        AdamW<f32>,
        Lamb<f32>,
        Lion<f32>,
        RmsProp<f32>,
        LossScaler,
        WeightAverage<f32>,
    );
    type Schedules =
        (Cosine, CosineRestarts, ExponentialDecay, Lambda<fn(usize) -> f64>, OneCycle, Plateau, StepDecay);
    type Training<'t, 'm> = Trainer<'t, 'm, f32, CrossEntropy, Sgd<f32>>;
    type Data<'m> = (FashionMnist, Synthetic, Images, Sequential<'m, f32>, History, Epoch, Evaluation);
    type Arguments = (Conv2dGeometry, Pool2dGeometry, Conv2dPoolGeometry, Transposed, Philox, Axis);

    /// The user's own operation: its type is beside its function.
    #[codelet(R, R, W)]
    fn twice_sum<T: Real>(x: T, y: T) -> T {
        x + x + y
    }

    fn functions(arena: &Arena, x: &Matrix<'_, f32>, labels: &Vector<'_, u32>) -> dahl::Result<()> {
        let _loss: CrossEntropy = CrossEntropy;
        let _relu: Relu = Relu::default();
        let mut total = arena.zeros([])?;
        cross_entropy(&relu_init(arena, x)?, labels, &mut total, 1.0)?;
        let mut out = arena.zeros(x.shape())?;
        TwiceSum::task(x, x, &mut out).submit()?;
        twice_sum(x, x, &mut out)?;
        dahl::ops::codelets::CrossEntropy::task(x, labels, &mut total, 1.0).submit()
    }
}

/// The source of every file of a folder, and of the folders in it.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            text += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &fs::read_to_string(&path).unwrap();
        }
    }
    text
}

/// The names after these words at the beginning of a line.
fn names_after(text: &str, words: &[&str]) -> BTreeSet<String> {
    let name = |line: &str| {
        let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
        Some(rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect())
    };
    text.lines().filter_map(name).collect()
}

/// The types of all codelets, by the functions under `#[codelet(..)]`.
fn codelet_types(text: &str) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    let mut is_codelet = false;
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
        is_codelet |= line.starts_with("#[codelet");
        let Some(function) = line.strip_prefix("pub fn ").filter(|_| is_codelet) else { continue };
        is_codelet = false;
        let name: String = function.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let pascal = |word: &str| word[..1].to_uppercase() + &word[1..];
        types.insert(name.split('_').filter(|word| !word.is_empty()).map(pascal).collect());
    }
    types
}

#[test]
fn a_layer_may_have_the_name_of_any_codelet() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ops = sources(&root.join("src/ops"));
    let module = fs::read_to_string(root.join("src/ops/mod.rs")).unwrap();
    let codelets = codelet_types(&ops);
    assert!(codelets.len() > 150 && codelets.contains("CrossEntropy") && codelets.contains("MaxPool2d"));

    // `dahl::ops` hides every codelet's type: `codelet_types!` must list all of them.
    let (_, list) = module.split_once("\ncodelet_types! {").unwrap();
    let listed: BTreeSet<String> = list
        .lines()
        .filter_map(|line| line.split_once(": ").or(Some(("", line))))
        .flat_map(|(_, names)| {
            let names = names.trim_matches([' ', ';', '}']).split(", ");
            names.map(|name| name.trim_matches([' ', ',', ';']).to_owned()).collect::<Vec<_>>()
        })
        .filter(|name| !name.is_empty())
        .collect();
    let missing: Vec<_> = codelets.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "add {missing:?} to `codelet_types!` in src/ops/mod.rs, or `dahl::ops::*` exports them"
    );

    // The names that `dahl::ops::*` and `dahl::prelude::*` do export must not be names of `dahl_nn`.
    let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];
    let mut brought = names_after(&ops, &kinds);
    assert!(brought.contains("Transposed"), "{brought:?}");
    let prelude = fs::read_to_string(root.join("src/prelude.rs")).unwrap();
    let words = prelude.lines().filter(|line| !line.starts_with("//")).flat_map(|line| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>()
    });
    brought.extend(words.filter(|word| word.starts_with(char::is_uppercase)));
    assert!(brought.contains("Axis") && brought.contains("Arena"), "{brought:?}");
    let of_nn = names_after(&sources(&root.join("dahl-nn/src")), &kinds);
    assert!(of_nn.contains("CrossEntropy") && of_nn.contains("Sequential"), "{of_nn:?}");
    let both: Vec<_> = brought.intersection(&of_nn).collect();
    assert!(
        both.is_empty(),
        "{both:?} would be ambiguous after `use dahl::ops::*; use dahl_nn::prelude::*;`"
    );
}
