//! Writes results of commands as `JUnit` XML, for CI systems.

use quick_xml::Writer;
use quick_xml::events::BytesText;
use std::borrow::Cow;
use std::io;

/// A `<testsuite>`: the results of one file.
#[derive(Debug, Default)]
pub(super) struct JunitSuite {
    pub(super) name: String,
    pub(super) seconds: f64,
    pub(super) cases: Vec<JunitCase>,
}

/// A `<testcase>`.
#[derive(Debug, Default)]
pub(super) struct JunitCase {
    pub(super) name: String,
    /// The line in the suite's file, if the suite is a file.
    pub(super) line: Option<usize>,
    pub(super) seconds: f64,
    pub(super) notes: Vec<JunitNote>,
}

/// An element inside a `<testcase>`.
#[derive(Debug)]
pub(super) struct JunitNote {
    /// `failure`, `skipped` or `system-out`.
    pub(super) element: &'static str,
    pub(super) attributes: Vec<(&'static str, String)>,
    pub(super) text: String,
}

impl JunitNote {
    pub(super) fn failure(message: &str, text: String) -> Self {
        Self { element: "failure", attributes: vec![("message", message.to_owned())], text }
    }
}

/// Writes the document. Times of zero are omitted.
pub(super) fn write(title: &str, suites: &[JunitSuite], seconds: f64) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let root = writer.create_element("testsuites").with_attributes(attributes(head(title, suites, seconds)));
    let written = root.write_inner_content(|writer| {
        suites.iter().try_for_each(|suite| {
            let head = head(&suite.name, std::slice::from_ref(suite), suite.seconds);
            let element = writer.create_element("testsuite").with_attributes(attributes(head));
            element.write_inner_content(|writer| suite.cases.iter().try_for_each(|case| case.write(&suite.name, writer)))?;
            Ok(())
        })
    });
    written.expect("writing to memory succeeds");
    let xml = String::from_utf8(writer.into_inner()).expect("the writer takes text only");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{xml}\n")
}

impl JunitCase {
    fn has(&self, element: &str) -> bool {
        self.notes.iter().any(|note| note.element == element)
    }

    fn write(&self, suite: &str, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let mut head = vec![("name", self.name.clone()), ("classname", suite.to_owned())];
        if let Some(line) = self.line {
            head.extend([("file", suite.to_owned()), ("line", line.to_string())]);
        }
        head.extend(time(self.seconds));
        let element = writer.create_element("testcase").with_attributes(attributes(head));
        if self.notes.is_empty() {
            element.write_empty()?;
            return Ok(());
        }
        element.write_inner_content(|writer| {
            self.notes.iter().try_for_each(|note| {
                let element = writer.create_element(note.element).with_attributes(attributes(note.attributes.iter().cloned()));
                if note.text.is_empty() {
                    element.write_empty()
                } else {
                    element.write_text_content(BytesText::new(&printable(&note.text)))
                }?;
                Ok(())
            })
        })?;
        Ok(())
    }
}

/// The attributes of one or all suites.
fn head(name: &str, suites: &[JunitSuite], seconds: f64) -> Vec<(&'static str, String)> {
    let count = |counts: &dyn Fn(&JunitCase) -> bool| {
        suites.iter().flat_map(|suite| &suite.cases).filter(|case| counts(case)).count().to_string()
    };
    let mut head = vec![("name", name.to_owned()), ("tests", count(&|_| true))];
    head.extend([("failures", count(&|case| case.has("failure"))), ("skipped", count(&|case| case.has("skipped")))]);
    head.extend(time(seconds));
    head
}

fn time(seconds: f64) -> Option<(&'static str, String)> {
    (seconds > 0.0).then(|| ("time", format!("{seconds:.3}")))
}

fn attributes<'a>(all: impl IntoIterator<Item = (&'static str, String)>) -> impl Iterator<Item = (&'static str, Cow<'a, str>)> {
    all.into_iter().map(|(name, value)| (name, Cow::Owned(printable(&value))))
}

/// Removes the characters that XML cannot represent.
fn printable(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::events::Event;

    #[test]
    fn any_text_is_escaped() {
        let text = "<a b=\"c\">&\u{1}\n]]>";
        let failed = JunitCase {
            name: text.into(),
            line: Some(3),
            notes: vec![JunitNote::failure(text, text.into())],
            ..JunitCase::default()
        };
        let xml = write("t", &[JunitSuite { name: text.into(), cases: vec![failed], seconds: 0.25 }], 0.0);
        let mut reader = quick_xml::Reader::from_str(&xml);
        let mut seen = Vec::new();
        loop {
            match reader.read_event().expect("well formed") {
                Event::Eof => break,
                Event::Start(tag) | Event::Empty(tag) => {
                    let values = tag.attributes().map(|attribute| attribute.expect("an attribute").key.as_ref().to_owned());
                    seen.push(format!("{} {}", AsRef::<str>::as_ref(&tag.name()), values.collect::<Vec<_>>().join(" ")));
                }
                _ => {}
            }
        }
        let all = ["testsuites name tests failures skipped", "testsuite name tests failures skipped time"];
        assert_eq!(seen, [&all[..], &["testcase name classname file line", "failure message"]].concat(), "{xml}");
    }
}
