//! The linker of one pipeline, with the look-up of functions and answerers.

use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use asterisk_pipeline::{Pipeline, Spanned};
use asterisk_prompt::Templates;
use asterisk_script::check::CheckedParameter;
use asterisk_script::{FunctionRef, Library, ScriptFunction};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Links one pipeline.
pub(super) struct ProjectLinker<'a> {
    pub(super) pipeline: &'a Arc<Pipeline>,
    pub(super) library: &'a Library,
    pub(super) templates: &'a Templates,
    /// The texts of all templates, including those that do not compile.
    pub(super) texts: &'a [Source],
    pub(super) vars: &'a Map<String, Value>,
    /// The reference to the pipeline, if it is a sub-pipeline.
    pub(super) part: Option<&'a str>,
    /// Additional masks (`--mask`), by path.
    pub(super) masks: &'a [String],
    /// The valid names for `via:`, if known.
    pub(super) agents: Option<&'a [String]>,
    /// The names of the configured tool servers, if known.
    pub(super) servers: Option<&'a [String]>,
    /// Whether bundled texts are taken as checked.
    pub(super) trusted: bool,
}

impl ProjectLinker<'_> {
    /// Checks the name of an answerer.
    pub(super) fn agent(&self, name: &str, span: Span, found: &mut Diagnostics) {
        let Some(known) = self.agents.filter(|known| !known.iter().any(|known| known == name)) else { return };
        let message = format!("unknown answerer `{name}`");
        let hint = did_you_mean(name, known.iter().map(String::as_str));
        let error = Diagnostic::error("project/unknown-agent", message).label(&self.pipeline.source, span, "named here");
        found.push(
            error.help(
                format!("{}\nothers are configured under `agents:` in asterisk.yaml", hint.unwrap_or_default())
                    .trim_start()
                    .to_owned(),
            ),
        );
    }

    /// Whether a function need not be checked: its script and the pipeline are bundled.
    pub(super) fn is_checked(&self, function: &ScriptFunction) -> bool {
        self.trusted && self.pipeline.source.is_bundled() && (function.is_trusted() || function.is_condition())
    }

    /// Checks a function against the types of its inputs, unless that was done when the program was built.
    pub(super) fn check(&self, function: &ScriptFunction, inputs: &[CheckedParameter<'_>], found: &mut Diagnostics) {
        if !self.is_checked(function) {
            Self::report(self.library.check(function, inputs).diagnostics, found);
        }
    }

    pub(super) fn report(diagnostics: Diagnostics, found: &mut Diagnostics) {
        for diagnostic in diagnostics {
            if !found.iter().any(|known| *known == diagnostic) {
                found.push(diagnostic);
            }
        }
    }

    /// Resolves a reference to a function; errors are labelled in the pipeline.
    pub(super) fn function(&self, reference: &Spanned<String>, arity: usize, found: &mut Diagnostics) -> Option<ScriptFunction> {
        let function = FunctionRef::parse(reference).and_then(|parsed| self.library.function(&parsed, arity));
        function.map_err(|diagnostic| found.push(label_first(diagnostic, self.pipeline, reference.span))).ok()
    }
}

/// Prepends the location in the pipeline to the labels of a diagnostic.
fn label_first(mut diagnostic: Diagnostic, pipeline: &Pipeline, span: Span) -> Diagnostic {
    let label = asterisk_diag::Label::new(&pipeline.source, span, "referred to here");
    // A function that is there, in another form, is to be changed where it is.
    let at = if matches!(&*diagnostic.code, "script/arity" | "script/private") { diagnostic.labels.len() } else { 0 };
    diagnostic.labels.insert(at, label);
    diagnostic
}
