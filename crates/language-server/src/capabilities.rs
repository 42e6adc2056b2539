//! What the server offers, in the words of the protocol.

use super::commands::COMMANDS;
use super::position::ColumnUnit;
use super::semantic::{MODIFIERS, TYPES};
use super::server::ClientAbilities;
use serde_json::{Value, json};

/// The capabilities of the server. Commands that the client implements itself are left to it.
pub(super) fn capabilities(unit: ColumnUnit, client: &ClientAbilities) -> Value {
    let commands: Vec<&str> = COMMANDS.iter().copied().filter(|command| !client.commands.contains(*command)).collect();
    json!({
        "positionEncoding": if unit == ColumnUnit::Utf8 { "utf-8" } else { "utf-16" },
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "completionProvider": { "triggerCharacters": [".", ":", "\"", "#", "/"] },
        "hoverProvider": true,
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor", "source.fixAll"] },
        "codeLensProvider": {},
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "foldingRangeProvider": true,
        "semanticTokensProvider": {
            "legend": { "tokenTypes": TYPES, "tokenModifiers": MODIFIERS }, "full": true, "range": true,
        },
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "inlayHintProvider": true,
        "inlineValueProvider": true,
        "executeCommandProvider": { "commands": commands },
    })
}
