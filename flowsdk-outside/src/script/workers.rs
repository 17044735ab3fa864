//! The worker processes: a few of them, replaced when they are killed.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::flow::{OutsideFailure, ScriptFault, ScriptRequest, ScriptRunner};
use rustix::process::{Pid, getpriority_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;

use super::{Answer, Question, Run};

/// How long a worker may take for one script before it is killed; QuickJS ends ordinary ones long before.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a script may wait for a worker.
const QUEUE_PATIENCE: Duration = Duration::from_secs(5);
/// How long a worker may take to parse all scripts of a flow.
const CHECK_PATIENCE: Duration = Duration::from_secs(3);
/// How long a check may wait for its worker. Those who check flows take turns before they come here.
const CHECK_QUEUE_PATIENCE: Duration = Duration::from_secs(30);
/// Scripts after which a worker is replaced.
const SCRIPTS: u32 = 1_000;
/// Most bytes of an answer.
const ANSWER: u64 = 1024 * 1024;

/// How a worker is started: a program whose `main` is [`serve`](super::serve).
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<String>,
}

/// Runs scripts in worker processes, as many at once as there are workers. One more process checks scripts, so that no
/// script of a conversation waits for a check.
pub struct ScriptWorkers {
    command: WorkerCommand,
    workers: usize,
    places: Semaphore,
    checks: Semaphore,
    /// The one that is idle longest comes first: the newest may still be starting.
    idle: Mutex<VecDeque<Worker>>,
}

impl fmt::Debug for ScriptWorkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptWorkers").field("command", &self.command).finish_non_exhaustive()
    }
}

/// What came of a question.
enum Asked {
    Answered(Answer),
    Died,
    TookTooLong,
}

/// A running worker; killed when dropped.
struct Worker {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    served: u32,
    child: Child,
}

impl ScriptWorkers {
    /// At most `workers` processes, each started when it is needed.
    pub fn new(command: WorkerCommand, workers: usize) -> Self {
        let workers = workers.max(1);
        let (places, checks) = (Semaphore::new(workers), Semaphore::new(1));
        Self { command, workers, places, checks, idle: Mutex::default() }
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Result<Worker, OutsideFailure> {
        let idle = self.idle().pop_front();
        idle.map_or_else(|| self.start(), Ok)
    }

    /// Makes room for the next script: with this worker, or with a new one that starts while nobody waits for it.
    fn put_back(&self, worker: Option<Worker>) {
        match worker.filter(Worker::is_fresh).map_or_else(|| self.start(), Ok) {
            Ok(worker) => self.idle().push_back(worker),
            // The next script tries again, and is told.
            Err(error) => tracing::warn!(?error, "no script worker could be started"),
        }
    }

    /// Asks a worker, which is killed if it takes longer than `patience`. Then, and if it died, there is no answer.
    async fn ask(&self, question: &Question, patience: Duration) -> Result<Asked, OutsideFailure> {
        let question = serde_json::to_string(question)
            .map_err(|error| OutsideFailure::new("script_error", error.to_string()))?;
        let mut worker = self.take()?;
        let asked = match tokio::time::timeout(patience, worker.ask(&question)).await {
            Ok(Ok(answer)) => {
                self.put_back(Some(worker));
                return Ok(Asked::Answered(answer));
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "a script worker died");
                Asked::Died
            }
            Err(_) => Asked::TookTooLong,
        };
        metrics::counter!("flowsdk_script_workers_killed").increment(1);
        // Dropping the worker kills it.
        drop(worker);
        self.put_back(None);
        Ok(asked)
    }

    fn start(&self) -> Result<Worker, OutsideFailure> {
        let unavailable = |why: &str| OutsideFailure::new("script_error", format!("no worker: {why}"));
        let mut child = Command::new(&self.command.program)
            .args(&self.command.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| unavailable(&error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(unavailable("no pipes"));
        };
        Ok(Worker { input, output: BufReader::new(output), served: 0, child })
    }
}

impl Worker {
    async fn ask(&mut self, question: &str) -> std::io::Result<Answer> {
        self.input.write_all(question.as_bytes()).await?;
        self.input.write_all(b"\n").await?;
        self.input.flush().await?;
        let mut line = String::new();
        (&mut self.output).take(ANSWER).read_line(&mut line).await?;
        self.served += 1;
        Ok(serde_json::from_str(&line)?)
    }

    /// Returns whether it can serve the next script as well as a new worker. One that has given way for a long script
    /// cannot take its priority back.
    fn is_fresh(&self) -> bool {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let gave_way = match (pid.map(|pid| getpriority_process(Some(pid))), getpriority_process(None)) {
            (Some(Ok(its)), Ok(ours)) => its > ours,
            _ => true,
        };
        self.served < SCRIPTS && !gave_way
    }
}

#[async_trait]
impl ScriptRunner for ScriptWorkers {
    async fn run(&self, request: &ScriptRequest) -> Result<Value, OutsideFailure> {
        let timeout = || OutsideFailure::new("script_timeout", "the script took too long");
        let question = Question::Run(Run {
            script: request.script.clone(),
            scope: request.scope.clone(),
            seed: request.seed,
        });
        let place = tokio::time::timeout(QUEUE_PATIENCE, self.places.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(OutsideFailure::new("script_timeout", "no worker was free in time"));
        };
        match self.ask(&question, PATIENCE).await? {
            Asked::Answered(Answer::Value(value)) => Ok(value),
            Asked::Answered(Answer::Timeout) | Asked::TookTooLong => Err(timeout()),
            Asked::Answered(Answer::TooLarge(message)) => {
                Err(OutsideFailure::new("script_too_large", message))
            }
            Asked::Answered(Answer::Error(message)) => Err(OutsideFailure::new("script_error", message)),
            Asked::Answered(Answer::Faults(_)) => {
                Err(OutsideFailure::new("script_error", "an answer to another question"))
            }
            Asked::Died => Err(OutsideFailure::new("script_error", "the script killed its worker")),
        }
    }

    async fn check(&self, scripts: &[&str]) -> Result<Vec<ScriptFault>, OutsideFailure> {
        let question = Question::Check(scripts.iter().map(|&script| script.to_owned()).collect());
        let place = tokio::time::timeout(CHECK_QUEUE_PATIENCE, self.checks.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(OutsideFailure::new("not_available", "no worker was free in time"));
        };
        // Which of the scripts it was is not known; the first one stands for all.
        let all = |message: &str| vec![ScriptFault { script: 0, at: None, message: message.to_owned() }];
        Ok(match self.ask(&question, CHECK_PATIENCE).await? {
            Asked::Answered(Answer::Faults(faults)) => faults,
            Asked::Answered(Answer::TooLarge(message) | Answer::Error(message)) => all(&message),
            Asked::Answered(Answer::Value(_) | Answer::Timeout) | Asked::TookTooLong => {
                all("the scripts of the flow take too long to be parsed")
            }
            Asked::Died => all("the scripts of the flow killed the process that parsed them"),
        })
    }

    fn at_once(&self) -> usize {
        self.workers
    }
}
