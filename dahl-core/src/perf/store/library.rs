//! [`Library`]: loaded models, until a codelet asks for them.

use super::super::entry::Earlier;
use super::super::family::Family;
use super::super::history::History;
use super::super::warnings::Warnings;
use super::super::work::Work;
use super::file::{CodeletFile, declaration};
use crate::codelet::Codelet;

/// Loaded histories, until a codelet needs them.
#[derive(Debug, Default)]
pub(in super::super) struct Library {
    files: Vec<CodeletFile>,
}

/// The loaded history of one footprint.
pub(in super::super) struct Loaded {
    pub(in super::super) footprint: Vec<Vec<usize>>,
    pub(in super::super) work: Work,
    pub(in super::super) earlier: Earlier,
}

impl Library {
    pub(super) fn new(files: Vec<CodeletFile>) -> Self {
        Self { files }
    }

    fn file(&mut self, codelet: &Codelet) -> Option<&mut CodeletFile> {
        self.files.iter_mut().find(|file| (&*file.codelet, &*file.module) == (codelet.name, codelet.module))
    }

    /// Drops the histories of a codelet, with a warning, if all are of another declaration.
    pub(in super::super) fn warn_if_declared_otherwise(&mut self, codelet: &Codelet, warnings: &Warnings) {
        let Some(file) = self.file(codelet) else { return };
        let own = declaration(codelet.declaration);
        if file.history.is_empty() || file.history.iter().any(|history| history.declaration == own) {
            return;
        }
        file.history.clear();
        warnings.warn(format!(
            "performance models: {}::{}: its declaration has changed since they were stored; they are set aside, and \
             measured anew",
            codelet.module, codelet.name
        ));
    }

    /// The loaded histories of a family, once.
    pub(in super::super) fn take(&mut self, family: &Family) -> Vec<Loaded> {
        let Some(file) = self.file(family.codelet) else { return Vec::new() };
        let own = declaration(family.codelet.declaration);
        let taken = file.history.extract_if(.., |history| {
            (&*history.declaration, &*history.kernel, &*history.worker_kind)
                == (&*own, family.kernel, &*family.kind)
                && history.elements.iter().eq(family.elements())
        });
        taken
            .map(|history| Loaded {
                work: history.work(),
                earlier: history.earlier(),
                footprint: history.footprint,
            })
            .collect()
    }

    /// The histories that no codelet has taken.
    pub(in super::super) fn histories(&self) -> impl Iterator<Item = History> {
        self.files.iter().flat_map(CodeletFile::histories)
    }
}
