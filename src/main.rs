//! The program.

/// Gives memory back to the system and to other threads: a run over a hundred thousand cases reads its launch on one thread
/// and walks on others.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    asterisk::cli::main(std::env::args_os())
}
