//! Texts as tokens: [`CharacterTokenizer`], and, with the feature `tokenizers`, `TokenizerFile` for the vocabularies of
//! the crate `tokenizers`.
//!
//! Not here: windows of tokens to train on (`dataset::TokenWindows`).

mod character_tokenizer;
#[cfg(feature = "tokenizers")]
mod tokenizer_file;

pub use character_tokenizer::CharacterTokenizer;
#[cfg(feature = "tokenizers")]
pub use tokenizer_file::TokenizerFile;
