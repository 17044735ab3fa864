//! A script worker as a program of its own.

fn main() -> std::io::Result<()> {
    flowsdk_outside::script::serve()
}
