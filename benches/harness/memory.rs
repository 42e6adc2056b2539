//! The allocator of the program: what is measured is what runs.

#[global_allocator]
static MEMORY: asterisk::memory::Allocator = asterisk::memory::allocator();
