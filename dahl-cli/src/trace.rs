//! `dahl trace`: the content of a trace file, and its conversion to the formats of other programs.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dahl_trace::Trace;
use serde::Serialize;

use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  DAHL_TRACE=run.json cargo run --release    run a program that writes a trace
  dahl trace summary run.json                where its time went
  dahl trace html run.json                   the same as a page to look at: run.html
  dahl trace dot run.json -o - | dot -Tsvg > graph.svg";

/// The arguments of `dahl trace`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    form: Form,
}

#[derive(clap::Subcommand)]
enum Form {
    /// Says where the time of a run went: by worker, codelet, cause of idleness, and on the critical path.
    #[command(after_help = "Examples:\n  dahl trace summary run.json\n  dahl trace summary run.json --json")]
    Summary {
        /// The trace, as DAHL_TRACE wrote it.
        file: PathBuf,
    },
    /// Writes a page with a Gantt chart and tables, which needs nothing else: run.html.
    #[command(
        after_help = "Examples:\n  dahl trace html run.json\n  dahl trace html run.json -o report.html"
    )]
    Html(Paths),
    /// Writes a whole and ordered file for Perfetto and chrome://tracing, even of a trace that is cut: run.chrome.json.
    #[command(
        after_help = "Examples:\n  dahl trace chrome run.json\n  dahl trace chrome run.json -o whole.json"
    )]
    Chrome(Paths),
    /// Writes a trace for ViTE and StarVZ: run.paje.
    #[command(
        after_help = "Examples:\n  dahl trace paje run.json\n  dahl trace paje run.json -o - | pj_dump"
    )]
    Paje(Paths),
    /// Writes the task graph for Graphviz: run.dot.
    #[command(
        after_help = "Examples:\n  dahl trace dot run.json\n  dahl trace dot run.json -o - | dot -Tsvg > graph.svg"
    )]
    Dot(Paths),
    /// Joins the traces of all ranks of a run: one clock, and messages from rank to rank. The other commands read it.
    #[command(after_help = "Examples:\n  dahl trace join rank-0.json rank-1.json -o ranks.json")]
    Join {
        /// The traces of the ranks, in any order.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The file to write; `-` is the standard output.
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
    },
}

/// The input and the output.
#[derive(clap::Args)]
struct Paths {
    /// The trace, as DAHL_TRACE wrote it.
    file: PathBuf,
    /// The file to write; `-` is the standard output. [default: beside FILE, as above]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// A file that was written.
#[derive(Serialize)]
struct Written {
    file: PathBuf,
    bytes: u64,
    tasks: usize,
    /// The line at which the trace ends before the run does.
    cut_at_line: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    match &arguments.form {
        Form::Summary { file } => output.show(&read(file)?.summary()),
        Form::Html(paths) => paths.write("html", output, |trace, out| trace.write_html(out)),
        Form::Chrome(paths) => paths.write("chrome.json", output, |trace, out| trace.write_chrome(out)),
        Form::Paje(paths) => paths.write("paje", output, |trace, out| trace.write_paje(out)),
        Form::Dot(paths) => paths.write("dot", output, |trace, out| trace.write_dot(out)),
        Form::Join { files, output: out } => {
            let traces = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
            let joined = Trace::join(traces).map_err(|error| Trouble::Input(error.to_string()))?;
            write_trace(&joined, files, out, output, |trace, out| trace.write_chrome(out))
        }
    }
}

/// Reads the trace in a file.
pub(crate) fn read(file: &Path) -> Result<Trace, Trouble> {
    let trace = Trace::read(file).map_err(|error| Trouble::Input(error.to_string()))?;
    if let Some(cut) = trace.cut() {
        anstream::eprintln!(
            "dahl: warning: {}:{}: the trace ends here, before its run did; what comes before is used",
            file.display(),
            cut.line
        );
    }
    Ok(trace)
}

impl Paths {
    fn write(
        &self,
        extension: &str,
        output: &Output,
        write: impl Fn(&Trace, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Trouble> {
        let out = self.output.clone().unwrap_or_else(|| self.file.with_extension(extension));
        let trace = read(&self.file)?;
        write_trace(&trace, std::slice::from_ref(&self.file), &out, output, write)
    }
}

/// Writes what is made of the trace of these files.
fn write_trace(
    trace: &Trace,
    files: &[PathBuf],
    out: &Path,
    output: &Output,
    write: impl Fn(&Trace, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Trouble> {
    if out.as_os_str() == "-" {
        if output.is_json() {
            let wrong = "`--output -` and `--json` both want the standard output: give one of them";
            return Err(Trouble::Input(wrong.to_owned()));
        }
        let mut out = BufWriter::new(io::stdout().lock());
        write(trace, &mut out)?;
        return Ok(out.flush()?);
    }
    let same = |path: &Path| path.canonicalize().ok();
    if same(out).is_some_and(|out| files.iter().any(|file| Some(&out) == same(file).as_ref())) {
        let wrong = "is the trace itself, which would be lost: give another `--output`";
        return Err(Trouble::Input(format!("{} {wrong}", out.display())));
    }
    let bytes = to_file(out, |out| write(trace, out)).map_err(|error| Trouble::unwritable(out, error))?;
    let cut_at_line = trace.cut().map(|cut| cut.line);
    output.show(&Written { file: out.to_owned(), bytes, tasks: trace.tasks().len(), cut_at_line })
}

/// Writes a file, and returns its size in bytes.
fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let bytes = dahl_files::save_with(path, |out| {
        let mut counted = Counted { out, bytes: 0 };
        write(&mut counted)?;
        Ok(counted.bytes)
    })?;
    Ok(bytes)
}

/// Counts the written bytes.
struct Counted<'o> {
    out: &'o mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.out.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, bytes, tasks, .. } = self;
        let bytes = crate::units::bytes(*bytes as f64);
        writeln!(f, "{}: {bytes}, {tasks} task{}", file.display(), if *tasks == 1 { "" } else { "s" })
    }
}
