use crate::Trace;
use std::io::{self, Write};

pub(super) fn write(_trace: &Trace, _out: impl Write) -> io::Result<()> {
    todo!()
}
