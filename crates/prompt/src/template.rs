//! Compiled templates.

use super::values::Values;
use super::{filters, scan};
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};
use std::collections::BTreeMap;
use std::error::Error as _;
use std::iter;
use std::sync::Arc;

/// The maximum instructions of one rendering.
const FUEL: u64 = 100_000;
/// The maximum bytes written by one rendering.
const MAX_WRITTEN: usize = 4 * 1024 * 1024;

/// All templates of a project, compiled. A template may include another by its path below the template root.
#[derive(Debug, Default)]
pub struct Templates {
    templates: BTreeMap<String, Arc<Template>>,
}

/// One template.
#[derive(Debug)]
pub struct Template {
    source: Source,
    hash: Hash,
    environment: Arc<Environment<'static>>,
}

impl Templates {
    /// Compiles templates; the name of each source is its path below the template root. The error lists all that do not compile.
    pub fn compile(sources: impl IntoIterator<Item = Source>) -> Result<Self, Diagnostics> {
        let sources: Vec<Source> = sources.into_iter().collect();
        let mut environment = Environment::new();
        environment.set_debug(true);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        filters::register(&mut environment);
        let mut found = Diagnostics::new();
        for source in &sources {
            let before = found.len();
            scan::check(source, &mut found);
            if found.len() > before {
                continue; // parsing it might exhaust memory or the stack
            }
            if let Err(error) = environment.add_template_owned(source.name().to_owned(), source.text().to_owned()) {
                found.push(explain(&error, source));
            }
        }
        let environment = Arc::new(environment);
        let compiled = |source: Source| {
            let hash = Hash::of(source.text().as_bytes());
            (source.name().to_owned(), Arc::new(Template { source, hash, environment: Arc::clone(&environment) }))
        };
        let templates = if found.is_empty() { sources.into_iter().map(compiled).collect() } else { BTreeMap::new() };
        found.into_result(Self { templates })
    }

    /// The template at a path.
    pub fn get(&self, path: &str) -> Option<&Arc<Template>> {
        self.templates.get(path)
    }

    /// The paths of all templates, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.templates.keys().map(String::as_str)
    }
}

impl Template {
    /// The address of its text.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The parameters it uses, with their fields (`failure.name`), without those of includes.
    pub(super) fn undeclared(&self) -> std::collections::BTreeSet<String> {
        let template = self.environment.get_template(self.source.name());
        template.map(|template| template.undeclared_variables(true).into_iter().collect()).unwrap_or_default()
    }

    /// Its text.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Renders it with parameters. An undefined value, a failing filter or an exceeded limit is an error at its location.
    pub fn render(&self, params: impl Into<Values>) -> Result<String, Box<Diagnostic>> {
        // Most of the output is the template's own text, and its includes are about as much again.
        let mut output = PromptBuffer { written: Vec::with_capacity(4 * self.source.text().len()), full: false };
        let params = params.into().0;
        let template = self.environment.get_template(self.source.name());
        let rendered = template.and_then(|template| template.render_captured_to(params, &mut output).map(drop));
        if output.full {
            let message = format!("this template produces more than {MAX_WRITTEN} bytes");
            return Err(Box::new(Diagnostic::error("template/limit", message).label(&self.source, Span::default(), "here")));
        }
        rendered.map_err(|error| Box::new(explain(&error, &self.source)))?;
        Ok(String::from_utf8(output.written).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

/// The output so far.
struct PromptBuffer {
    written: Vec<u8>,
    /// Whether the limit was exceeded.
    full: bool,
}

impl std::io::Write for PromptBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.written.len().saturating_add(bytes.len()) > MAX_WRITTEN {
            self.full = true;
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn explain(error: &minijinja::Error, source: &Source) -> Diagnostic {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let code = match error.kind() {
        minijinja::ErrorKind::SyntaxError => "template/syntax",
        minijinja::ErrorKind::UndefinedError => "template/undefined",
        minijinja::ErrorKind::OutOfFuel => "template/limit",
        _ => "template/render",
    };
    if detail.starts_with("unexpected end of input")
        && let Some((open, word)) = scan::unclosed(source.text())
    {
        let error = Diagnostic::error(code, format!("this `{word}` is never closed")).label(source, open, "opened here");
        return error.help(format!("close it with `{{% end{word} %}}`"));
    }
    // An error in an included template is the cause of the one at the `include`.
    let causes = iter::successors(error.source(), |error| (*error).source());
    let causes = causes.map(|cause| match cause.downcast_ref::<minijinja::Error>() {
        Some(cause) => {
            let place = cause.name().zip(cause.line()).map(|(name, line)| format!("{name}:{line}: ")).unwrap_or_default();
            format!("{place}{}", cause.detail().map_or_else(|| cause.kind().to_string(), str::to_owned))
        }
        None => cause.to_string(),
    });
    let detail = iter::once(detail).chain(causes).collect::<Vec<_>>().join(": ");
    let diagnostic = Diagnostic::error(code, format!("invalid template: {detail}"));
    let own = error.name().is_none_or(|name| name == source.name());
    let span = error.range().map(Span::from).or_else(|| {
        let start = source.offset(error.line()?, 1);
        Some(Span::new(start, start + source.text()[start..].find('\n').unwrap_or(source.text().len() - start)))
    });
    match span {
        Some(span) if own => diagnostic.label(source, span, "here"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(text: &str) -> Result<Templates, Diagnostics> {
        Templates::compile([Source::new("t.md", text)])
    }

    #[test]
    fn a_template_renders_its_parameters() {
        let templates = one("{% for r in repos %}\n- {{ r.name }}\n{% endfor %}\n").expect("compiles");
        let text = templates.get("t.md").expect("there").render(&json!({"repos": [{"name": "a"}, {"name": "<b>"}]}));
        assert_eq!(text.expect("renders"), "- a\n- <b>\n");
    }

    #[test]
    fn an_undefined_value_is_labelled() {
        let templates = one("Hello {{ nobody.name }}!").expect("compiles");
        let error = templates.get("t.md").expect("there").render(&json!({})).expect_err("undefined");
        assert_eq!(error.code, "template/undefined");
        let label = error.primary().expect("a label");
        assert!(label.source.slice(label.span).contains("nobody"), "{:?}", label.source.slice(label.span));
    }

    #[test]
    fn a_syntax_error_is_labelled() {
        let errors = one("a\n{% if x %}b").expect_err("unclosed");
        assert_eq!(errors.iter().next().map(|d| d.code.as_ref()), Some("template/syntax"));
        assert!(errors.iter().all(|d| d.primary().is_some()));
    }

    #[test]
    fn an_endless_template_runs_out_of_fuel() {
        let templates = one("{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}").expect("compiles");
        let error = templates.get("t.md").expect("there").render(&json!({})).expect_err("fuel");
        assert_eq!(error.code, "template/limit");
    }

    #[test]
    fn the_deepest_template_fits_into_a_small_stack() {
        let deep = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
            let chains = [
                "- 1 ".repeat(98),
                ".a".repeat(98),
                "|e".repeat(98),
                "[0]".repeat(66),
                " if a else b".repeat(49),
                "==1".repeat(66),
            ];
            for chain in chains {
                drop(
                    one(&format!("{{{{ a {chain} }}}}"))
                        .map(|templates| templates.get("t.md").map(|t| t.render(&json!({"a": 1})))),
                );
            }
            for open in ["not ", "-", "("] {
                drop(one(&format!("{{{{ {}a }}}}", open.repeat(198))));
            }
            let nested = format!("{}{{{{ a }}}}{}", "{% for a in a %}".repeat(32), "{% endfor %}".repeat(32));
            assert!(one(&nested).is_ok());
            let around = one("{% if a %}{% include 't.md' %}{% endif %}").expect("compiles");
            around.get("t.md").expect("there").render(&json!({"a": 1})).expect_err("no end").code.into_owned()
        });
        assert_eq!(deep.expect("a thread").join().expect("no overflow"), "template/render");
    }

    #[test]
    fn rejected_templates_are_not_parsed() {
        for text in ["+ 1 ".repeat(60_000), "|e".repeat(100_000)] {
            let problems = one(&format!("{{{{ 1 {text} }}}}")).expect_err("too long");
            assert_eq!(problems.iter().map(|problem| problem.code.as_ref()).collect::<Vec<_>>(), ["template/limit"]);
            assert!(problems.iter().all(|problem| problem.primary().is_some()));
        }
    }
}
