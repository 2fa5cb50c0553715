//! How files of programs write bytes and hashes: as hexadecimal digits.

/// A hash as sixteen hexadecimal digits: numbers of 64 bits are more than many readers of JSON keep.
pub(super) mod hash {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::listing) fn serialize<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{hash:016x}"))
    }

    pub(in crate::listing) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_hash = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let hash = u64::from_str_radix(&text, 16).ok().filter(|_| is_hash);
        hash.ok_or_else(|| D::Error::custom(format!("`{text}`: expected 16 hexadecimal digits")))
    }
}

/// Bytes as hexadecimal digits, two each.
pub(super) mod bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::listing) fn serialize<S: Serializer>(
        bytes: &[u8],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&crate::listing::text::hexadecimal(bytes))
    }

    pub(in crate::listing) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        let pairs = text.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?));
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes.ok_or_else(|| D::Error::custom("expected pairs of hexadecimal digits"))
    }

    pub(in crate::listing) mod optional {
        use serde::{Deserializer, Serializer};

        pub(in crate::listing) fn serialize<S: Serializer>(
            bytes: &Option<Vec<u8>>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match bytes {
                Some(bytes) => super::serialize(bytes, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub(in crate::listing) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Vec<u8>>, D::Error> {
            super::deserialize(deserializer).map(Some)
        }
    }
}
