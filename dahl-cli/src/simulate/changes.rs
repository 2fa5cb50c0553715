//! [`changed`]: a machine file in which single figures are others.

use dahl::Machine;
use toml::Value;

/// The machine with these figures: each is `PATH=VALUE`, with the names of a machine file. A device is found by its name or number.
///
/// A rate or a duration replaces what was measured: the measured durations of the codelet, or of all codelets below the path, are
/// dropped, which would otherwise come first.
///
/// # Errors
/// If a change cannot be parsed, if its path leads nowhere, or if the machine is impossible with it.
pub(super) fn changed(machine: &Machine, changes: &[String]) -> Result<Machine, String> {
    if changes.is_empty() {
        return Ok(machine.clone());
    }
    let mut whole = Value::try_from(machine).map_err(|error| error.to_string())?;
    for change in changes {
        let wrong = |fact: String| format!("`{change}`: {fact}");
        let (path, value) = change.split_once('=').ok_or_else(|| wrong("expected PATH=VALUE".to_owned()))?;
        let value = parsed(value.trim()).map_err(wrong)?;
        set(&mut whole, path.trim(), value).map_err(wrong)?;
    }
    let text = toml::to_string(&whole).map_err(|error| error.to_string())?;
    Machine::from_toml(&text).map_err(|error| error.to_string())
}

/// A value as TOML has it; an integer counts as a number with a point, as all figures do.
fn parsed(text: &str) -> Result<Value, String> {
    let table: toml::Table =
        toml::from_str(&format!("value = {text}")).map_err(|error| error.message().to_owned())?;
    Ok(table["value"].clone())
}

fn set(value: &mut Value, path: &str, new: Value) -> Result<(), String> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let next = match value {
        Value::Table(table) if rest.is_none() => {
            if REPLACING.contains(&name) {
                drop_measured(table);
            }
            table.insert(name.to_owned(), new);
            return Ok(());
        }
        Value::Table(table) => table.entry(name).or_insert_with(|| Value::Table(toml::Table::new())),
        Value::Array(values) => {
            let names: Vec<String> = values.iter().map(|value| named(value).to_owned()).collect();
            let place = name.parse().ok().or_else(|| names.iter().position(|one| one == name));
            let found = place.and_then(|place: usize| values.get_mut(place));
            found.ok_or_else(|| format!("there is no `{name}`: expected one of {}", names.join(", ")))?
        }
        _ => return Err(format!("`{name}` is in a figure: expected a path to one")),
    };
    match rest {
        Some(rest) => set(next, rest, new),
        None => {
            *next = new;
            Ok(())
        }
    }
}

/// The figures by which a duration is computed, and which say nothing beside measured durations.
const REPLACING: [&str; 3] = ["us", "gflops", "gbytes_per_s"];

/// Drops the measured durations of a codelet, or of all codelets of a speed.
fn drop_measured(table: &mut toml::Table) {
    table.remove("measured");
    let codelets = table.get_mut("codelets").and_then(Value::as_table_mut);
    for codelet in codelets.into_iter().flat_map(|codelets| codelets.iter_mut().map(|(_, codelet)| codelet)) {
        if let Some(codelet) = codelet.as_table_mut() {
            codelet.remove("measured");
        }
    }
}

fn named(value: &Value) -> &str {
    value.get("name").and_then(Value::as_str).unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use dahl::{CodeletSpeed, Machine, MeasuredTask, VirtualDevice};

    use super::changed;

    #[test]
    fn a_figure_replaces_what_was_measured() {
        let us_of = |changes: &[&str]| {
            let measured =
                vec![MeasuredTask { footprint: vec![vec![8]], flops: Some(1e6), bytes: 32.0, us: 9.0 }];
            let mut machine = Machine::default();
            for name in ["matmul", "relu"] {
                let speed = CodeletSpeed { measured: measured.clone(), ..CodeletSpeed::default() };
                machine.cpu.speed.codelets.insert(name.to_owned(), speed);
            }
            machine.cpu.speed.overhead_us = 0.0;
            let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
            let speed = changed(&machine, &changes).expect("it is possible").cpu.speed;
            ["matmul", "relu"]
                .map(|name| speed.us(name, &[vec![8]], Some(1e6), 32.0).expect("it has a kernel"))
        };
        assert_eq!(us_of(&["cpu.watts=3", "cpu.idle_watts=1"]), [9.0, 9.0]);
        assert_eq!(us_of(&["cpu.speed.codelets.matmul.us=7"]), [7.0, 9.0]);
        assert_eq!(us_of(&["cpu.speed.codelets.matmul.gflops=100"]), [10.0, 9.0]);
        assert_eq!(us_of(&["cpu.speed.codelets.relu.gbytes_per_s=0.001"]), [9.0, 32.0]);
        assert_eq!(us_of(&["cpu.speed.gflops=200"]), [5.0, 5.0]);
    }

    #[test]
    fn single_figures_are_others() {
        let machine = Machine { devices: vec![VirtualDevice::new("gpu")], ..Machine::default() };
        let set = |changes: &[&str]| {
            changed(&machine, &changes.iter().map(|&change| change.to_owned()).collect::<Vec<_>>())
        };
        let other = set(&["device.gpu.link_gbytes_per_s = 6", "cpu.speed.gflops=100.5", "device.0.watts=3"])
            .expect("it is possible");
        let device = &other.devices[0];
        assert_eq!((device.link_gbytes_per_s, device.watts, other.cpu.speed.gflops), (6.0, Some(3.0), 100.5));
        let tasks = set(&["cpu.speed.codelets.matmul.us=7"]).expect("it is possible");
        assert_eq!(tasks.cpu.speed.codelets["matmul"].us, Some(7.0));
        for (change, fact) in [
            ("device.npu.watts=3", "there is no `npu`: expected one of gpu"),
            ("cpu.speed.gflop=3", "unknown field `gflop`"),
            ("cpu.speed.gflops=-3", "gflops = -3: a rate is above 0"),
            ("cpu.speed.gflops.more=3", "`more` is in a figure"),
            ("cpu", "expected PATH=VALUE"),
            ("cpu.watts=much", "`cpu.watts=much`"),
        ] {
            let error = set(&[change]).expect_err(change);
            assert!(error.contains(fact), "{change}: {error}");
        }
    }
}
