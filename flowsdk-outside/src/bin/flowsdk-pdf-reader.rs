//! A reader of PDFs as a program of its own.

fn main() -> std::process::ExitCode {
    flowsdk_outside::pdf::serve()
}
