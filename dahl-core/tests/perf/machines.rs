//! Models of one machine are not used on another.

use std::fs;
use std::path::{Path, PathBuf};

use dahl_core::device::Speed;
use dahl_core::{Result, Runtime, VirtualDevice};

use crate::perf::program::{DOUBLE, count, duration_ns, files, rows, run, simulated};

/// The folders of machines.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let machines = files(folder).into_iter().filter(|path| path.ends_with("machine.toml"));
    machines.map(|path| path.parent().expect("a file lies in a folder").to_owned()).collect()
}

#[test]
fn virtual_and_real_times_stay_apart() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let real = || Runtime::builder().cpu_workers(1).performance_dir(folder.path()).build();
    let rt = real()?;
    run(&rt, &DOUBLE, 100, 3, Some(0))?;
    drop(rt);
    let rt = simulated().performance_dir(folder.path()).build()?;
    assert_eq!((count(&rt), rt.performance_warnings()), (0, vec![]));
    run(&rt, &DOUBLE, 100, 4, Some(0))?;
    assert_eq!(rows(&rt, "double")[0].max_us, duration_ns(100)[0] as f64 / 1e3);
    drop(rt);
    assert_eq!(count(&real()?), 3);
    assert_eq!(count(&simulated().performance_dir(folder.path()).build()?), 4);
    let names: Vec<_> = folders(folder.path())
        .iter()
        .map(|path| path.file_name().expect("a folder has a name").to_string_lossy()[..4].to_owned())
        .collect();
    assert_eq!(names, ["real", "simu"]);
    Ok(())
}

#[test]
fn another_model_is_another_machine() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = |times: f64| {
        let device = VirtualDevice::new("gpu").speed(Speed::default().times(times));
        Runtime::builder().cpu_workers(1).virtual_device(device).performance_dir(folder.path()).build()
    };
    let rt = machine(5.0)?;
    run(&rt, &DOUBLE, 100, 3, Some(1))?;
    drop(rt);
    let rt = machine(6.0)?;
    assert_eq!(count(&rt), 0);
    let warnings = rt.performance_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("it is of another machine, where"), "{warnings:?}");
    drop(rt);
    let rt = machine(6.0)?;
    assert_eq!(rt.performance_warnings(), Vec::<String>::new(), "it is said once");
    drop(rt);
    assert_eq!(count(&machine(5.0)?), 3);
    Ok(())
}

#[test]
fn faults_do_not_make_another_machine() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = |device: VirtualDevice| {
        Runtime::builder().cpu_workers(1).virtual_device(device).performance_dir(folder.path()).build()
    };
    let rt = machine(VirtualDevice::new("gpu"))?;
    run(&rt, &DOUBLE, 100, 3, Some(0))?;
    drop(rt);
    assert_eq!(count(&machine(VirtualDevice::new("gpu").fails_at(7))?), 3);
    Ok(())
}

#[test]
fn a_folder_of_another_machine_is_set_aside() -> Result<()> {
    let text = "version = 1\nhost = \"elsewhere\"\n[real]\ncpu = \"Z80\"\ncores = 1\nsimd = \"none\"\nbuild = \"release\"\n";
    for (changed, fact) in
        [(text, "host = \"elsewhere\""), ("torn =", "TOML parse error"), ("", "missing field")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let rt = simulated().performance_dir(folder.path()).build()?;
        run(&rt, &DOUBLE, 100, 3, Some(0))?;
        drop(rt);
        let machine = folders(folder.path()).remove(0);
        fs::write(machine.join("machine.toml"), changed).expect("it can be written");
        let rt = simulated().performance_dir(folder.path()).build()?;
        assert_eq!(count(&rt), 0);
        let warnings = rt.performance_warnings();
        assert!(warnings.len() == 1 && warnings[0].contains(fact), "{warnings:?}");
        let aside = format!("{}.outdated", machine.display());
        assert!(warnings[0].contains(&aside) && Path::new(&aside).join("programs.double.toml").exists());
    }
    Ok(())
}

#[test]
fn a_folder_that_somebody_only_began_is_used() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    drop(simulated().performance_dir(folder.path()).build()?);
    let machine = folders(folder.path()).remove(0);
    fs::remove_file(machine.join("machine.toml")).expect("it is there");
    let rt = simulated().performance_dir(folder.path()).build()?;
    assert_eq!(rt.performance_warnings(), Vec::<String>::new());
    assert_eq!(folders(folder.path()), [machine]);
    Ok(())
}
