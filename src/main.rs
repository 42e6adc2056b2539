//! The program.

#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();

fn main() -> std::process::ExitCode {
    asterisk::cli::main(&asterisk_base::environment::Environment::of_process()).into()
}
