//! Stores values that are the same on many lines once.

use crate::trace::Text;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Interned texts.
#[derive(Default)]
pub(super) struct Texts(HashSet<Text>);

impl Texts {
    pub(super) fn get(&mut self, text: &str) -> Text {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new = Text::from(text);
        self.0.insert(new.clone());
        new
    }
}

/// Interned lists, by their JSON.
pub(super) struct Lists<T>(HashMap<Box<str>, Arc<[T]>>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: DeserializeOwned> Lists<T> {
    pub(super) fn get(&mut self, json: &str) -> Result<Arc<[T]>, serde_json::Error> {
        if let Some(known) = self.0.get(json) {
            return Ok(known.clone());
        }
        let new: Arc<[T]> = serde_json::from_str::<Vec<T>>(json)?.into();
        self.0.insert(json.into(), new.clone());
        Ok(new)
    }
}
