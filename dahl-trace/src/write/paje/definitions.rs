//! The definitions of events and types.

use super::quoted;
use crate::format::Cause;
use crate::palette::{Codelets, idle_color};
use std::io::{self, Write};

/// The events: number, name, fields.
const EVENTS: [(u32, &str, &str); 12] = [
    (1, "PajeDefineContainerType", "Alias string, Type string, Name string"),
    (3, "PajeDefineStateType", "Alias string, Type string, Name string"),
    (4, "PajeDefineVariableType", "Alias string, Type string, Name string, Color color"),
    (
        5,
        "PajeDefineLinkType",
        "Alias string, Type string, StartContainerType string, EndContainerType string, Name string",
    ),
    (6, "PajeDefineEntityValue", "Alias string, Type string, Name string, Color color"),
    (7, "PajeCreateContainer", "Time date, Alias string, Type string, Container string, Name string"),
    (8, "PajeDestroyContainer", "Time date, Name string, Type string"),
    (10, "PajeSetState", "Time date, Container string, Type string, Value string"),
    (13, "PajeSetVariable", "Time date, Container string, Type string, Value double"),
    (
        18,
        "PajeStartLink",
        "Time date, Type string, Container string, Value string, StartContainer string, Key string",
    ),
    (
        19,
        "PajeEndLink",
        "Time date, Type string, Container string, Value string, EndContainer string, Key string",
    ),
    (
        20,
        "PajeSetState",
        "Time date, Container string, Type string, Value string, Size string, Params string, Footprint string, \
         Tag string, JobId string, SubmitOrder string",
    ),
];

const TYPES: &str = "\
1 MPIP 0 \"MPI Program\"
1 P MPIP \"Program\"
1 Mn P \"Memory Node\"
1 T Mn \"Thread\"
1 Mm Mn \"Memory Manager\"
1 W T \"Worker\"
1 Sc P \"Scheduler\"
3 WS W \"Worker State\"
3 IC W \"Idle Cause\"
4 nsubmitted Sc \"Number of Submitted Uncompleted Tasks\" \"0 0 0\"
4 nready Sc \"Number of Ready Tasks\" \"0 0 0\"
4 mem Mm \"Used Memory\" \"0 0 0\"
5 L P Mm Mm \"Links between two Memory Managers\"
6 B WS \"Overhead\" \".5 .18 .0\"
6 Fi WS \"FetchingInput\" \"1.0 .1 1.0\"
6 Sc WS \"Scheduling\" \".7 .36 .0\"
6 Sl WS \"Sleeping\" \".9 .1 .0\"
6 no IC \"no\" \"1.0 1.0 1.0\"
";

pub(super) fn write(codelets: &Codelets, out: &mut impl Write) -> io::Result<()> {
    for (number, name, fields) in EVENTS {
        writeln!(out, "%EventDef {name} {number}")?;
        fields.split(", ").try_for_each(|field| writeln!(out, "% {}", field.trim()))?;
        writeln!(out, "%EndEventDef")?;
    }
    out.write_all(TYPES.as_bytes())?;
    for cause in Cause::ALL {
        writeln!(out, "6 {0} IC \"{0}\" \"{1}\"", cause.name(), parts(idle_color(cause)))?;
    }
    for (index, codelet) in codelets.names.iter().enumerate() {
        writeln!(out, "6 c{index} WS {} \"{}\"", quoted(&codelet.name), parts(codelet.color))?;
    }
    Ok(())
}

/// Red, green and blue from 0 to 1, of a colour such as `#0072b2`.
fn parts(color: &str) -> String {
    let part =
        |at: usize| u8::from_str_radix(&color[at..at + 2], 16).map_or(0.0, |part| f64::from(part) / 255.0);
    format!("{:.3} {:.3} {:.3}", part(1), part(3), part(5))
}
