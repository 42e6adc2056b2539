//! Lists the failed tests of a report, whichever tool wrote it.

use asterisk_diag::Source;

const REPORT: &str = r#"<testsuite name="shop" tests="2" failures="1">
  <testcase classname="shop.CartTest" name="total"><failure message="expected 12 but was 10"/></testcase>
  <testcase classname="shop.CartTest" name="empty"/>
</testsuite>"#;

fn main() {
    let launch = asterisk_launch::read(&Source::new("report.xml", REPORT)).expect("a test report");
    let failures: Vec<(&str, &str)> = launch.cases.iter().map(|case| (case.name.as_str(), case.error_message.as_str())).collect();
    assert_eq!(failures, [("total", "expected 12 but was 10")]);
    // Anything else is an error that says what the text looks like.
    assert!(asterisk_launch::read(&Source::new("page.html", "<html></html>")).is_err());
}
