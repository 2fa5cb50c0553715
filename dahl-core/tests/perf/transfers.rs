//! The durations of copies between memory nodes.

use dahl_core::{Result, Runtime, VirtualDevice};

use crate::perf::program::file;

#[test]
fn between_the_nodes_of_a_simulated_machine_the_model_says() -> Result<()> {
    let rt = Runtime::builder()
        .cpu_workers(1)
        .virtual_device(VirtualDevice::new("near").link(1.0, 20.0))
        .virtual_device(VirtualDevice::new("far").link(9.0, 5.0))
        .build()?;
    let times: Vec<_> = rt
        .transfer_times()
        .iter()
        .map(|time| (time.from, time.to, time.latency_us, time.gbytes_per_s))
        .collect();
    let expected = [
        (0, 1, 1.0, 20.0),
        (0, 2, 9.0, 5.0),
        (1, 0, 1.0, 20.0),
        (1, 2, 10.0, 4.0),
        (2, 0, 9.0, 5.0),
        (2, 1, 10.0, 4.0),
    ];
    assert_eq!(times, expected);
    Ok(())
}

#[test]
fn of_a_real_machine_they_are_measured_once() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = || Runtime::builder().cpu_workers(1).performance_dir(folder.path()).build();
    let rt = stored()?;
    let measured = rt.transfer_times();
    assert_eq!(measured.len(), 1);
    assert_eq!((measured[0].from, measured[0].to), (0, 0));
    assert!(measured[0].gbytes_per_s > 0.0 && measured[0].latency_us >= 0.0, "{measured:?}");
    drop(rt);
    assert!(file(folder.path(), "transfers.toml").exists());
    assert_eq!(stored()?.transfer_times(), measured);
    Ok(())
}
