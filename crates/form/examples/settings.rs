//! One table of keys gives the checked reader, suggestions for typos, and a JSON Schema.

use asterisk_diag::Source;
use asterisk_form::{Form, FormKey, FormReader, ValueForm, json_schema, yaml};
use serde_json::json;

const SETTINGS: Form = Form {
    what: "the settings",
    keys: &[
        FormKey::required("name", ValueForm::Text, "The name of the service."),
        FormKey::new("retries", ValueForm::Whole(0, 10), "How often a request is repeated."),
    ],
    ..Form::PLAIN
};

fn main() {
    let read = |text: &str| {
        let source = Source::new("settings.yaml", text);
        let tree = yaml::parse(&source).expect("YAML");
        let mut reader: FormReader<'_> = FormReader::new(&source, "settings");
        let value = reader.file(&tree, &SETTINGS, None);
        (value, reader.finish())
    };
    let (value, problems) = read("name: shop\nretries: 3\n");
    assert!(problems.is_empty(), "{problems}");
    assert_eq!(value, json!({ "name": "shop", "retries": 3 }));

    // Every problem names its place: all are reported in one pass.
    let (_, problems) = read("nmae: shop\nretries: 30\n");
    let lines: Vec<String> = problems.into_iter().map(|problem| problem.to_string()).collect();
    assert!(lines.iter().any(|line| line.contains("settings.yaml:1:1")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("settings.yaml:2:10")), "{lines:?}");

    assert_eq!(json_schema("Settings", &SETTINGS)["properties"]["retries"]["maximum"], 10);
}
