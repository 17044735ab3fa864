//! The worker process: one question a line, one answer a line, until the input ends.

use std::io::{self, BufRead as _, Write as _};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::watch::Watch;
use super::{Answer, Question, engine};

/// Most address space of the process.
const ADDRESS_SPACE: u64 = 2 * 1024 * 1024 * 1024;
/// Most open files; it needs the three that it is born with.
const FILES: u64 = 8;
/// Seconds of processor time after which the kernel ends the process in the middle of a script. Its server kills it
/// sooner, unless the server died.
const PROCESSOR: u64 = 3;

/// Serves on standard input and output; a program's whole `main` (see [`WorkerCommand`](super::WorkerCommand)).
///
/// # Errors
/// When standard input or output break.
pub fn serve() -> io::Result<()> {
    for (resource, most) in
        [(Resource::As, ADDRESS_SPACE), (Resource::Nofile, FILES), (Resource::Fsize, 0), (Resource::Core, 0)]
    {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    let watch = Watch::start()?;
    // QuickJS measures its stack from where it is entered; the main thread's is as large as it gets.
    let (input, mut output) = (io::stdin().lock(), io::stdout().lock());
    for line in input.lines() {
        let answer = match serde_json::from_str::<Question>(&line?) {
            Ok(question) => {
                limit_processor()?;
                watch.while_running(|| engine::answer(&question))
            }
            Err(error) => Answer::Error(error.to_string()),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

/// Allows the process [`PROCESSOR`] seconds from now on.
fn limit_processor() -> io::Result<()> {
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0);
    // The kernel compares whole seconds.
    let most = used + 1 + PROCESSOR;
    let maximum = getrlimit(Resource::Cpu).maximum;
    let current = Some(maximum.map_or(most, |maximum| most.min(maximum)));
    Ok(setrlimit(Resource::Cpu, Rlimit { current, maximum })?)
}
