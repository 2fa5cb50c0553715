//! [`duplicate_name`]: a name that the header of a safetensors file has twice, of which its reader would take one.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// The first name that the header of a file has for the second time; nothing also if it has no header that can be read.
pub(super) fn duplicate_name(file: &[u8]) -> Option<String> {
    let (len, rest) = file.split_first_chunk::<8>()?;
    let header = rest.get(..usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    serde_json::Deserializer::from_slice(header).deserialize_map(FirstDuplicate).ok()?
}

struct FirstDuplicate;

impl<'de> Visitor<'de> for FirstDuplicate {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let (mut names, mut duplicate) = (HashSet::new(), None);
        while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            if !names.insert(name.clone()) {
                duplicate.get_or_insert(name);
            }
        }
        Ok(duplicate)
    }
}
