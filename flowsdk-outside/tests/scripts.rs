//! Scripts that work, and scripts that mean harm.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flowsdk_core::flow::{OutsideFailure, ScriptPosition, ScriptRequest, ScriptRunner as _};
use flowsdk_outside::script::{ScriptWorkers, WorkerCommand};
#[cfg(target_os = "linux")]
use rustix::process::{Pid, getpriority_process};
use serde_json::{Value, json};

fn workers(count: usize) -> ScriptWorkers {
    named_workers(count, &[])
}

/// Workers with arguments that they ignore, which tell their processes from those of other tests.
fn named_workers(count: usize, arguments: &[&str]) -> ScriptWorkers {
    let program = env!("CARGO_BIN_EXE_flowsdk-script-worker").into();
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    ScriptWorkers::new(WorkerCommand { program, arguments }, count)
}

fn request(script: &str) -> ScriptRequest {
    let scope = json!({ "variables": { "n": 7, "name": "Ána 👋", "list": [1, 2, 3] },
        "contact": { "name": "Ana", "variables": {} }, "input": "oi", "now": 1_795_085_820_050_i64 });
    ScriptRequest { script: script.to_owned(), scope, seed: 42 }
}

async fn run(workers: &ScriptWorkers, script: &str) -> Result<Value, OutsideFailure> {
    workers.run(&request(script)).await
}

#[tokio::test]
async fn a_script_gives_the_value_of_its_last_expression() {
    let workers = workers(1);
    for (script, expected) in [
        ("1 + 1", json!(2)),
        ("variables.n * 6", json!(42)),
        ("const x = variables.list.map(n => n * 2); x", json!([2, 4, 6])),
        ("({ total: variables.n, name: variables.name })", json!({ "total": 7, "name": "Ána 👋" })),
        ("(variables, { input, contact }) => `${input} ${contact.name} ${variables.n}`", json!("oi Ana 7")),
        ("function total(v) { return v.n + 1 } total", json!(8)),
        ("input.toUpperCase()", json!("OI")),
        ("undefined", json!(null)),
        ("", json!(null)),
        ("NaN", json!(null)),
        ("Promise.resolve(1)", json!({})),
        ("async () => 1", json!({})),
        ("typeof now", json!("number")),
        ("/(\\d+)/.exec('a12')[1]", json!("12")),
        ("new Date().toISOString()", json!("2026-11-19T10:57:00.050Z")),
        ("Date.now() === now && new Date(0).getTime() === 0 && typeof Date() === 'string'", json!(true)),
        ("new Date() instanceof Date", json!(true)),
    ] {
        assert_eq!(run(&workers, script).await, Ok(expected), "{script}");
    }
}

#[tokio::test]
async fn a_script_that_returns_is_the_body_of_a_function() {
    let workers = workers(1);
    for (script, expected) in [
        ("return variables.n * 10", json!(70)),
        ("if (input === 'oi') { return 'a' }\nreturn 'b' // last", json!("a")),
        ("if (input !== 'oi') return 1", json!(null)),
        ("return v => v.n", json!(7)),
        ("const f = () => { return 3 }; f()", json!(3)),
        ("'return 1'", json!("return 1")),
        ("let x = 1; function x2() { return x } x2", json!(1)),
        // What throws at run time is not run again as something else.
        ("try { JSON.parse('{') } catch (error) { error.name }", json!("SyntaxError")),
        ("globalThis.count = (globalThis.count ?? 0) + 1; count", json!(1)),
    ] {
        assert_eq!(run(&workers, script).await, Ok(expected), "{script}");
    }
    let failure = run(&workers, "JSON.parse('{'); 1").await.expect_err("not JSON");
    assert!(failure.message.starts_with("line 1, column "), "{failure}");
    // What closes the function around it is not its body.
    for escape in
        ["} , function () { return 1", "}); (function () { return 1", "} [0] = function () { return 1"]
    {
        let failure = run(&workers, escape).await.expect_err(escape);
        assert_eq!(failure.code, "script_error", "{escape}: {failure}");
    }
}

#[tokio::test]
async fn errors_have_the_place_that_the_author_sees() {
    let workers = workers(1);
    for (script, place) in [
        ("1 +\n  nowhere.x", "line 2, column 3: "),
        ("const a = 1\nreturn nowhere.x", "line 2, column 8: "),
        ("function f() {\n  throw new Error('mine')\n}\nf()", "line 2, column "),
        ("const x = {\n  a: 1,,\n}", "line 2, column 8: "),
    ] {
        let failure = run(&workers, script).await.expect_err(script);
        assert!(failure.message.starts_with(place), "{script}: {failure}");
    }
}

#[tokio::test]
async fn scripts_are_parsed_and_not_run() {
    let workers = workers(1);
    let fine = ["1 + 1", "return 1", "for (;;);", "throw 1", "let a = 1; a", "() => 1", "// nothing"];
    assert_eq!(workers.check(&fine).await, Ok(vec![]));
    let wrong = [
        ("x = = 1", Some((1, 5))),
        ("const a = 1;\n\n  return a +;", Some((3, 13))),
        ("if (a) {\n  return 1", Some((2, 11))),
        ("} , function () {", None),
        ("import fs from 'fs'", Some((1, 8))),
    ];
    let scripts: Vec<&str> = ["1"].into_iter().chain(wrong.iter().map(|(script, _)| *script)).collect();
    let faults = workers.check(&scripts).await.expect("a worker");
    assert_eq!(faults.len(), wrong.len());
    for (at, (fault, (script, place))) in faults.iter().zip(&wrong).enumerate() {
        assert_eq!(fault.script, at + 1);
        assert!(!fault.message.is_empty(), "{script}");
        if let Some((line, column)) = *place {
            assert_eq!(fault.at, Some(ScriptPosition { line, column }), "{script}: {}", fault.message);
        }
    }
}

#[tokio::test]
async fn a_check_ends_and_takes_no_worker_from_a_conversation() {
    let workers = workers(1);
    let deep = "(".repeat(64 * 1024);
    let many: Vec<String> = (0..16).map(|n| format!("{};{n}", "[".repeat(32 * 1024))).collect();
    let scripts: Vec<&str> = many.iter().map(String::as_str).chain([deep.as_str()]).collect();
    let began = Instant::now();
    let (faults, ran) = tokio::join!(workers.check(&scripts), run(&workers, "1 + 1"));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert_eq!(ran, Ok(json!(2)));
    assert!(!faults.expect("a worker").is_empty());
    let open = workers.check(&["1", "a(\nb"]).await.expect("a worker");
    let end = Some(ScriptPosition { line: 2, column: 2 });
    assert_eq!(
        (open[0].script, open[0].at, open[0].message.as_str()),
        (1, end, "unexpected end of the script")
    );
    let nobody = ScriptWorkers::new(WorkerCommand { program: "/nowhere".into(), arguments: vec![] }, 1);
    nobody.check(&["1"]).await.expect_err("no worker");
}

#[tokio::test]
async fn chance_is_that_of_the_turn() {
    let workers = workers(2);
    let script = "[Math.random(), Math.random()]";
    let first = run(&workers, script).await.expect("runs");
    assert_eq!(run(&workers, script).await, Ok(first.clone()), "a repetition gives the same");
    let other = workers.run(&ScriptRequest { seed: 43, ..request(script) }).await;
    assert_ne!(other, Ok(first));
}

#[tokio::test]
async fn scripts_do_not_see_each_other_or_the_host() {
    let workers = workers(1);
    assert_eq!(run(&workers, "globalThis.left = 1; Object.prototype.polluted = 1; 1").await, Ok(json!(1)));
    assert_eq!(
        run(&workers, "[typeof left, typeof ({}).polluted]").await,
        Ok(json!(["undefined", "undefined"]))
    );
    let names = "['require','process','std','os','fetch','XMLHttpRequest','WebAssembly','print','console','Deno',\
        'setTimeout','scriptArgs','performance','Atomics','SharedArrayBuffer'].filter(n => n in globalThis)";
    assert_eq!(run(&workers, names).await, Ok(json!([])));
    for script in ["import('os')", "import('fs').then(x => x)"] {
        let got = run(&workers, script).await;
        assert!(matches!(&got, Ok(value) if *value == json!({})) || got.is_err(), "{got:?}");
    }
    for script in [
        "import fs from 'fs'",
        "throw new Error('mine')",
        "throw 'mine'",
        "null.x",
        "return 1 +",
        "(",
        "throw { get message() { for(;;); } }",
    ] {
        let failure = run(&workers, script).await.expect_err(script);
        assert_eq!(failure.code, "script_error", "{script}: {failure}");
    }
}

#[tokio::test]
async fn hostile_scripts_are_stopped_and_leave_the_next_one_alone() {
    let workers = workers(1);
    for (script, code) in [
        ("for (;;);", "script_timeout"),
        ("while (true) { try { for (;;); } catch { } finally { for (;;); } }", "script_timeout"),
        ("const f = () => f(); f()", "script_error"),
        ("const o = { get x() { return this.x } }; o.x", "script_error"),
        ("({ toJSON() { for (;;); } })", "script_timeout"),
        ("({ get x() { for (;;); } })", "script_timeout"),
        ("const a = []; for (;;) a.push(new Array(1000).fill('x'))", "script_too_large"),
        ("'x'.repeat(2 ** 29)", "script_too_large"),
        ("let s = 'x'; for (;;) s += s", "script_too_large"),
        ("'x'.repeat(300000)", "script_too_large"),
        ("let d = []; for (let i = 0; i < 1e6; i++) d = [d]; JSON.stringify(d)", "script_timeout"),
        ("/(a+)+$/.test('a'.repeat(40) + '!')", "script_timeout"),
        ("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", "script_timeout"),
        ("const a = []; a.length = 2 ** 32 - 1; a.indexOf(1)", "script_timeout"),
        ("const a = []; a.length = 2 ** 32 - 1; a.join()", "script_timeout"),
        ("(2n ** 4000000n) * (2n ** 4000000n) % (3n ** 100000n) + ''", "script_timeout"),
        ("new Promise(() => { for (;;); })", "script_timeout"),
        ("class A extends Array { constructor() { super(); return new A() } } new A()", "script_error"),
        ("Object.prototype.toJSON = function () { return this }; const a = {}; a.a = a; a", "script_error"),
        (
            "Array.prototype.map = Function.prototype.call = null; JSON.stringify = () => { throw 1 }; throw 1",
            "script_error",
        ),
    ] {
        let began = Instant::now();
        let got = run(&workers, script).await;
        let took = began.elapsed();
        assert!(took < Duration::from_secs(3), "{script}: {took:?}");
        match &got {
            Err(failure) => assert!(
                failure.code == code || (code != "script_error" && failure.code.starts_with("script_")),
                "{script}: {failure}"
            ),
            Ok(value) => panic!("{script}: {value}"),
        }
        assert_eq!(run(&workers, "1 + 1").await, Ok(json!(2)), "after {script}");
    }
}

#[tokio::test]
async fn a_worker_that_hangs_does_not_hold_up_the_others() {
    let workers = std::sync::Arc::new(workers(2));
    let slow = tokio::task::JoinSet::from_iter((0..4).map(|_| {
        let workers = std::sync::Arc::clone(&workers);
        async move { run(&workers, "for (;;);").await }
    }));
    let began = Instant::now();
    for result in slow.join_all().await {
        assert_eq!(result.expect_err("stopped").code, "script_timeout");
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

fn line(script: &str) -> String {
    let request = request(script);
    json!({ "run": { "script": request.script, "scope": request.scope, "seed": request.seed } }).to_string()
}

/// Lanes of scripts must not starve each other, nor the server: only what is over in some milliseconds competes with it.
#[cfg(target_os = "linux")]
#[test]
fn a_worker_gives_way_when_a_script_takes_long() {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_flowsdk-script-worker"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a worker");
    let pid = Pid::from_child(&worker);
    let priority = || getpriority_process(Some(pid)).expect("a priority");
    let mut answers = BufReader::new(worker.stdout.take().expect("its output")).lines();
    let mut ask = |script: &str| {
        writeln!(worker.stdin.as_ref().expect("its input"), "{}", line(script)).expect("a question");
        answers.next().expect("an answer").expect("a line")
    };
    let ours = getpriority_process(None).expect("a priority");
    assert_eq!(ask("1 + 1"), r#"{"value":2}"#);
    assert_eq!(priority(), ours);
    assert_eq!(ask("for (;;);"), r#""timeout""#);
    assert!(priority() > ours);
    drop(worker.stdin.take());
    worker.wait().expect("a status");
}

/// The priorities of the running processes that have an argument.
#[cfg(target_os = "linux")]
fn priorities(argument: &str) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten().map(|entry| entry.path());
    let of_argument = processes.filter_map(|process| {
        let arguments = std::fs::read(process.join("cmdline")).ok()?;
        arguments.split(|&byte| byte == 0).any(|one| one == argument.as_bytes()).then_some(())?;
        let stat = std::fs::read_to_string(process.join("stat")).ok()?;
        // After the name, which may hold spaces: state, parent, and the priority as the seventeenth.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        (fields[0] != "Z").then(|| fields[16].parse().expect("a priority"))
    });
    of_argument.collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_that_gave_way_is_replaced() {
    let name = format!("gave-way-{}", std::process::id());
    let workers = named_workers(1, &[&name]);
    let ours = getpriority_process(None).expect("a priority");
    assert_eq!(run(&workers, "1 + 1").await, Ok(json!(2)));
    assert_eq!(priorities(&name), [ours]);
    assert_eq!(run(&workers, "for (;;);").await.expect_err("stopped").code, "script_timeout");
    let began = Instant::now();
    // Before anybody asks for it. The kernel needs a moment to end the one that was killed.
    while priorities(&name) != [ours] {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", priorities(&name));
        tokio::task::yield_now().await;
    }
    assert_eq!(run(&workers, "1 + 1").await, Ok(json!(2)));
}

/// A server that is killed cannot kill its workers, and some work inside of the engine cannot be interrupted.
#[tokio::test]
async fn a_worker_whose_server_died_ends_in_the_middle_of_a_script() {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_flowsdk-script-worker"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a worker");
    let question = line("const a = []; a.length = 2 ** 32 - 1; a.join()");
    writeln!(worker.stdin.as_ref().expect("its input"), "{question}").expect("a question");
    drop((worker.stdin.take(), worker.stdout.take()));
    let began = Instant::now();
    let ended = loop {
        let ended = worker.try_wait().expect("a status").is_some();
        if ended || began.elapsed() > Duration::from_secs(60) {
            break ended;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    if !ended {
        worker.kill().expect("it runs");
        worker.wait().expect("a status");
    }
    assert!(ended, "the worker still runs");
}
