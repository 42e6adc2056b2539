//! The program.

fn main() -> std::process::ExitCode {
    asterisk::cli::main(std::env::args_os())
}
