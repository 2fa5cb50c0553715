//! Reading event files as TensorBoard does: a restart at a step makes it forget this step and later ones.

use std::fs;
use std::path::Path;

/// The scalars of the event files of a folder: tag, step, and the bits of the value.
pub(crate) fn scalars(folder: &Path) -> Vec<(String, u64, u32)> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut scalars: Vec<(String, u64, u32)> = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).unwrap();
        let mut rest = &bytes[..];
        // A record: its length, 4 bytes, the event, 4 bytes. The last one of a killed process may be cut.
        while let Some((event, after)) = record(rest) {
            rest = after;
            let fields = fields(event);
            let step = fields.iter().find(|(field, _)| *field == 2).map_or(0, |(_, value)| value.number());
            for (field, value) in &fields {
                match field {
                    5 => {
                        let value = self::fields(self::fields(value.bytes())[0].1.bytes());
                        let tag = String::from_utf8(value[0].1.bytes().to_vec()).unwrap();
                        scalars.push((tag, step, value[1].1.number() as u32));
                    }
                    7 => scalars.retain(|&(_, of_scalar, _)| of_scalar < step),
                    _ => {}
                }
            }
        }
    }
    scalars
}

fn record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?) as usize;
    let event = bytes.get(12..12 + len)?;
    bytes.get(16 + len..).map(|after| (event, after))
}

/// The value of a field of a message.
enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    fn number(&self) -> u64 {
        let Value::Number(number) = self else { panic!("no number") };
        *number
    }

    fn bytes(&self) -> &'b [u8] {
        let Value::Bytes(bytes) = self else { panic!("no bytes") };
        bytes
    }
}

/// The fields of a message in the encoding of protocol buffers, in order.
fn fields(mut message: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let value = match key & 7 {
            0 => Value::Number(varint(&mut message)),
            1 => Value::Number(u64::from_le_bytes(take(&mut message, 8).try_into().unwrap())),
            2 => {
                let len = varint(&mut message) as usize;
                Value::Bytes(take(&mut message, len))
            }
            5 => Value::Number(u32::from_le_bytes(take(&mut message, 4).try_into().unwrap()).into()),
            kind => panic!("a field of type {kind}"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

fn take<'b>(bytes: &mut &'b [u8], len: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(len);
    *bytes = rest;
    taken
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}
