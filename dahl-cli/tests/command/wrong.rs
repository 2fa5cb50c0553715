//! Invalid input: the exit code is 2, nothing is printed, and the error names the mistake, its place, and the choices.

use std::fs;

use crate::command::folder::{Folder, text};

/// Requires that `dahl` refuses these words, with all of `facts` in its message.
fn refuses(folder: &Folder, words: &str, facts: &[&str]) {
    let output = folder.dahl(words);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "dahl {words}: {out}{err}");
    assert_eq!(out, "", "dahl {words}");
    for fact in facts {
        assert!(err.contains(fact), "dahl {words}: `{fact}` is not in: {err}");
    }
}

#[test]
fn no_and_unknown_commands() {
    let folder = Folder::new();
    refuses(&folder, "machin", &["unrecognized subcommand 'machin'", "'machine'"]);
    refuses(&folder, "perf", &["Usage: dahl perf", "explain"]);
    refuses(&folder, "completions tcsh", &["'tcsh'", "bash", "elvish", "fish", "powershell", "zsh"]);
}

#[test]
fn models_of_machines() {
    let folder = Folder::new();
    refuses(&folder, "machine --model nothing.toml", &["nothing.toml", "No such file"]);
    folder.write("bad.toml", "[cpu]\nspeed = { gflops = 3, gbytes = 1 }\n");
    let choices = ["gbytes_per_s", "overhead_us", "codelets"];
    refuses(&folder, "machine --model bad.toml", &["bad.toml", "line 2, column 23", "`gbytes`"]);
    refuses(&folder, "machine --model bad.toml", &choices);
    folder.write("bad.toml", "[[device]]\nname = \"gpu\"\nlink_gbytes_per_s = 0\n");
    refuses(&folder, "machine --model bad.toml", &["bad.toml", "device `gpu`", "link_gbytes_per_s = 0"]);
}

#[test]
fn settings_in_the_environment() {
    let folder = Folder::new();
    let output = folder.command("dahl").arg("machine").env("DAHL_SCHED", "best").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let err = text(&output.stderr);
    assert!(err.contains("DAHL_SCHED = `best`: expected one of ws, eager"), "{err}");
}

#[test]
fn folders_without_models() {
    let folder = Folder::new();
    for words in ["perf ls", "perf show matmul", "perf plot matmul", "perf explain matmul"] {
        refuses(&folder, words, &["--dir FOLDER", "DAHL_PERF_DIR"]);
        let named = ["nothing: expected a folder", "No such file", "`--dir FOLDER` or DAHL_PERF_DIR"];
        refuses(&folder, &format!("{words} --dir nothing"), &named);
        refuses(
            &folder,
            &format!("{words} --dir models/host"),
            &["models/host", "HOST/real-NUMBER/machine.toml"],
        );
    }
}

/// An empty variable is treated as one that is not set, as a runtime does.
#[test]
fn an_empty_variable_names_no_folder() {
    let folder = Folder::new();
    let mut command = folder.command("dahl");
    let output = command.args(["perf", "ls"]).env("DAHL_PERF_DIR", "").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let err = text(&output.stderr);
    assert!(err.contains("give `--dir FOLDER`, or set DAHL_PERF_DIR"), "{err}");
}

#[test]
fn codelets_and_machines_that_are_not_there() {
    let folder = Folder::new();
    let all = "it has: dahl::ops::dot::dot, dahl::ops::matmul::matmul, dahl::ops::softmax::softmax";
    for command in ["show", "plot", "explain"] {
        let words = format!("perf --dir models {command} matmull");
        refuses(&folder, &words, &["`matmull` in models", "did you mean `dahl::ops::matmul::matmul`?", all]);
    }
    refuses(&folder, "perf --dir models show Dot", &["did you mean `dahl::ops::dot::dot`?"]);
    let machines = ["no machine `virtual`", "host/real-", "host/simulated-"];
    refuses(&folder, "perf --dir models --machine virtual ls", &machines);
}

#[test]
fn a_file_of_models_that_cannot_be_used_is_named_and_left_out() {
    let folder = Folder::new();
    let host = fs::read_dir(folder.path("models/host")).expect("the fixture has a host");
    let machines = host.map(|machine| machine.expect("it can be read").path());
    let real = machines.into_iter().find(|path| path.to_string_lossy().contains("real-"));
    let file = real.expect("one is real").join("dahl.ops.dot.dot.toml");
    let spoilt = fs::read_to_string(&file).expect("it is there").replacen("count = ", "count = x", 1);
    fs::write(&file, &spoilt).expect("it can be written");
    let output = folder.dahl("perf --dir models ls");
    let err = text(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(err.contains("dahl.ops.dot.dot.toml: TOML parse error at line"), "{err}");
    assert!(text(&output.stdout).contains("matmul"));
    assert_eq!(fs::read_to_string(&file).expect("it is still there"), spoilt);
}

#[test]
fn traces() {
    let folder = Folder::new();
    let whole = fs::read_to_string(folder.path("run.json")).expect("the fixture has it");
    folder.write("empty.json", "");
    folder.write("other.json", "[\n{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"other\",\"args\":{}}\n]\n");
    let damaged: Vec<_> =
        whole.lines().enumerate().map(|(i, line)| if i == 4 { "{]," } else { line }).collect();
    folder.write("damaged.json", &damaged.join("\n"));
    for form in ["summary", "html", "chrome", "paje", "dot"] {
        refuses(&folder, &format!("trace {form} nothing.json"), &["nothing.json", "No such file"]);
        refuses(&folder, &format!("trace {form} empty.json"), &["empty.json"]);
        refuses(&folder, &format!("trace {form} other.json"), &["other.json:2", "dahl"]);
        refuses(&folder, &format!("trace {form} damaged.json"), &["damaged.json:5"]);
    }
    refuses(&folder, "trace join run.json -o ranks.json", &["not that of one of several ranks"]);
    refuses(&folder, "trace join rank-0.json -o ranks.json", &["ranks [1] of 2 are missing"]);
    refuses(
        &folder,
        "trace join rank-0.json rank-1.json -o rank-1.json",
        &["rank-1.json is the trace itself"],
    );
    refuses(&folder, "perf explain matmul --trace damaged.json", &["damaged.json:5"]);
    refuses(
        &folder,
        "perf explain dot --trace run.json",
        &["`dot` in run.json", "dahl::ops::matmul::matmul_add"],
    );
    refuses(&folder, "trace chrome run.json -o run.json", &["run.json is the trace itself"]);
    assert_eq!(fs::read_to_string(folder.path("run.json")).expect("it is still there"), whole);
    refuses(&folder, "--json trace dot run.json -o -", &["`--output -`", "`--json`"]);
}

#[test]
fn what_cannot_be_written_has_failed() {
    let folder = Folder::new();
    for words in [
        "trace chrome run.json -o no/such.json",
        "perf --dir models plot dot -o no/such.svg",
        "plan memory buffers.csv -o no/such.csv",
    ] {
        let output = folder.dahl(words);
        assert_eq!(output.status.code(), Some(1), "{words}");
        let err = text(&output.stderr);
        assert!(err.contains("no/such.") && err.contains("cannot be written"), "{words}: {err}");
    }
}

#[test]
fn benchmarks() {
    let folder = Folder::new();
    refuses(&folder, "bench overhead --graph tree", &["'tree'", "independent, chain, random"]);
    refuses(&folder, "bench overhead --scheduler best", &["scheduler = `best`", "ws, eager"]);
    refuses(&folder, "bench overhead --workers 0", &["'0'", "1..=1024"]);
    refuses(&folder, "bench overhead --workers 1,two", &["'two'"]);
    refuses(&folder, "bench overhead --tasks 0", &["'0'"]);
    let mut simulated = folder.command("dahl");
    let output = simulated.args(["bench", "overhead"]).env("DAHL_MACHINE", "machine.toml").output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("DAHL_MACHINE = `machine.toml`"));
}

#[test]
fn tables_of_trainings() {
    let folder = Folder::new();
    refuses(&folder, "plot nothing.csv", &["nothing.csv", "No such file"]);
    folder.write("bad.csv", "epoch,loss\n1,high\n");
    refuses(&folder, "plot bad.csv", &["bad.csv", "byte 11", "column `loss` of line 2", "`high`"]);
    refuses(&folder, "plot training.csv -o training.csv", &["training.csv is the table itself"]);
    refuses(&folder, "plot training.csv -o - --json", &["`--output -`", "`--json`"]);
}

#[test]
fn tables_of_buffers() {
    let folder = Folder::new();
    refuses(&folder, "plan memory nothing.csv", &["nothing.csv", "No such file"]);
    let cases = [
        ("", "bad.csv:1: no column `id`: expected the columns id, lower, upper, size"),
        ("id,lower,upper\n", "bad.csv:1: no column `size`: expected"),
        ("id,lower,upper,size,gaps\n", "bad.csv:1: unknown column `gaps`: expected"),
        ("id,lower,upper,size,id\n", "bad.csv:1: column `id` is there twice: expected"),
        (
            "id,lower,upper,size\na,0,1\n",
            "bad.csv:2: expected 4 cells, as in the first line, and there are 3",
        ),
        (
            "id,lower,upper,size\n\na,0,1,4\nb,0,x,4\n",
            "bad.csv:4: column `upper` is `x`: expected a whole number",
        ),
        (
            "size,id,lower,upper\n-4,a,0,1\n",
            "bad.csv:2: column `size` is `-4`: expected a whole number of bytes",
        ),
        ("id,lower,upper,size\na,2,2,4\n", "bad.csv:2: expected lower < upper, and they are 2 and 2"),
        ("id,lower,upper,size\na,0,1,4\na,1,2,4\n", "bad.csv:3: id `a` is that of line 2 too"),
        ("id,lower,upper,size\na,0,1,9223372036854775808\n", "bad.csv: the buffers are too large"),
    ];
    for (content, fact) in cases {
        folder.write("bad.csv", content);
        refuses(&folder, "plan memory bad.csv", &[fact]);
    }
    fs::write(folder.path("bad.csv"), b"id,lower,upper,size\n\xff,0,1,4\n").expect("it can be written");
    refuses(&folder, "plan memory bad.csv", &["bad.csv:2: expected text in UTF-8"]);
    refuses(&folder, "plan memory buffers.csv --out buffers.csv", &["buffers.csv is the table itself"]);
    refuses(&folder, "plan memory buffers.csv --out - --json", &["`--out -`", "`--json`"]);
    refuses(&folder, "plan memory buffers.csv --capacity 1KiB", &["'1KiB'", "--capacity"]);
    refuses(&folder, "plan memory buffers.csv --alignment 0", &["'0'", "--alignment"]);
    refuses(&folder, "plan memory buffers.csv --seconds -1", &["-1"]);
    refuses(&folder, "plan schedule tasks.toml --objective best", &["best", "front"]);
    refuses(&folder, "plan schedule work.json", &["work.json: has no `machine`", "--machine"]);
    refuses(&folder, "plan schedule tasks.toml --out tasks.toml", &["tasks.toml is the problem itself"]);
    let costs = "[[tasks]]\nname = \"a\"\nus = { tpu = 1 }\n[machine]\nnodes = [{ name = \"main\" }]\n";
    folder.write("tpu.toml", &format!("{costs}workers = [{{ kind = \"cpu\", node = \"main\" }}]\n"));
    refuses(&folder, "plan schedule tpu.toml", &["task \"a\" has a cost on \"tpu\"", "cpu"]);
    let pipeline = "plan pipeline --profile profile.txt --machines 4";
    refuses(&folder, &format!("{pipeline} --bandwidth 1 2"), &["`--machines` has 1", "`--bandwidth` has 2"]);
    refuses(
        &folder,
        &format!("{pipeline} --bandwidth 0"),
        &["profile.txt", "level 1 has 4 machines and 0 bytes/s"],
    );
    refuses(
        &folder,
        "plan pipeline --profile buffers.csv --machines 4 --bandwidth 1",
        &["line 1", "activation_size"],
    );
}

#[test]
fn buffers_that_do_not_fit_and_those_of_which_it_is_not_known() {
    let folder = Folder::new();
    let cases = [
        ("--capacity 6", "the buffers do not fit into 6 bytes: they need at least 7"),
        ("--capacity 7", "the buffers do not fit into 7 bytes: they need at least 8"),
        ("--capacity 7 --steps 0", "the search has not found out whether the buffers fit into 7 bytes"),
    ];
    for (words, fact) in cases {
        let output = folder.dahl(&format!("plan memory buffers.csv {words}"));
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!((output.status.code(), &*out), (Some(1), ""), "{words}: {err}");
        assert!(err.contains("buffers.csv: ") && err.contains(fact), "{words}: {err}");
    }
}

#[test]
fn programs() {
    let folder = Folder::new();
    let whole = fs::read_to_string(folder.path("step.program")).expect("the fixture has it");
    for command in ["show", "memory", "diff step.program"] {
        let words = |file: &str| format!("program {command} {file}");
        refuses(&folder, &words("nothing.program"), &["nothing.program: ", "No such file"]);
        refuses(&folder, &words("run.json"), &["run.json:1: expected a program that dahl has saved"]);
        folder.write("cut.program", &whole[..whole.len() / 2]);
        refuses(&folder, &words("cut.program"), &["cut.program:", "EOF"]);
        folder.write("changed.program", &whole.replacen("relu", "selu", 1));
        refuses(&folder, &words("changed.program"), &["changed.program:1: the file is not as it was saved"]);
    }
    refuses(&folder, "program show step.program --dot step.program", &["the program itself"]);
    refuses(&folder, "--json program show step.program --dot -", &["give one of them"]);
}
