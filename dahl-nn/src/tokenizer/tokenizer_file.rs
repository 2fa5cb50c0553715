//! [`TokenizerFile`]: the tokenizers of the crate `tokenizers`.

use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use crate::error::Error;

/// A tokenizer in a file `tokenizer.json`, as the crate `tokenizers` and Hugging Face's libraries write it: byte-pair
/// encoding, WordPiece, unigrams, and others.
#[derive(Clone, Debug)]
pub struct TokenizerFile {
    path: PathBuf,
    tokenizer: Tokenizer,
}

impl TokenizerFile {
    /// The tokenizer in the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or has another format.
    pub fn open(path: impl AsRef<Path>) -> dahl::Result<Self> {
        let path = path.as_ref().to_owned();
        let bytes = std::fs::read(&path).map_err(|error| Error::Io { path: path.clone(), error })?;
        match Tokenizer::from_bytes(&bytes) {
            Ok(tokenizer) => Ok(Self { path, tokenizer }),
            Err(error) => {
                let expected = "a tokenizer in JSON".to_owned();
                Err(Error::Format { path, offset: 0, expected, found: error.to_string() }.into())
            }
        }
    }

    /// The number of tokens, with those that were added to the vocabulary.
    pub fn vocabulary_len(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    /// The tokens of a text, without special ones before and after it.
    ///
    /// # Errors
    /// If the tokenizer has no tokens for the text.
    pub fn encode(&self, text: &str) -> dahl::Result<Vec<u32>> {
        let encoding = self.tokenizer.encode(text, false).map_err(|error| self.failed(error));
        Ok(encoding?.get_ids().to_vec())
    }

    /// The text of tokens, with special ones.
    ///
    /// # Errors
    /// If the tokenizer cannot decode them.
    pub fn decode(&self, tokens: &[u32]) -> dahl::Result<String> {
        Ok(self.tokenizer.decode(tokens, false).map_err(|error| self.failed(error))?)
    }

    fn failed(&self, error: tokenizers::Error) -> Error {
        Error::Tokenizer { path: self.path.clone(), message: error.to_string() }
    }
}
