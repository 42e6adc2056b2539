//! Where settings come from: flags, then `ASTERISK_*`, then the project file `asterisk.yaml`.

mod project_file;
mod settings;

pub use settings::{Given, resolve};
