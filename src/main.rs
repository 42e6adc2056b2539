//! The program.

#[global_allocator]
static MEMORY: asterisk::memory::Allocator = asterisk::memory::allocator();

fn main() -> std::process::ExitCode {
    asterisk::cli::main(&asterisk::environment::Environment::of_process()).into()
}
