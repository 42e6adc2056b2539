//! The codes of diagnostics that the program itself acts on. All others are for people to search and programs to match.

use super::Diagnostic;
use std::borrow::Cow;

macro_rules! codes {
    ($($name:ident = $text:literal,)*) => {
        /// The code of a diagnostic that decides what follows from it: an exit code, another attempt, help.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $text] $name,)*
        }

        impl Code {
            /// The code as written: `area/name`.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            fn of(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    AgentAnswer = "agent/answer",
    AgentArtifact = "agent/artifact",
    AgentDeadline = "agent/deadline",
    AgentLate = "agent/late",
    ConfigSecret = "config/secret",
    ConfigUnknownKey = "config/unknown-key",
    ConfigUrlSecret = "config/url-secret",
    IngestDoctype = "ingest/doctype",
    IngestEmpty = "ingest/empty",
    IngestFormat = "ingest/format",
    IngestJsonSyntax = "ingest/json-syntax",
    IngestTooDeep = "ingest/too-deep",
    IngestTooLarge = "ingest/too-large",
    IngestTruncated = "ingest/truncated",
    IngestXmlSyntax = "ingest/xml-syntax",
    InputNoNode = "input/no-node",
    ProjectUnknownVar = "project/unknown-var",
    ProjectVarType = "project/var-type",
    ScriptDeadline = "script/deadline",
    ScriptLimit = "script/limit",
    ScriptUnknownFunction = "script/unknown-function",
    TestArtifact = "test/artifact",
    TestAssert = "test/assert",
    TestRows = "test/rows",
    WalkReview = "walk/review",
    WalkSchema = "walk/schema",
}

impl From<Code> for Cow<'static, str> {
    fn from(code: Code) -> Self {
        Cow::Borrowed(code.text())
    }
}

/// The area of a code, where what follows is the same for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeArea {
    /// Reading a launch.
    Ingest,
    /// A script's code, a rule's answer, or a responder's.
    Scripts,
    /// Templates.
    Template,
}

impl Diagnostic {
    /// The code, if the program acts on it.
    pub fn known(&self) -> Option<Code> {
        Code::of(&self.code)
    }

    /// Whether the code is that one.
    pub fn is(&self, code: Code) -> bool {
        self.known() == Some(code)
    }

    /// The area of the code, if the program acts on it.
    pub fn area(&self) -> Option<CodeArea> {
        match self.code.split_once('/')?.0 {
            "ingest" => Some(CodeArea::Ingest),
            "script" | "rule" | "responder" => Some(CodeArea::Scripts),
            "template" => Some(CodeArea::Template),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_known_by_what_is_written() {
        let diagnostic = |code: &'static str| Diagnostic::error(code, "m");
        assert!(Diagnostic::error(Code::WalkSchema, "m").is(Code::WalkSchema));
        assert_eq!(diagnostic("script/limit").known(), Some(Code::ScriptLimit));
        assert_eq!(diagnostic("script/limits").known(), None);
        let areas =
            ["rule/return", "responder/return", "script/limit", "ingest/empty", "template/syntax", "walk/schema", "rules"];
        let areas = areas.map(|code| diagnostic(code).area());
        let scripts = Some(CodeArea::Scripts);
        assert_eq!(areas, [scripts, scripts, scripts, Some(CodeArea::Ingest), Some(CodeArea::Template), None, None]);
    }
}
