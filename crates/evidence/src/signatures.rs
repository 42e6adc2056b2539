//! A catalogue of signatures, matched in one pass: literals that a pattern needs select the few patterns that are tried on a line.

use super::lines::{EvidenceLine, LineSource, Titles};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use asterisk_base::model::{TextPattern, pattern_syntax};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};
use serde::Serialize;

/// A signature as data has it: what is matched, and what keeps it from counting.
#[derive(Clone, Debug, Default, Hash)]
pub struct SignatureSpec {
    /// Its id.
    pub id: String,
    /// What it is about; empty if unknown.
    pub topic: String,
    /// Where it is written: `file:line`.
    pub at: String,
    /// Patterns, one of which a line has to match, in any letter case.
    pub patterns: Vec<String>,
    /// Finds what the line is about: its first group.
    pub subject: String,
    /// Does not count where the text has this as well.
    pub unless_text: String,
    /// Does not count on a line that has this as well.
    pub unless_line: String,
    /// Of several lines, the last counts.
    pub pick_last: bool,
    /// Counts on lines of the error only.
    pub weak: bool,
    /// Says that the test did not run, because its set-up failed.
    pub setup: bool,
}

/// A signature that matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignatureMatch {
    /// The signature's id.
    pub id: String,
    /// Its place in the list of the domain, from 0.
    pub index: usize,
    /// What the signature is about; empty if unknown.
    pub topic: String,
    /// Where it is defined, for display.
    pub at: String,
    /// The id of the line that counts: of the error's if one matched there, else of the log's.
    pub line: String,
    /// The text it is of.
    pub source: LineSource,
    /// What the line says.
    pub text: String,
    /// Which of the signature's patterns matched, from 0.
    pub pattern: usize,
    /// Where in the line, in bytes.
    pub span: [usize; 2],
    /// What the line is about; empty if the signature does not declare it.
    pub subject: String,
    /// What the log's line says, where both texts have one; empty otherwise.
    pub log_text: String,
    /// Whether nothing but lines of the log matched that report how things normally go (levels up to `info`).
    pub routine: bool,
    /// On how many lines it matched.
    pub lines: usize,
}

#[derive(Debug)]
struct Compiled {
    spec: SignatureSpec,
    patterns: Vec<TextPattern>,
    subject: TextPattern,
    unless_text: TextPattern,
    unless_line: TextPattern,
}

/// A pattern of a signature, which ignores case and is about lines.
fn of_lines(text: &str) -> TextPattern {
    TextPattern::lazy(format!("(?im){text}"))
}

/// Signatures that are matched together.
#[derive(Debug, Default)]
pub struct Catalogue {
    signatures: Vec<Compiled>,
    literals: Option<AhoCorasick>,
    /// By literal: the patterns (signature, pattern) that need it.
    by_literal: Vec<Vec<(u32, u32)>>,
    /// Patterns that need no literal, and are tried on every line.
    always: Vec<(u32, u32)>,
}

/// The shortest literal that is worth looking for.
const SHORTEST: usize = 3;

impl Catalogue {
    /// Prepares signatures. Patterns that are not regular expressions never match; who reads the data has refused them.
    pub fn new(specs: Vec<SignatureSpec>) -> Self {
        let mut literals: Vec<String> = Vec::new();
        let mut index = std::collections::HashMap::<String, usize>::new();
        let mut by_literal: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut always = Vec::new();
        for (signature, spec) in specs.iter().enumerate() {
            for (pattern, text) in spec.patterns.iter().enumerate() {
                let id = (u32::try_from(signature).unwrap_or(u32::MAX), u32::try_from(pattern).unwrap_or(u32::MAX));
                match required_literals(text) {
                    Some(needed) => {
                        for literal in needed {
                            let at = *index.entry(literal.clone()).or_insert_with(|| {
                                literals.push(literal);
                                by_literal.push(Vec::new());
                                literals.len() - 1
                            });
                            if !by_literal[at].contains(&id) {
                                by_literal[at].push(id);
                            }
                        }
                    }
                    None => always.push(id),
                }
            }
        }
        let automaton = AhoCorasickBuilder::new().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&literals);
        let signatures = specs.into_iter().map(|spec| Compiled {
            patterns: spec.patterns.iter().map(|text| of_lines(text)).collect(),
            subject: of_lines(&spec.subject),
            unless_text: of_lines(&spec.unless_text),
            unless_line: of_lines(&spec.unless_line),
            spec,
        });
        Self { signatures: signatures.collect(), literals: automaton.ok(), by_literal, always }
    }

    /// The ids of the signatures that one line matches, in the order of the catalogue.
    pub fn of_line(&self, line: &str) -> Vec<(&str, [usize; 2])> {
        let mut found: Vec<(u32, [usize; 2])> = Vec::new();
        self.each(line, |signature, _, span| found.push((signature, span)));
        found.sort_by_key(|(signature, _)| *signature);
        found.dedup_by_key(|(signature, _)| *signature);
        found.into_iter().map(|(signature, span)| (self.signatures[signature as usize].spec.id.as_str(), span)).collect()
    }

    /// Calls for each signature that a line matches, with the pattern and the place.
    fn each(&self, line: &str, mut call: impl FnMut(u32, u32, [usize; 2])) {
        let mut wanted: Vec<(u32, u32)> = self.always.clone();
        if let Some(literals) = &self.literals {
            for found in literals.find_overlapping_iter(line) {
                wanted.extend_from_slice(&self.by_literal[found.pattern().as_usize()]);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut done = None;
        for (signature, pattern) in wanted {
            if done == Some(signature) {
                continue;
            }
            let compiled = &self.signatures[signature as usize];
            let Some(found) = compiled.patterns[pattern as usize].find(line) else {
                continue;
            };
            if !compiled.spec.unless_line.is_empty() && compiled.unless_line.is_match(line) {
                continue;
            }
            done = Some(signature);
            call(signature, pattern, [found.start(), found.end()]);
        }
    }

    /// The signatures that the lines of a failure match, in the order of the catalogue.
    pub fn matches(&self, lines: &[EvidenceLine], titles: &Titles) -> Vec<SignatureMatch> {
        struct Found {
            error: Option<(usize, u32, [usize; 2])>,
            log: Option<(usize, u32, [usize; 2])>,
            routine: Option<(usize, u32, [usize; 2])>,
            count: usize,
        }
        let mut found: Vec<(u32, Found)> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let without = titles.without(&line.text);
            let text = without.as_deref().unwrap_or(&line.text);
            self.each(text, |signature, pattern, span| {
                let spec = &self.signatures[signature as usize].spec;
                if spec.weak && line.source == LineSource::Log {
                    return;
                }
                let at = match found.iter().position(|(known, _)| *known == signature) {
                    Some(at) => at,
                    None => {
                        found.push((signature, Found { error: None, log: None, routine: None, count: 0 }));
                        found.len() - 1
                    }
                };
                let all = &mut found[at].1;
                all.count += 1;
                let place = match line.source {
                    LineSource::Error => &mut all.error,
                    LineSource::Log if matches!(line.level, Some("debug" | "info")) => &mut all.routine,
                    LineSource::Log => &mut all.log,
                };
                if place.is_none() || spec.pick_last {
                    *place = Some((index, pattern, span));
                }
            });
        }
        found.sort_by_key(|(signature, _)| *signature);
        let all = |source: LineSource| lines.iter().filter(move |line| line.source == source).map(|line| line.text.as_str());
        let mut kept = Vec::new();
        for (signature, Found { mut error, mut log, mut routine, count }) in found {
            let compiled = &self.signatures[signature as usize];
            if !compiled.spec.unless_text.is_empty() {
                let unless = &compiled.unless_text;
                if error.is_some() && all(LineSource::Error).any(|line| unless.is_match(line)) {
                    error = None;
                }
                if log.is_some() && all(LineSource::Log).any(|line| unless.is_match(line)) {
                    (log, routine) = (None, None);
                }
            }
            let Some((index, pattern, span)) = error.or(log).or(routine) else { continue };
            let line = &lines[index];
            let subject = if compiled.spec.subject.is_empty() { None } else { compiled.subject.captures(&line.text) };
            let subject =
                subject.and_then(|groups| groups.iter().skip(1).flatten().next().map(|group| group.as_str().to_owned()));
            kept.push(SignatureMatch {
                id: compiled.spec.id.clone(),
                index: signature as usize,
                topic: compiled.spec.topic.clone(),
                at: compiled.spec.at.clone(),
                line: line.id.clone(),
                source: line.source,
                text: line.text.clone(),
                pattern: pattern as usize,
                span,
                subject: subject.unwrap_or_default(),
                log_text: error.and(log).map_or_else(String::new, |(index, ..)| lines[index].text.clone()),
                routine: error.is_none() && log.is_none(),
                lines: count,
            });
        }
        kept
    }
}

/// Literals one of which every match of a pattern has, in small letters; nothing if the pattern has none that are long enough,
/// and is tried on every line.
pub fn required_literals(pattern: &str) -> Option<Vec<String>> {
    let hir = pattern_syntax(pattern, true).ok()?;
    let found = best(&hir)?;
    let mut words: Vec<String> = found.into_iter().map(|word| word.to_ascii_lowercase()).collect();
    words.sort();
    words.dedup();
    Some(words)
}

/// How many bytes of a literal are looked for.
const LONGEST: usize = 24;

fn best(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Capture(capture) => best(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => best(&repetition.sub),
        HirKind::Alternation(branches) => {
            let whole = extracted(hir);
            let mut all = Vec::new();
            let parts: Option<()> = branches.iter().try_for_each(|branch| {
                all.extend(best(branch)?);
                Some(())
            });
            better(whole, parts.map(|()| all))
        }
        HirKind::Concat(parts) => {
            let mut found = None;
            for (at, part) in parts.iter().enumerate() {
                // Each part adds a byte at least, and no literal is longer than this.
                let next = &parts[at..parts.len().min(at + LONGEST)];
                found = better(found, extracted(&Hir::concat(next.to_vec())));
                found = better(found, if matches!(part.kind(), HirKind::Literal(_)) { None } else { best(part) });
            }
            found
        }
        _ => extracted(hir),
    }
}

/// The set whose shortest literal is longer.
fn better(one: Option<Vec<String>>, other: Option<Vec<String>>) -> Option<Vec<String>> {
    let shortest = |words: &Vec<String>| words.iter().map(String::len).min().unwrap_or(0).min(12) * 8 - words.len().min(64) / 8;
    match (one, other) {
        (Some(one), Some(other)) => Some(if shortest(&other) > shortest(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

fn extracted(hir: &Hir) -> Option<Vec<String>> {
    let mut extractor = Extractor::new();
    extractor.limit_class(8).limit_repeat(4).limit_total(48).limit_literal_len(LONGEST);
    let mut found = extractor.extract(hir);
    found.make_inexact();
    let literals = found.literals()?;
    let words: Option<Vec<String>> = literals.iter().map(|literal| ascii_run(literal.as_bytes())).collect();
    words.filter(|words| !words.is_empty())
}

/// The longest run of ASCII: letters of other alphabets have cases that are not looked for.
fn ascii_run(bytes: &[u8]) -> Option<String> {
    let runs = bytes.split(|byte| !byte.is_ascii());
    let longest = runs.max_by_key(|run| run.len())?;
    (longest.len() >= SHORTEST).then(|| String::from_utf8_lossy(longest).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::lines::read;
    use super::*;
    use proptest::prelude::*;

    fn spec(id: &str, patterns: &[&str]) -> SignatureSpec {
        SignatureSpec {
            id: id.to_owned(),
            patterns: patterns.iter().map(|text| (*text).to_owned()).collect(),
            ..SignatureSpec::default()
        }
    }

    fn matches(catalogue: &Catalogue, error: &str, log: &str, name: &str) -> Vec<(String, String)> {
        let titles = Titles::new(name, "");
        let mut lines = read(error, LineSource::Error, &titles).lines;
        lines.extend(read(log, LineSource::Log, &titles).lines);
        catalogue.matches(&lines, &titles).into_iter().map(|found| (found.id, found.line)).collect()
    }

    #[test]
    fn literals_are_found_in_all_branches() {
        let of = |pattern: &str| required_literals(pattern);
        assert_eq!(of("no space left on device"), Some(vec!["no space left on device".into()]));
        assert_eq!(of(r"(?:dial|lookup) \S+: refused"), Some(vec![": refused".into()]));
        assert_eq!(of(r"ECONN(?:REFUSED|RESET)"), Some(vec!["econnrefused".into(), "econnreset".into()]));
        assert_eq!(of(r"\d+"), None);
        assert_eq!(of(r"(?:abcdef)?x"), None, "what may be left out is not needed");
    }

    #[test]
    fn an_error_counts_before_a_log_and_the_first_line_before_others() {
        let catalogue = Catalogue::new(vec![spec("full", &["no space left"]), spec("down", &["went away"])]);
        let found =
            matches(&catalogue, "x\nNo space left on device", "ERROR no space left\nthe node went away\nit went away", "");
        assert_eq!(found, [("full".into(), "e2".into()), ("down".into(), "l2".into())]);
    }

    #[test]
    fn the_tests_own_name_is_not_evidence() {
        let catalogue = Catalogue::new(vec![spec("oom", &["OOMKilled"])]);
        assert_eq!(matches(&catalogue, "should restart when OOMKilled: expected 3", "", "should restart when OOMKilled"), []);
        assert_eq!(matches(&catalogue, "pod was OOMKilled", "", "should restart when OOMKilled").len(), 1);
    }

    #[test]
    fn exceptions_keep_a_signature_from_counting() {
        let mut refused = spec("refused", &["connection refused"]);
        refused.unless_line = "retrying".to_owned();
        refused.unless_text = "proxy".to_owned();
        refused.subject = r"to (\S+:\d+)".to_owned();
        let catalogue = Catalogue::new(vec![refused]);
        assert_eq!(matches(&catalogue, "connection refused, retrying", "", ""), []);
        assert_eq!(matches(&catalogue, "connection refused\nby the proxy", "", ""), []);
        let lines = read("connect to db:5432: connection refused", LineSource::Error, &Titles::new("", "")).lines;
        let found = catalogue.matches(&lines, &Titles::new("", ""));
        assert_eq!((found[0].subject.as_str(), found[0].span, found[0].lines), ("db:5432", [20, 38], 1));
    }

    proptest! {
        /// The literals only save work: what they select is what searching with every pattern finds.
        #[test]
        fn literals_lose_nothing(words in proptest::collection::vec("[a-c ]{0,6}(abc|bca|cab)?[a-c ]{0,6}", 0..6)) {
            let patterns = ["abc", r"bca\s*c", "(?:cab|acb)a", "a(?:bb|cc)b", r"\bcab\b", "[ab]c[ab]"];
            let catalogue = Catalogue::new(patterns.iter().map(|pattern| spec(pattern, &[pattern])).collect());
            for line in &words {
                let found: Vec<&str> = catalogue.of_line(line).into_iter().map(|(id, _)| id).collect();
                let plain: Vec<&str> = patterns.iter().copied().filter(|pattern| {
                    of_lines(pattern).is_match(line)
                }).collect();
                prop_assert_eq!(found, plain, "{}", line);
            }
        }
    }
}
