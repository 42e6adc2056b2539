//! `workspace.code`: the code that a failure is about: the statement of the test that failed, the definitions of the product that it uses, and
//! what changed last.

use super::blame;
use super::checkout::{Checkout, CheckoutTime};
use super::focus::FocusPath;
use super::folder;
use super::git::GitProgram;
use super::grep;
use super::lock;
use super::paths::{self, PathMatch};
use super::text::line as clean;
use asterisk_base::model::Case;
use asterisk_code::{
    CodeBlock, CodeUses, DefinitionLine, NameUse, SourceFile, Symbol, TextUse, answers, defines_step, language, may_define,
    requested_path, resolve, step_text,
};
use asterisk_evidence::{EvidenceFrame, EvidenceReader, FailureTexts, FrameLanguage, FrameOwner, ParsedFrame};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

/// Most frames of tests whose statements are read.
const TEST_FRAMES: usize = 3;
/// Most frames that are located.
const LOCATED_FRAMES: usize = 20;
/// Most names that are searched for at once.
const NAMES: usize = 40;
/// Most bytes of paths that are given to git; more are all files.
const PATHS_BYTES: usize = 100_000;
/// Most definitions of a name.
const DEFINITIONS: usize = 40;
/// Shortest name that is searched for.
const NAME_BYTES: usize = 3;
/// Most files of tests that one imports and that are read.
const SUPPORT_FILES: usize = 6;
/// Most steps of a scenario that are followed.
const STEPS: usize = 6;
/// How many calls are followed to a definition that was changed.
const CALLS: usize = 3;
/// Most definitions that are followed.
const REACHED: usize = 40;
/// Most changed files that are listed.
const CHANGED_FILES: usize = 20;
/// Most lines of a definition that only calls another, with its head.
const DELEGATE_LINES: u32 = 6;

/// What has been read of a checkout.
#[derive(Debug, Default)]
pub(super) struct CodeIndex {
    texts: Mutex<HashMap<String, Option<Arc<str>>>>,
    /// The definitions of a name in files whose language the given one calls.
    defined: Mutex<HashMap<(&'static str, String), Vec<DefinitionLine>>>,
    /// Whether a path is of tests by itself.
    tests: Mutex<HashMap<String, bool>>,
    /// The files of the product that were changed after a commit.
    since: Mutex<HashMap<String, Vec<String>>>,
    /// Whether the history has more than one commit.
    history: OnceLock<bool>,
}

/// A place in a test.
struct TestPlace {
    path: String,
    /// 0 if only the test is known.
    line: u32,
}

/// What a place in a test uses.
struct TestCode {
    block: CodeBlock,
    symbols: Vec<Symbol>,
    /// Whether it starts programs or sends requests.
    outside: bool,
}

/// Reads the code of one checkout for one failure.
pub(super) struct CodeReader<'r> {
    pub(super) git: Option<&'r GitProgram>,
    pub(super) checkout: &'r Checkout,
    pub(super) index: &'r CodeIndex,
    pub(super) reader: &'r EvidenceReader,
    pub(super) when: &'r CheckoutTime,
}

impl CodeReader<'_> {
    /// The answer for a failure, without the fields of the repository.
    pub(super) fn code(&self, case: &Case) -> Value {
        let log = case.log_snippet.text_or_error();
        let frames = self.reader.read(FailureTexts::of(case, &log)).frames;
        let located: Vec<(&EvidenceFrame, String)> = frames
            .iter()
            .filter(|frame| !frame.path.is_empty())
            .filter_map(|frame| Some((frame, self.locate(&frame.path, case)?)))
            .take(LOCATED_FRAMES)
            .collect();
        let places = located.iter().map(|(frame, path)| {
            let within = self.text(path).and_then(|text| Some(SourceFile::new(path, &text)?.block_around(frame.line).name));
            json!({ "source": frame.source, "number": frame.number, "path": path, "line": frame.line, "function": within.unwrap_or_default() })
        });
        let mut answer = asterisk_walk::unknown_code();
        answer["known"] = json!(!located.is_empty());
        answer["frames"] = places.collect();
        let mut tests = self.tests(case, &located);
        if tests.is_empty() {
            tests.extend(self.by_name(case));
        }
        let count = tests.len();
        let mut first = true;
        for (index, place) in tests.into_iter().enumerate() {
            let place = &self.step_definition(&place, case).unwrap_or(place);
            let Some(text) = self.text(&place.path) else { continue };
            let Some(file) = SourceFile::new(&place.path, &text) else { continue };
            let TestCode { block, symbols, outside } = self.symbols(place, &file, case);
            let line = if place.line > 0 { place.line } else { block.first };
            let statement = file.statement_at(line);
            if std::mem::take(&mut first) || !symbols.is_empty() {
                answer["known"] = json!(true);
                answer["test"] = json!({
                    "path": clean(&place.path), "line": line, "function": clean(&block.name), "begins": block.first,
                    "ends": block.last, "statement": clean(&statement.text), "exact": place.line > 0, "is_test": block.test, "outside": outside,
                });
            }
            if symbols.is_empty() && index + 1 < count {
                continue;
            }
            let row = row_of(&file, &block, &case.name);
            let lines = if place.line > 0 { (statement.first, statement.last) } else { (block.first, block.last) };
            self.add_changes(&mut answer, place, symbols, &[Some(lines), row.map(|row| (row, row))], case);
            break;
        }
        answer
    }

    /// The places in tests that frames name, the innermost first.
    fn tests(&self, case: &Case, located: &[(&EvidenceFrame, String)]) -> Vec<TestPlace> {
        let mut found = Vec::new();
        let mut of: Option<&EvidenceFrame> = None;
        for (frame, path) in located {
            // A log has the stacks of other tests, too.
            let other = of.is_some_and(|first| (first.trace, first.source) != (frame.trace, frame.source));
            if frame.line == 0 || found.len() == TEST_FRAMES || other {
                continue;
            }
            let in_test = || {
                let text = self.text(path)?;
                let file = SourceFile::new(path, &text)?;
                Some(file.block_around(frame.line).test || frame.line > file.tests_begin())
            };
            if self.is_test(path, case) || frame.owner == FrameOwner::Test || in_test() == Some(true) {
                found.push(TestPlace { path: path.clone(), line: frame.line });
                of = of.or(Some(frame));
            }
        }
        // A helper that checks says less about what is checked than its caller.
        found.sort_by_key(|place| !self.is_in_test(place));
        found
    }

    /// Whether a place is in a test, rather than in a helper.
    fn is_in_test(&self, place: &TestPlace) -> bool {
        let block = || Some(SourceFile::new(&place.path, &self.text(&place.path)?)?.block_around(place.line).test);
        block() == Some(true)
    }

    /// The definition of the step at a place in a feature file.
    fn step_definition(&self, place: &TestPlace, case: &Case) -> Option<TestPlace> {
        if !place.path.ends_with(".feature") {
            return None;
        }
        let text = self.text(&place.path)?;
        let step = step_text(text.lines().nth(usize::try_from(place.line.checked_sub(1)?).ok()?)?)?;
        let words = step.split(|letter: char| !letter.is_alphabetic());
        let mut found: Option<TestPlace> = None;
        let words: Vec<&str> = words.filter(|word| word.len() >= NAME_BYTES).collect();
        self.grep(
            &words,
            true,
            |path| language(path).is_some() && self.is_test(path, case),
            |path, line, text| {
                if found.is_none() && language(path).is_some_and(|language| defines_step(text, language, step)) {
                    found = Some(TestPlace { path: path.to_owned(), line });
                }
            },
        );
        found
    }

    /// The test by its name and the file that its suite means.
    fn by_name(&self, case: &Case) -> Option<TestPlace> {
        let simple = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
        let file = case.file.as_deref().and_then(|file| self.locate(file, case));
        // Without a suite, the first part of a name of several is that of the file.
        let suite = if case.suite.is_empty() { &case.name } else { &case.suite };
        let words: HashSet<String> = suite
            .split(|letter: char| ".:/\\>\u{203a}$".contains(letter))
            .map(simple)
            .filter(|word| word.len() > NAME_BYTES)
            .collect();
        let stem = |path: &str| path.rsplit('/').next().and_then(|name| name.split('.').next()).map(simple).unwrap_or_default();
        let candidates: Vec<&String> = match &file {
            Some(file) => vec![file],
            None => self
                .checkout
                .files
                .iter()
                .filter(|path| language(path).is_some() && words.contains(&stem(path)))
                .take(8)
                .collect(),
        };
        for path in candidates {
            let Some(text) = self.text(path) else { continue };
            let Some(file) = SourceFile::new(path, &text) else { continue };
            if named(&file, &case.name).is_some() {
                return Some(TestPlace { path: path.clone(), line: 0 });
            }
        }
        None
    }

    /// The block around a place, and the definitions of the product that the statement there uses.
    fn symbols(&self, place: &TestPlace, file: &SourceFile<'_>, case: &Case) -> TestCode {
        let (block, mut uses) = if place.line > 0 {
            let block = file.block_around(place.line);
            // The line of a test's head says which test failed, not where.
            let whole = block.first >= place.line && block.last > block.first;
            let uses = if whole { file.uses_of(&block) } else { file.uses(&block, place.line) };
            (block, uses)
        } else {
            let block = named(file, &case.name).unwrap_or_else(|| file.block_around(1));
            let uses = file.uses_of(&block);
            (block, uses)
        };
        for used in self.earlier_steps(place, case) {
            uses.add(used, 1);
        }
        for (name, used) in self.support(place, file, &uses, case) {
            for of_test in uses.names.iter_mut().filter(|of_test| of_test.name == name && of_test.qualifier.is_none()) {
                of_test.local = true;
            }
            uses.add(used, 2);
        }
        let mut symbols = self.resolved(&place.path, file, &uses.names, case);
        if let Some(deeper) = symbols.first().and_then(|symbol| self.delegate(symbol, case)) {
            symbols.insert(0, deeper);
        }
        // A request is about what answers it, whatever it is made with. A text that is passed to the product is its argument.
        let nearest = symbols.first().map_or(u8::MAX, |symbol| symbol.distance);
        let argument = |used: &TextUse| symbols.iter().any(|symbol| symbol.called && symbol.used == used.line) && !used.requested;
        let near = |used: &&TextUse| used.distance <= nearest && !argument(used);
        let named = uses.texts.iter().filter(near).find_map(|used| self.named_by_text(place, used, case));
        if let Some(symbol) = named {
            symbols.insert(0, symbol);
        }
        TestCode { block, symbols, outside: uses.leaves_the_process() }
    }

    fn resolved(&self, path: &str, file: &SourceFile<'_>, uses: &[NameUse], case: &Case) -> Vec<Symbol> {
        let uses: Vec<NameUse> = uses.iter().filter(|used| used.name.len() >= NAME_BYTES).cloned().collect();
        let defined = self.definitions(path, file, &uses, case);
        resolve(path, &file.imports(), &uses, &defined)
    }

    /// What the definitions of the other steps of a scenario use, the last first: they made what its last step checks.
    fn earlier_steps(&self, place: &TestPlace, case: &Case) -> Vec<CodeUses> {
        let Some(feature) =
            case.file.as_deref().filter(|file| file.ends_with(".feature")).and_then(|file| self.locate(file, case))
        else {
            return Vec::new();
        };
        let Some(text) = self.text(&feature) else { return Vec::new() };
        let title = |line: &str| line.trim_start().split_once(':').is_some_and(|(_, title)| title.trim() == case.name.trim());
        let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).skip_while(|(_, line)| !title(line)).skip(1).collect();
        let end = lines.iter().position(|(_, line)| line.trim_start().starts_with("Scenario")).unwrap_or(lines.len());
        let steps = lines[..end].iter().rev().filter(|(_, line)| step_text(line).is_some()).take(STEPS);
        let of = |(line, _): &(u32, &str)| {
            let at = self.step_definition(&TestPlace { path: feature.clone(), line: *line }, case)?;
            if at.path == place.path && at.line == place.line {
                return None;
            }
            let text = self.text(&at.path)?;
            let file = SourceFile::new(&at.path, &text)?;
            Some(file.uses_of(&file.block_around(at.line)))
        };
        steps.filter_map(of).collect()
    }

    /// What the names that other files of tests define use: fixtures of a `conftest.py`, helpers that the test imports.
    fn support(&self, place: &TestPlace, file: &SourceFile<'_>, uses: &CodeUses, case: &Case) -> Vec<(String, CodeUses)> {
        let imports = file.imports();
        let implicit = |path: &str| path.strip_suffix("conftest.py").is_some_and(|dir| place.path.starts_with(dir));
        let supports = |path: &&String| {
            **path != place.path
                && language(path).is_some_and(|language| file.language.calls(language))
                && (implicit(path) || imports.agreement(path) > 0)
                && self.is_test(path, case)
        };
        let mut found = Vec::new();
        for path in self.checkout.files.iter().filter(supports).take(SUPPORT_FILES) {
            let Some(text) = self.text(path) else { continue };
            let Some(support) = SourceFile::new(path, &text) else { continue };
            let mut names: Vec<&str> = uses.names.iter().map(|used| used.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let of = |name: &str| (name.to_owned(), support.uses_of_name(name));
            found.extend(names.into_iter().map(of).filter(|(_, used)| *used != CodeUses::default()));
        }
        found
    }

    /// The definition that a wrapper only delegates to, if it is in another file.
    fn delegate(&self, symbol: &Symbol, case: &Case) -> Option<Symbol> {
        let text = self.text(&symbol.path)?;
        let file = SourceFile::new(&symbol.path, &text)?;
        let body = body_of(&file, symbol);
        let mut inside = body.first + 1..=body.last;
        if body.last - body.first >= DELEGATE_LINES || inside.any(|line| file.language.defined(file.line(line)).is_some()) {
            return None;
        }
        let same_name = |used: &NameUse| used.name == symbol.name && used.qualifier.is_some();
        let of_other =
            |used: &NameUse| used.called && used.line > body.first && (same_name(used) || file.block_named(&used.name).is_none());
        let uses: Vec<NameUse> = file.uses_of(&body).names.into_iter().filter(of_other).collect();
        let found = self.resolved(&symbol.path, &file, &uses, case);
        let mut others = found.into_iter().filter(|other| other.path != symbol.path);
        let only = others.next().filter(|only| others.all(|other| other.path == only.path))?;
        Some(Symbol { distance: symbol.distance, used: symbol.used, called: true, ..only })
    }

    /// The program that a text of a test names (`run ./bin/backup`), or the line of the product that answers its request (`/books/9`).
    fn named_by_text(&self, place: &TestPlace, used: &TextUse, case: &Case) -> Option<Symbol> {
        let symbol = |name: &str, path: String, line: u32| Symbol {
            name: name.to_owned(),
            path,
            line,
            distance: used.distance,
            used: used.line,
            called: true,
        };
        let program = self.program(&used.text, case).or_else(|| self.installed(&used.text, case));
        if let Some(path) = program {
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            return Some(symbol(&name, path, 1));
        }
        let requested = requested_path(&used.text)?;
        let first = requested.split('/').nth(1)?;
        let mut found: Vec<(usize, String, u32)> = Vec::new();
        self.grep(
            &[&format!("{first}/"), &format!("/{first}")],
            false,
            |path| language(path).is_some() && *path != place.path && !self.is_test(path, case),
            |path, line, text| {
                let of = language(path).map_or(0, |language| answers(text, language, requested));
                if of > 0 {
                    found.push((of, path.to_owned(), line));
                }
            },
        );
        let most = found.iter().map(|(of, ..)| *of).max()?;
        found.retain(|(of, ..)| *of == most);
        // A router in a file of the resource's name, rather than the line that mounts it.
        let router = |path: &&String| {
            let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
            stem == first
                && language(path).is_some()
                && ["route", "controller", "view", "handler", "api"].iter().any(|dir| path.contains(dir))
        };
        let mut routers = self.checkout.files.iter().filter(router).filter(|path| !self.is_test(path, case));
        if let (Some(path), None) = (routers.next(), routers.next())
            && !found.iter().any(|(_, known, _)| known == path)
        {
            return Some(symbol(requested, path.clone(), 1));
        }
        let (_, path, line) = found.first()?.clone();
        // Two files that answer or ask for the same path: it is not known which is meant.
        found.iter().all(|(_, other, _)| *other == path).then(|| symbol(requested, path, line))
    }

    /// The file of the product behind the name of a program: a package that is run (`python -m NAME`), or the main file of a command.
    fn installed(&self, name: &str, case: &Case) -> Option<String> {
        let word = name.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
        if !word || name.len() < NAME_BYTES {
            return None;
        }
        let files = [
            format!("{name}/__main__.py"),
            format!("src/{name}/__main__.py"),
            format!("bin/{name}"),
            format!("bin/{name}.js"),
            format!("exe/{name}"),
            format!("cmd/{name}/main.go"),
            format!("src/bin/{name}.rs"),
            format!("src/{name}/cli.py"),
            format!("{name}/cli.py"),
            format!("{name}.py"),
            format!("{name}.sh"),
        ];
        files.into_iter().find(|file| self.checkout.files.binary_search(file).is_ok() && !self.is_test(file, case))
    }

    /// The file of the product that is run as a program by this text, if there is one.
    fn program(&self, text: &str, case: &Case) -> Option<String> {
        let text = text.split(char::is_whitespace).find(|word| word.contains(['/', '.']))?;
        // The beginning may be a variable: `$ROOT/bin/backup`.
        let fixed = text.rsplit('/').take_while(|part| !part.contains(['$', '{', '}', '(', '%']));
        let mut parts: Vec<&str> = fixed.filter(|part| !matches!(*part, "" | "." | "..")).collect();
        parts.reverse();
        let name = parts.last()?;
        if text.starts_with("//")
            || text.contains("://")
            || parts.len() < 2 && !self.checkout.files.iter().any(|file| file == name)
        {
            return None;
        }
        let PathMatch::File(path) = paths::find(&self.checkout.files, &FocusPath::parse(&parts.join("/"))) else { return None };
        // A path with more directories than the file's is another one of the same name.
        if parts.len() > path.split('/').count() || self.is_test(&path, case) {
            return None;
        }
        let script = || self.text(&path).is_some_and(|text| text.starts_with("#!"));
        (language(&path).is_some() || !name.contains('.') && script()).then_some(path)
    }

    /// The lines of the product that define names.
    fn definitions(
        &self,
        from: &str,
        file: &SourceFile<'_>,
        uses: &[NameUse],
        case: &Case,
    ) -> BTreeMap<String, Vec<DefinitionLine>> {
        let of = file.language.name;
        let mut names: Vec<&str> = uses.iter().map(|used| used.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(NAMES);
        let key = |name: &str| (of, name.to_owned());
        let missing: Vec<&str> = {
            let known = lock(&self.index.defined);
            names.iter().copied().filter(|name| !known.contains_key(&key(name))).collect()
        };
        if !missing.is_empty() {
            let mut found = self.search(from, &missing, case);
            lock(&self.index.defined).extend(missing.iter().map(|name| (key(name), found.remove(*name).unwrap_or_default())));
        }
        let known = lock(&self.index.defined);
        let begin = file.tests_begin();
        let lines = |name: &str| -> Vec<DefinitionLine> {
            let all = known.get(&key(name)).into_iter().flatten();
            // Definitions of the tests at the end of a product file are not product code.
            all.filter(|at| at.path != from || begin != u32::MAX && at.line < begin).cloned().collect()
        };
        names.into_iter().map(|name| (name.to_owned(), lines(name))).filter(|(_, lines)| !lines.is_empty()).collect()
    }

    fn search(&self, test: &str, names: &[&str], case: &Case) -> HashMap<String, Vec<DefinitionLine>> {
        let in_file = |path: &String| may_define(path, test) && !self.is_test(path, case);
        let mut found: HashMap<String, Vec<DefinitionLine>> = HashMap::new();
        let terms: Vec<&str> = names.iter().map(|name| name.trim_end_matches(['?', '!'])).collect();
        self.grep(&terms, true, in_file, |path, line, text| {
            let Some(name) = language(path).and_then(|language| language.defined(text)) else { return };
            if !names.contains(&name) {
                return;
            }
            let lines = found.entry(name.to_owned()).or_default();
            if lines.len() < DEFINITIONS {
                lines.push(DefinitionLine { path: path.to_owned(), line });
            }
        });
        found
    }

    /// Passes the lines of some files on that have one of the terms, or, without git, all of their lines.
    fn grep(&self, terms: &[&str], words: bool, wanted: impl Fn(&String) -> bool, mut take: impl FnMut(&str, u32, &str)) {
        let files: Vec<&String> = self.checkout.files.iter().filter(|path| wanted(path)).collect();
        let (Some(git), Some(commit), Some(dir)) = (self.git, &self.checkout.commit, &self.checkout.dir) else {
            for path in files {
                let Some(text) = self.text(path) else { continue };
                for (line, text) in (1..).zip(text.lines()) {
                    take(path, line, text);
                }
            }
            return;
        };
        if files.is_empty() {
            return;
        }
        let mut args = vec!["grep", "-z", "-n", "-I", "--no-textconv", "--threads=1", "--fixed-strings"];
        args.extend(words.then_some("--word-regexp"));
        for term in terms {
            args.extend(["-e", term]);
        }
        args.extend([commit.as_str(), "--"]);
        if files.iter().map(|path| path.len() + 1).sum::<usize>() < PATHS_BYTES {
            args.extend(files.iter().map(|path| path.as_str()));
        }
        let known: HashSet<&str> = files.iter().map(|path| path.as_str()).collect();
        let Ok(output) = git.run(dir, &args) else { return };
        let text = String::from_utf8_lossy(&output.text);
        for (path, number, line) in grep::rows(&text, output.cut) {
            if known.contains(path) {
                take(path, number, line);
            }
        }
    }

    /// Adds the symbols, when they and the statement were changed last, and what of the product was changed since the statement was. A
    /// definition that the first symbol reaches and that was changed since is more likely at fault than what reaches it, and becomes the first.
    fn add_changes(
        &self,
        answer: &mut Value,
        place: &TestPlace,
        mut symbols: Vec<Symbol>,
        of_test: &[Option<(u32, u32)>],
        case: &Case,
    ) {
        let changes =
            of_test.iter().flatten().map(|(first, last)| self.changed(&place.path, *first, *last)).filter(|one| !one.is_null());
        let of_test = changes.reduce(|one, other| if self.is_earlier(&one, &other) { other } else { one }).unwrap_or(Value::Null);
        let since = self.product_since(&of_test, case);
        if let Some(changed) = since.as_ref().and_then(|since| self.changed_below(&symbols, since, &of_test, case)) {
            symbols.retain(|symbol| (&symbol.path, symbol.line) != (&changed.path, changed.line));
            symbols.insert(0, changed);
        }
        let mut of_product = Value::Null;
        let mut listed = Vec::new();
        for (index, symbol) in symbols.iter().enumerate() {
            let mut one = json!({
                "name": clean(&symbol.name), "path": clean(&symbol.path), "line": symbol.line, "distance": symbol.distance, "used": symbol.used,
                "called": symbol.called,
            });
            if index == 0
                && let Some(text) = self.text(&symbol.path)
                && let Some(file) = SourceFile::new(&symbol.path, &text)
            {
                let body = body_of(&file, symbol);
                of_product = self.changed(&symbol.path, body.first, body.last);
                one["ends"] = json!(body.last);
            }
            listed.push(one);
        }
        answer["symbols"] = Value::Array(listed);
        answer["test"]["since"] =
            since.map_or(Value::Null, |since| since.iter().take(CHANGED_FILES).map(|path| clean(path)).collect());
        if !of_product.is_null() && !of_test.is_null() {
            let same = of_product["commit"] == of_test["commit"];
            answer["later"] = json!(if same {
                "together"
            } else if self.is_earlier(&of_test, &of_product) {
                "product"
            } else {
                "test"
            });
        }
        if !of_product.is_null() {
            answer["symbols"][0]["changed"] = of_product;
        }
        if !of_test.is_null() {
            answer["test"]["changed"] = of_test;
        }
    }

    /// Whether one change is an ancestor of another.
    fn is_earlier(&self, one: &Value, other: &Value) -> bool {
        let (Some(git), Some(dir)) = (self.git, &self.checkout.dir) else { return false };
        let (Some(one), Some(other)) = (one["commit"].as_str(), other["commit"].as_str()) else { return false };
        one != other && git.run(dir, &["merge-base", "--is-ancestor", one, other]).is_ok_and(|output| output.ok)
    }

    /// The files of the product that differ from those at a change; `None` if that is not known.
    fn product_since(&self, change: &Value, case: &Case) -> Option<Vec<String>> {
        let (git, commit, dir) = (self.git?, self.checkout.commit.as_ref()?, self.checkout.dir.as_ref()?);
        let since = change["commit"].as_str()?;
        if let Some(known) = lock(&self.index.since).get(since) {
            return Some(known.clone());
        }
        let output = git
            .run(dir, &["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative", since, commit, "--"])
            .ok()?;
        if !output.ok || output.cut {
            return None;
        }
        let text = String::from_utf8_lossy(&output.text);
        let product = |path: &&str| language(path).is_some() && !self.is_test(path, case);
        let files: Vec<String> = text.split('\0').filter(|path| !path.is_empty()).filter(product).map(str::to_owned).collect();
        let _earlier = lock(&self.index.since).insert(since.to_owned(), files.clone());
        Some(files)
    }

    /// The nearest definition that was changed since: the first symbol, or what it calls.
    fn changed_below(&self, symbols: &[Symbol], since: &[String], of_test: &Value, case: &Case) -> Option<Symbol> {
        let first = symbols.first()?;
        let mut level: Vec<Symbol> = vec![first.clone()];
        let mut seen: HashSet<(String, u32)> = HashSet::new();
        for _ in 0..=CALLS {
            let mut below = Vec::new();
            for symbol in level {
                if seen.len() >= REACHED || !seen.insert((symbol.path.clone(), symbol.line)) {
                    continue;
                }
                let Some(text) = self.text(&symbol.path) else { continue };
                let Some(file) = SourceFile::new(&symbol.path, &text) else { continue };
                let body = body_of(&file, &symbol);
                if since.contains(&symbol.path) && self.is_earlier(of_test, &self.changed(&symbol.path, body.first, body.last)) {
                    return Some(Symbol { distance: first.distance, used: first.used, ..symbol });
                }
                // A route names what answers it, a class what its methods are.
                let is_route = symbol.name.starts_with('/');
                let used = |used: &NameUse| used.called || is_route;
                let uses: Vec<NameUse> =
                    file.uses_of(&body).names.into_iter().filter(used).map(|used| NameUse { local: false, ..used }).collect();
                below.extend(self.resolved_with_own(&symbol.path, &file, &uses, case));
            }
            level = below;
        }
        None
    }

    /// As [`Self::resolved`], with the definitions of the file itself.
    fn resolved_with_own(&self, path: &str, file: &SourceFile<'_>, uses: &[NameUse], case: &Case) -> Vec<Symbol> {
        let own = |used: &&NameUse| file.block_named(&used.name).is_some();
        let mut found: Vec<Symbol> = uses
            .iter()
            .filter(own)
            .filter_map(|used| {
                let block = file.block_named(&used.name)?;
                Some(Symbol {
                    name: used.name.clone(),
                    path: path.to_owned(),
                    line: block.first,
                    distance: 0,
                    used: used.line,
                    called: true,
                })
            })
            .collect();
        let others: Vec<NameUse> = uses.iter().filter(|used| !own(used)).cloned().collect();
        found.extend(self.resolved(path, file, &others, case));
        found
    }

    /// The last commit that changed one of these lines; null if the history does not say.
    fn changed(&self, path: &str, first: u32, last: u32) -> Value {
        let (Some(git), Some(commit), Some(dir)) = (self.git, &self.checkout.commit, &self.checkout.dir) else {
            return Value::Null;
        };
        let more = || {
            git.run(dir, &["rev-list", "--max-count=2", commit, "--"])
                .is_ok_and(|output| output.text.split(|byte| *byte == b'\n').nth(2).is_some())
        };
        if !*self.index.history.get_or_init(more) {
            return Value::Null;
        }
        let Ok(lines) = blame::range(git, dir, commit, path, (first, last), self.when) else { return Value::Null };
        let latest = lines.iter().max_by_key(|line| line["date"].as_str().unwrap_or_default().to_owned());
        // The first commit of a shallow clone has every line.
        let Some(latest) = latest.filter(|line| !self.checkout.shallow || line["boundary"] != true) else { return Value::Null };
        json!({ "commit": latest["commit"], "date": latest["date"], "age_days": latest["age_days"], "author": latest["author"], "subject": latest["subject"] })
    }

    /// The file of the repository that a path of any machine means. Of several, the one in a directory that the suite names.
    fn locate(&self, path: &str, case: &Case) -> Option<String> {
        let files = &self.checkout.files;
        match paths::find(files, &FocusPath::parse(path)) {
            PathMatch::File(path) => return Some(path),
            PathMatch::Directory(_) => return None,
            PathMatch::None(_) => {}
        }
        let ending = format!("/{}", path.trim_start_matches('/'));
        let suite: Vec<&str> = case.suite.split(['/', '.', ':', '\\']).collect();
        let named = |file: &&String| {
            let dir = file.rsplit('/').nth(1).unwrap_or_default();
            file.ends_with(&ending) && suite.contains(&dir)
        };
        let mut of = files.iter().filter(named);
        let only = of.next()?;
        of.next().is_none().then(|| only.clone())
    }

    /// Whether a file is of tests, or not of the project. Most paths say so by themselves; the suite of a case may name its file.
    fn is_test(&self, path: &str, case: &Case) -> bool {
        let by_path = lock(&self.index.tests).get(path).copied();
        let by_path = by_path.unwrap_or_else(|| {
            let found = self.owner_is_not_product(path, FailureTexts::default());
            let _earlier = lock(&self.index.tests).insert(path.to_owned(), found);
            found
        });
        let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
        let names_it = || !stem.is_empty() && (case.suite.contains(stem) || case.name.contains(stem));
        by_path
            || names_it()
                && self
                    .owner_is_not_product(path, FailureTexts { name: &case.name, suite: &case.suite, ..FailureTexts::default() })
    }

    fn owner_is_not_product(&self, path: &str, texts: FailureTexts<'_>) -> bool {
        // The owners of named frames depend on their functions, which a path does not have.
        let language = match language(path).and_then(|language| FrameLanguage::named(language.name)) {
            None | Some(FrameLanguage::Jvm | FrameLanguage::Dotnet) => FrameLanguage::Other,
            Some(language) => language,
        };
        let frame = ParsedFrame { language, function: String::new(), path: path.to_owned(), line: 1 };
        self.reader.owner_reasons(texts, &[frame]).first().is_some_and(|reason| reason.owner != FrameOwner::Product)
    }

    /// A file at the commit.
    fn text(&self, path: &str) -> Option<Arc<str>> {
        if let Some(known) = lock(&self.index.texts).get(path) {
            return known.clone();
        }
        let dir = self.checkout.dir.as_ref()?;
        let text = match (self.git, &self.checkout.commit) {
            (Some(git), Some(commit)) => {
                let output = git.run(dir, &["show", "--no-textconv", &format!("{commit}:./{path}")]).ok()?;
                (output.ok && !output.cut && !output.text.contains(&0)).then(|| String::from_utf8_lossy(&output.text).into())
            }
            _ => folder::read(dir, path).map(Into::into),
        };
        let _earlier = lock(&self.index.texts).insert(path.to_owned(), text.clone());
        text
    }
}

/// The lines of a definition; of a route that is a decorator, those of the function below it.
fn body_of(file: &SourceFile<'_>, symbol: &Symbol) -> CodeBlock {
    if file.line(symbol.line).trim_start().starts_with(['@', '[']) {
        file.block_around(symbol.line)
    } else {
        file.definition_at(symbol.line)
    }
}

/// The row of a table of tests that a name with parameters means: a line of the block with the last part of the name in quotes.
fn row_of(file: &SourceFile<'_>, block: &CodeBlock, name: &str) -> Option<u32> {
    let last = name.rsplit(['/', '[']).next().filter(|last| last.len() < name.len())?.trim_end_matches(']');
    let spaced = last.replace('_', " ");
    let quoted = |line: &str| {
        [last, spaced.as_str()]
            .iter()
            .any(|text| ["\"", "'", "`"].iter().any(|quote| line.contains(&format!("{quote}{text}{quote}"))))
    };
    (block.first..=block.last).find(|line| quoted(file.line(*line)))
}

/// The test of a file with this name: whole, or its last words, without parameters.
fn named(file: &SourceFile<'_>, name: &str) -> Option<CodeBlock> {
    let whole = name.trim();
    let bare = whole.split(['[', '(']).next().unwrap_or(whole).split(" with data set").next().unwrap_or(whole).trim();
    let starts = |text: &'_ str| -> Vec<usize> {
        std::iter::once(0)
            .chain(
                text.char_indices()
                    .filter(|(_, letter)| " .:>\u{203a}".contains(*letter))
                    .map(|(at, letter)| at + letter.len_utf8()),
            )
            .take(16)
            .collect()
    };
    for text in [whole, bare] {
        for at in starts(text) {
            let part = text[at..].trim();
            if part.len() > 2
                && let Some(block) = file.test_named(part)
            {
                return Some(block);
            }
        }
    }
    None
}
