//! The allocator of the program, so that benchmarks measure the same code.

#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
