//! The allocator of the program: what is measured is what runs.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
