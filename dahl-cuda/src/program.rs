//! [`CudaProgram`]: the sources of CUDA kernels, which NVRTC compiles at their first use.

use std::fmt;
#[cfg(all(feature = "nvrtc", feature = "texts"))]
use std::sync::OnceLock;

/// The texts of a crate's kernels.
pub struct CudaTexts {
    held: Held,
    /// Name and content of those that are packed; nothing if the bytes are not what `dahl-build` packed.
    #[cfg(all(feature = "nvrtc", feature = "texts"))]
    unpacked: OnceLock<Option<Vec<(String, String)>>>,
}

/// How texts are held.
#[derive(Clone, Copy)]
enum Held {
    Packed(&'static [u8]),
    Plain(&'static [(&'static str, &'static str)]),
}

/// The kernels of one file.
#[derive(Clone, Copy, Debug)]
pub struct CudaProgram {
    #[cfg_attr(
        not(all(feature = "nvrtc", feature = "texts")),
        expect(dead_code, reason = "nobody compiles them")
    )]
    texts: &'static CudaTexts,
    files: &'static [&'static str],
}

impl CudaTexts {
    /// What the module `texts` packed.
    pub const fn new(packed: &'static [u8]) -> Self {
        Self::held(Held::Packed(packed))
    }

    /// Texts with their names.
    pub const fn plain(texts: &'static [(&'static str, &'static str)]) -> Self {
        Self::held(Held::Plain(texts))
    }

    const fn held(held: Held) -> Self {
        Self {
            held,
            #[cfg(all(feature = "nvrtc", feature = "texts"))]
            unpacked: OnceLock::new(),
        }
    }

    #[cfg(all(feature = "nvrtc", feature = "texts"))]
    fn named(&self, name: &str) -> Option<&str> {
        match self.held {
            Held::Plain(texts) => texts.iter().find(|(known, _)| *known == name).map(|(_, text)| *text),
            Held::Packed(bytes) => {
                let texts = self.unpacked.get_or_init(|| crate::texts::unpack(bytes)).as_ref()?;
                texts.iter().find(|(known, _)| known == name).map(|(_, text)| &**text)
            }
        }
    }
}

impl CudaProgram {
    /// Those of `files`: the text of the entry points, and those that it includes.
    pub const fn new(texts: &'static CudaTexts, files: &'static [&'static str]) -> Self {
        Self { texts, files }
    }

    /// The names of the texts, that of the entry points first.
    pub fn files(&self) -> &'static [&'static str] {
        self.files
    }

    /// What to compile for one entry point: calls `compile` with the name of the text, the text, and the headers.
    /// Nothing if a text is missing: they are not those that were packed.
    #[cfg(all(feature = "nvrtc", feature = "texts"))]
    pub fn with_entry<R>(
        &self,
        entry: &str,
        compile: impl FnOnce(crate::nvrtc::Program<'_>) -> R,
    ) -> Option<R> {
        let texts = self.files.iter().map(|&name| Some((name, self.texts.named(name)?)));
        let texts = texts.collect::<Option<Vec<_>>>()?;
        let (&(name, entries), headers) = texts.split_first()?;
        let source = crate::one_entry(entries, entry);
        Some(compile(crate::nvrtc::Program { name, source: &source, headers }))
    }
}

impl fmt::Debug for CudaTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.held {
            Held::Packed(bytes) => write!(f, "CudaTexts({} bytes)", bytes.len()),
            Held::Plain(texts) => write!(f, "CudaTexts({} texts)", texts.len()),
        }
    }
}
