//! File access: embedded files, overlays of user directories, file watching, and output directories of runs.
//!
//! ```text
//! embedded, unpack                     the bundled files, and writing them to disk
//! overlay, texts, pipelines, root      a project's files overlaid on the bundled ones; where they are
//! inputs, reports                      launches to read; finding the reports of test tools
//! watch, settle, identity              edits, reported once a file is complete
//! outdir, confined, removal, secret    private output directories, paths that cannot escape, secrets in files
//! source_tree                          the files named by stack frames
//! ```

mod archive;
mod confined;
mod embedded;
mod identity;
mod inputs;
mod outdir;
mod overlay;
mod pipelines;
mod removal;
mod reports;
mod root;
mod secret;
mod settle;
mod source_tree;
mod texts;
mod unpack;
mod watch;

pub use embedded::{Area, EXAMPLE_LAUNCH, bundle, example_launch};
pub use identity::FileIdentity;
pub use inputs::{InputFile, InputList, list_inputs};
pub use outdir::{OutDir, open_private};
pub use overlay::{
    FileError, FileOrigin, Overlay, UnsavedTexts, list_tests, passed_over, read_answer, read_below, read_input, read_text_file,
};
pub use pipelines::{ListedPipeline, PipelineLookup, find_pipeline, list_pipelines};
pub use removal::remove_entry;
pub use reports::{FoundReports, find_reports};
pub use root::{conventional, project_root};
pub use secret::read_secret;
pub use source_tree::SourceTree;
pub use texts::{FoundText, find_texts};
pub use unpack::{UnpackError, Unpacked, unpack};
pub use watch::{DEBOUNCE, WatchError, WatchStopper, Watcher};
