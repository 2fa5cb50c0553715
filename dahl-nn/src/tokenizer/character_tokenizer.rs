//! [`CharacterTokenizer`]: a token for each character.

use std::collections::BTreeSet;

use crate::error::{Error, Result};

/// A token for each different character of a text, in the order of their code points.
///
/// ```
/// use dahl_nn::prelude::*;
///
/// let tokenizer = CharacterTokenizer::new("abracadabra");
/// assert_eq!(tokenizer.vocabulary(), ['a', 'b', 'c', 'd', 'r']);
/// assert_eq!(tokenizer.encode("bad")?, [1, 0, 3]);
/// assert_eq!(tokenizer.decode(&[1, 0, 3])?, "bad");
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharacterTokenizer {
    /// In order.
    vocabulary: Vec<char>,
}

impl CharacterTokenizer {
    /// The characters of `text`.
    pub fn new(text: &str) -> Self {
        let vocabulary: BTreeSet<char> = text.chars().collect();
        Self { vocabulary: vocabulary.into_iter().collect() }
    }

    /// The characters, by token.
    pub fn vocabulary(&self) -> &[char] {
        &self.vocabulary
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// If it has a character without a token.
    pub fn encode(&self, text: &str) -> dahl::Result<Vec<u32>> {
        let token = |(place, character): (usize, char)| match self.vocabulary.binary_search(&character) {
            Ok(token) => Ok(token as u32),
            Err(_) => Err(Error::Character { place, character }),
        };
        Ok(text.char_indices().map(token).collect::<Result<_>>()?)
    }

    /// The text of tokens.
    ///
    /// # Errors
    /// If a token is not in the vocabulary.
    pub fn decode(&self, tokens: &[u32]) -> dahl::Result<String> {
        let character = |&token: &u32| {
            let character = self.vocabulary.get(token as usize).copied();
            character.ok_or(Error::Token { token, vocabulary: self.vocabulary.len() })
        };
        Ok(tokens.iter().map(character).collect::<Result<_>>()?)
    }
}
