//! Links a script and calls one of its functions; a mistake is an error at its token.

use asterisk_diag::Source;
use asterisk_script::{FunctionRef, Library, LibraryInputs};
use serde_json::json;

fn library(text: &str) -> Library {
    let scripts = vec![Source::new("rules/orders.rhai", text)];
    Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, None).expect("links")
}

fn main() {
    let reference = FunctionRef::parse("rules/orders.rhai#is_large").expect("a reference");
    let function = library("fn is_large(order) { order.total > 100 }").function(&reference, 1).expect("a function");
    assert_eq!(function.call_json(&[json!({ "total": 120 })]).expect("a value"), json!(true));

    // Comparisons are strict: a number is never compared with a string.
    let error = function.call_json(&[json!({ "total": "120" })]).expect_err("a type error");
    assert!(error.to_string().contains("rules/orders.rhai:1:"), "{error}");
    // A loop without an end is stopped.
    let endless = library("fn is_large(order) { loop { } }").function(&reference, 1).expect("a function");
    assert!(endless.call_json(&[json!({})]).is_err());
}
