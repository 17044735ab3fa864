//! The machine: its cores, and the kernel's counters of a process.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// One core for the server and one for the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cores {
    pub(crate) server: usize,
    pub(crate) load: usize,
}

impl Cores {
    /// The first two cores this process may use.
    pub(crate) fn choose() -> Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let mut usable = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
        match (usable.next(), usable.next()) {
            (Some(server), Some(load)) => Ok(Self { server, load }),
            _ => bail!("a race needs two cores: one for the server, one for the load"),
        }
    }
}

/// Keeps this thread, and every process that it starts from now on, on one core.
pub(crate) fn pin(core: usize) -> Result<()> {
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).with_context(|| format!("cannot stay on core {core}"))
}

/// Lets this process, and those that it starts from now on, open `count` files.
///
/// # Errors
/// The limit that only an administrator can raise is lower.
pub(crate) fn allow_files(count: u64) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= count) {
        return Ok(());
    }
    if let Some(hard) = limit.maximum.filter(|&hard| hard < count) {
        bail!("{count} open files are needed, and RLIMIT_NOFILE may be raised to {hard} only (`ulimit -Hn`)");
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum: limit.maximum })
        .with_context(|| format!("cannot raise RLIMIT_NOFILE to {count}"))
}

/// Processor time that a process with all its threads has used.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program, in parentheses, may hold blanks.
    let (_, fields) = stat.rsplit_once(')').context("an unknown form of /proc/PID/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks = ticks.sum::<Result<u64, _>>()?;
    Ok(Duration::from_secs(ticks) / u32::try_from(rustix::param::clock_ticks_per_second())?)
}

/// Resident memory of a process, in KiB.
pub(crate) fn resident_kib(pid: u32) -> Result<u64> {
    status_kib(pid, "VmRSS:")
}

/// Resident memory that is of no file, in KiB. The kernel maps more pages of a program's file than the program reads, and
/// more of them if the file was copied.
pub(crate) fn anonymous_kib(pid: u32) -> Result<u64> {
    status_kib(pid, "RssAnon:")
}

fn status_kib(pid: u32, field: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    let value = value.with_context(|| format!("no {field}"))?;
    Ok(value.trim().trim_end_matches("kB").trim().parse()?)
}

/// Cores, processor and kernel, in one line.
pub(crate) fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    // Not those of this process, which stays on one.
    let cores = info.lines().filter(|line| line.starts_with("processor")).count();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, {model}, Linux {}", kernel.trim())
}

/// Size of a file in MiB.
pub(crate) fn mebibytes(file: &Path) -> Result<f64> {
    Ok(fs::metadata(file)?.len() as f64 / f64::from(1 << 20))
}
