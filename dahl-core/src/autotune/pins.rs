//! [`Pins`]: a table of kernels, read from a file.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::policy::{KernelPolicy, NAMES};
use crate::codelet::{Codelet, Kernel};

/// The version of the tables that this crate reads and writes.
pub(super) const VERSION: u32 = 1;

/// The rows of a table, and the policy for tasks that match no row.
#[derive(Debug)]
pub(crate) struct Pins {
    file: String,
    otherwise: KernelPolicy,
    rows: Vec<Pin>,
}

/// A row, with its line.
#[derive(Debug)]
struct Pin {
    line: usize,
    row: Row,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: Spanned<u32>,
    otherwise: Option<Spanned<String>>,
    #[serde(default)]
    kernel: Vec<Spanned<Row>>,
}

/// The tasks that a row matches, and their kernel. Omitted fields match all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The codelet's name, with or without its module.
    codelet: String,
    worker: Option<String>,
    elements: Option<Vec<String>>,
    shapes: Option<Vec<Vec<usize>>>,
    in_place: Option<bool>,
    kernel: Spanned<String>,
}

impl Pins {
    /// The table in a file, or an error with its line.
    pub(super) fn from_file(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        Self::from_text(path.display().to_string(), &text)
    }

    fn from_text(file: String, text: &str) -> Result<Self, String> {
        let table: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line(text, span.start));
            format!("line {line}: {}", error.message())
        })?;
        let version = *table.version.as_ref();
        if version != VERSION {
            let line = line(text, table.version.span().start);
            return Err(format!("line {line}: version {version}; this is version {VERSION} of the tables"));
        }
        let otherwise = match table.otherwise {
            None => KernelPolicy::default(),
            Some(name) => KernelPolicy::of_name(name.as_ref()).ok_or_else(|| {
                let line = line(text, name.span().start);
                format!("line {line}: otherwise = `{}`: expected one of {}", name.as_ref(), NAMES.join(", "))
            })?,
        };
        let pin = |row: Spanned<Row>| {
            let row = row.into_inner();
            Pin { line: line(text, row.kernel.span().start), row }
        };
        Ok(Self { file, otherwise, rows: table.kernel.into_iter().map(pin).collect() })
    }

    /// The file's name.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The policy for tasks that match no row.
    pub(super) fn otherwise(&self) -> &KernelPolicy {
        &self.otherwise
    }

    /// The kernel among `kernels`, those for this kind of worker, that the first matching row names, and the row's
    /// position; none if no row matches. A row whose kernel is for another kind of worker does not match.
    ///
    /// # Errors
    /// The message if the codelet has no such kernel.
    pub(super) fn find(
        &self,
        codelet: &'static Codelet,
        kernels: &[&'static Kernel],
        worker: &str,
        in_place: bool,
        footprint: &[Vec<usize>],
    ) -> Result<Option<(&'static Kernel, String)>, String> {
        let is_here = |name: &str| kernels.iter().any(|kernel| kernel.name() == name);
        let is_elsewhere = |name: &str| !is_here(name) && codelet.named(name).is_some();
        let fits = |pin: &&Pin| {
            pin.row.fits(codelet, worker, in_place, footprint) && !is_elsewhere(pin.row.kernel.as_ref())
        };
        let Some(Pin { line, row }) = self.rows.iter().find(fits) else { return Ok(None) };
        let place = format!("{}:{line}", self.file);
        let name = row.kernel.as_ref();
        match kernels.iter().find(|kernel| kernel.name() == name) {
            Some(kernel) => Ok(Some((*kernel, place))),
            None => {
                let kernels = codelet.kernels.iter().flatten().chain(codelet.on_cuda());
                let kernels: Vec<_> = kernels.map(Kernel::name).collect();
                let (codelet, kernels) = (codelet.name, kernels.join(", "));
                Err(format!(
                    "{place}: {codelet} has no kernel `{name}`; it has: {kernels}. The row is left aside"
                ))
            }
        }
    }

    /// Warnings about rows whose codelet did not run; `ran` are those that did.
    pub(super) fn unused(&self, ran: &[String]) -> Vec<String> {
        let has_run = |row: &Row| ran.iter().any(|ran| is_named(ran, &row.codelet));
        let unused = self.rows.iter().filter(|pin| !has_run(&pin.row));
        let message = |Pin { line, row }: &Pin| {
            let ran = if ran.is_empty() { "none".to_owned() } else { ran.join(", ") };
            format!("{}:{line}: no codelet `{}` ran; those that ran: {ran}", self.file, row.codelet)
        };
        unused.map(message).collect()
    }
}

impl Row {
    fn fits(&self, codelet: &Codelet, worker: &str, in_place: bool, footprint: &[Vec<usize>]) -> bool {
        let elements = || codelet.parameters.iter().map(|parameter| parameter.element.name);
        is_named(&format!("{}::{}", codelet.module, codelet.name), &self.codelet)
            && self.worker.as_ref().is_none_or(|kind| kind == worker)
            && self.in_place.is_none_or(|wanted| wanted == in_place)
            && self.shapes.as_ref().is_none_or(|shapes| shapes == footprint)
            && self.elements.as_ref().is_none_or(|wanted| wanted.iter().map(String::as_str).eq(elements()))
    }
}

/// Whether `name` means the codelet of this full name: it is a suffix that begins with a module's name.
fn is_named(full: &str, name: &str) -> bool {
    full.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

/// The number of the line that contains a byte.
fn line(text: &str, byte: usize) -> usize {
    1 + text.as_bytes()[..byte.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}
