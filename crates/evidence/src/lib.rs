//! What the texts of a failure say, read once: the document that rules, responders, prompts and reports share.
//!
//! - `document`: the document and its reader
//! - `lines`: which lines count, and which are quoted
//! - `frames`: stack frames of each language
//! - `owners`: whose code a frame is, by rules in data
//! - `checks`: what assertions expected and found
//! - `names`: what lines name: addresses, files, modules
//! - `signatures`: a catalogue of known failures, matched in one pass
//! - `peer_keys`: what a failure may have in common with others of its launch
//! - `peers`: an index of a launch by those keys
//! - `masking`: secrets and personal data, replaced by stars
//!
//! The raw part (lines, frames, checks, names) depends on the texts alone; owners and matches depend on data as well.

mod checks;
mod document;
mod frames;
mod lines;
mod masking;
mod names;
mod owners;
mod peer_keys;
mod peers;
mod signatures;

pub use checks::{Check, CheckKind};
pub use document::{Evidence, EvidenceFrame, EvidenceReader, EvidenceRules, FailureTexts, NamedException};
pub use frames::{FrameLanguage, ParsedFrame};
pub use lines::{EvidenceLine, LineSource, QuoteKind, QuotedLine};
pub use masking::{MaskRule, Masker};
pub use names::{NAME_KINDS, Names};
pub use owners::{FrameOwner, OwnerReason, OwnerRule, Owners};
pub use peer_keys::{FailedFixture, FixtureMatch, PeerKey, PeerKeys, PeerKind};
pub use peers::{Peer, PeerIndex, PeerIndexBuilder, PeerOrigin};
pub use signatures::{Catalogue, SignatureMatch, SignatureSpec, required_literals};
