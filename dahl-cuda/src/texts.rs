//! Compresses many texts together, for the files of kernels that a crate embeds.
//!
//! The compressed form is zlib's, of each text's name and content with a zero byte after both.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib;

/// Higher levels take much longer and hardly save more.
const LEVEL: u8 = 6;

/// Packs texts with their names.
///
/// # Errors
/// The name of the text, if it or its name has a zero byte.
pub fn pack<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    for (name, text) in texts {
        if name.contains('\0') || text.contains('\0') {
            return Err(name.to_owned());
        }
        for part in [name, text] {
            plain.extend_from_slice(part.as_bytes());
            plain.push(0);
        }
    }
    Ok(compress_to_vec_zlib(&plain, LEVEL))
}

/// The texts with their names, in the order in which they were packed; none if the bytes are not valid output of
/// [`pack`].
pub fn unpack(packed: &[u8]) -> Option<Vec<(String, String)>> {
    let plain = String::from_utf8(decompress_to_vec_zlib(packed).ok()?).ok()?;
    let mut texts = Vec::new();
    let mut rest = &*plain;
    while !rest.is_empty() {
        let (name, behind) = rest.split_once('\0')?;
        let (text, behind) = behind.split_once('\0')?;
        texts.push((name.to_owned(), text.to_owned()));
        rest = behind;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn texts_come_back_in_their_order() {
        let long = "__global__ void f(View<float, 1> x);\n".repeat(1000);
        let texts = [("b.cu", &*long), ("a.cuh", ""), ("include/c.cuh", "// \u{fc}\r\n")];
        let packed = pack(texts).expect("there are no zero bytes");
        assert!(packed.len() < long.len() / 20, "{} bytes", packed.len());
        let back = unpack(&packed).expect("it is whole");
        let back: Vec<_> = back.iter().map(|(name, text)| (&**name, &**text)).collect();
        assert_eq!(back, texts);
        assert_eq!(unpack(&pack([]).expect("nothing is wrong with it")), Some(Vec::new()));
    }

    #[test]
    fn a_zero_byte_is_refused_with_its_text() {
        assert_eq!(pack([("a.cu", "a"), ("b.cu", "b\0c")]), Err("b.cu".to_owned()));
    }

    #[test]
    fn what_is_damaged_is_not_unpacked_as_another_text() {
        let packed = pack([("a.cu", "some text of a kernel")]).expect("there are no zero bytes");
        assert_eq!(unpack(&packed[..packed.len() - 1]), None);
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x10;
            // One bit of the header does not affect the text.
            assert!(unpack(&damaged).is_none_or(|texts| Some(texts) == unpack(&packed)), "byte {at}");
        }
    }
}
