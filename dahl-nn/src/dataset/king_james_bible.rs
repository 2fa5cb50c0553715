//! [`king_james_bible`]: a text of about 1 MB.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// The text, compressed.
const COMPRESSED: &[u8] = include_bytes!("../../data/king-james-bible/text.gz");

/// The beginning of the King James translation of the Bible (1611), which is in the public domain: 996,952 characters of
/// ASCII, 62 of them different. A verse is a line, and an empty line is between chapters.
pub fn king_james_bible() -> String {
    let mut text = String::new();
    GzDecoder::new(COMPRESSED).read_to_string(&mut text).expect("the file in this crate is complete");
    text
}
