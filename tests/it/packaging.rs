//! The packages, and the files for CI systems and other tools: built, installed, run and removed here, as far as the tools for
//! that are installed. A missing tool skips its part, with a notice.

use crate::harness::{Project, Ran, repository};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const JUNIT: &str = r#"<testsuite name="s"><testcase classname="a.B" name="c"><failure message="boom">boom
  at a/b.py:3</failure></testcase></testsuite>"#;

/// The notice of a part that is left out.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// A tool: from a variable such as `ASTERISK_TEST_CARGO_DEB`, or from the path.
fn tool(name: &str) -> Option<PathBuf> {
    let variable = format!("ASTERISK_TEST_{}", name.to_uppercase().replace('-', "_"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file());
    let found = named.or_else(|| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file()));
    if found.is_none() {
        skipped(&format!("{name} is missing"));
    }
    found
}

#[track_caller]
fn done(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
fn runs(command: &mut Command) -> String {
    done(&command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")))
}

/// The packages, built once from the binary under test.
fn packages() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        for needed in ["bash", "tar", "gzip", "strip", "readelf", "python3"] {
            tool(needed)?;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("bash");
        command.args(["packaging/build", "--fast", "--binary", env!("CARGO_BIN_EXE_asterisk"), "--out"]).arg(dir.path());
        command.args(["archive", "wheel"]).current_dir(repository()).env_remove("CARGO_TARGET_DIR");
        let mut path: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        for (package, needed) in [("deb", "cargo-deb"), ("rpm", "cargo-generate-rpm"), ("npm", "npm")] {
            if let Some(tool) = tool(needed) {
                command.arg(package);
                path.push(tool.parent().unwrap().to_owned());
            }
        }
        runs(command.env("PATH", std::env::join_paths(path).unwrap()));
        Some(dir)
    });
    built.as_ref().map(tempfile::TempDir::path)
}

/// The package whose name ends so.
fn package(ending: &str) -> Option<PathBuf> {
    let mut found = fs::read_dir(packages()?).unwrap().map(|entry| entry.unwrap().path());
    found.find(|path| path.to_str().unwrap().ends_with(ending))
}

/// The installed program starts, and analyses without any other file.
#[track_caller]
fn works(program: &Path) {
    let project = Project::with(&[("junit.xml", JUNIT)]);
    assert_eq!(runs(Command::new(program).arg("--version")), format!("asterisk {}\n", env!("CARGO_PKG_VERSION")));
    let mut command = Command::new(program);
    let out = runs(
        command
            .arg("ci")
            .current_dir(project.root())
            .env_clear()
            .env("ASTERISK_SCRIPT_SECONDS", "60")
            .env("PATH", std::env::var_os("PATH").unwrap()),
    );
    assert!(out.contains("1 case, 1 cause"), "{out}");
}

#[test]
fn the_archive_unpacks_to_a_program_with_its_pages() {
    let Some(archive) = package(".tar.gz") else { return };
    let dir = tempfile::tempdir().unwrap();
    runs(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(dir.path()));
    let root = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    for file in [
        "LICENSE",
        "THIRD-PARTY.txt",
        "README.md",
        "man/asterisk.1",
        "man/asterisk-ci.1",
        "completions/_asterisk",
        "completions/asterisk.fish",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
    works(&root.join("asterisk"));
    let notices = fs::read_to_string(root.join("THIRD-PARTY.txt")).unwrap();
    let (listed, texts) = notices.split_once("\nUnder the Mozilla Public License 2.0: ").unwrap();
    for linked in ["rhai", "rusqlite", "ring", "selectors", "libmimalloc-sys"] {
        assert!(listed.contains(&format!("/{linked}-")), "{linked}");
    }
    let mozilla = texts.split_once(". ").unwrap().0;
    assert!(["cssparser", "dtoa-short", "selectors", "smartstring"].iter().all(|name| mozilla.contains(name)), "{mozilla}");
    assert!(texts.contains("THE SOFTWARE IS PROVIDED") && texts.contains("Mozilla Public License Version 2.0"));
    // The checksums are of the packages.
    runs(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(packages().unwrap()));
}

#[test]
fn the_debian_package_installs_runs_and_uninstalls_cleanly() {
    let (Some(deb), Some(dpkg)) = (package(".deb"), tool("dpkg")) else { return };
    let root = tempfile::tempdir().unwrap();
    for dir in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"] {
        fs::create_dir_all(root.path().join(dir)).unwrap();
    }
    fs::write(root.path().join("var/lib/dpkg/status"), "").unwrap();
    let run = |args: &[&std::ffi::OsStr]| {
        let mut command = Command::new(&dpkg);
        command.arg(format!("--root={}", root.path().display())).args([
            "--force-not-root",
            "--force-script-chrootless",
            "--log=/dev/null",
        ]);
        runs(command.args(args))
    };
    run(&["--install".as_ref(), deb.as_ref()]);
    works(&root.path().join("usr/bin/asterisk"));
    for file in [
        "usr/share/man/man1/asterisk.1.gz",
        "usr/share/bash-completion/completions/asterisk",
        "usr/share/zsh/vendor-completions/_asterisk",
    ] {
        assert!(root.path().join(file).is_file(), "{file}");
    }
    run(&["--purge".as_ref(), "asterisk-rca".as_ref()]);
    assert!(!root.path().join("usr/bin/asterisk").exists() && !root.path().join("usr/share/doc/asterisk-rca").exists());
    if let Some(lintian) = tool("lintian") {
        let out = Command::new(lintian).args(["--fail-on", "none", "--tag-display-limit", "0"]).arg(&deb).output().unwrap();
        let found = String::from_utf8_lossy(&out.stdout).into_owned();
        // The binary is self-contained on purpose; Debian's tracker does not have a bug that requests the package.
        let meant =
            ["statically-linked-binary", "embedded-library", "initial-upload-closes-no-bugs", "no-changelog", "hardening-no-"];
        let errors: Vec<&str> =
            found.lines().filter(|line| line.starts_with("E:") && !meant.iter().any(|tag| line.contains(tag))).collect();
        assert!(errors.is_empty(), "{found}");
    }
}

#[test]
fn the_rpm_installs_runs_and_uninstalls_cleanly() {
    let (Some(package), Some(rpm)) = (package(".rpm"), tool("rpm")) else { return };
    let root = tempfile::tempdir().unwrap();
    let run = |args: &[&std::ffi::OsStr]| runs(Command::new(&rpm).arg("--root").arg(root.path()).args(args));
    let is_root = runs(Command::new("id").arg("-u")).trim() == "0";
    if !is_root {
        skipped("rpm --root needs root");
        return;
    }
    run(&["--initdb".as_ref()]);
    // It asks for `/bin/sh`, as every RPM does, and an empty root has none.
    run(&["--install".as_ref(), "--nodeps".as_ref(), "--nosignature".as_ref(), package.as_ref()]);
    works(&root.path().join("usr/bin/asterisk"));
    assert!(root.path().join("usr/share/man/man1/asterisk.1").is_file());
    run(&["--erase".as_ref(), "asterisk-rca".as_ref()]);
    let left = runs(Command::new("find").arg(root.path().join("usr")).args(["-name", "*asterisk*"]));
    assert_eq!(left, "");
}

#[test]
fn the_wheel_puts_the_program_into_an_environment() {
    let (Some(wheel), Some(python)) = (package(".whl"), tool("python3")) else { return };
    let dir = tempfile::tempdir().unwrap();
    if !Command::new(python).args(["-m", "venv"]).arg(dir.path()).output().unwrap().status.success() {
        skipped("python3 lacks venv");
        return;
    }
    let pip = |args: &[&std::ffi::OsStr]| {
        runs(Command::new(dir.path().join("bin/pip")).args(args).args(["--quiet", "--disable-pip-version-check"]))
    };
    pip(&["install".as_ref(), "--no-index".as_ref(), wheel.as_ref()]);
    works(&dir.path().join("bin/asterisk"));
    pip(&["uninstall".as_ref(), "--yes".as_ref(), "asterisk-rca".as_ref()]);
    assert!(!dir.path().join("bin/asterisk").exists());
}

#[test]
fn the_npm_packages_put_the_program_into_a_project() {
    let (Some(npm), Some(_)) = (tool("npm"), tool("node")) else { return };
    let version = env!("CARGO_PKG_VERSION");
    let tarballs = [format!("asterisk-rca-{version}.tgz"), format!("asterisk-rca-linux-x64-{version}.tgz")];
    let Some(dir) = packages() else { return };
    let tarballs: Vec<PathBuf> = tarballs.iter().map(|name| dir.join(name)).collect();
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("package.json"), r#"{ "name": "shop", "version": "1.0.0" }"#).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let run = |args: &[&str], more: &[PathBuf]| {
        let mut command = Command::new(&npm);
        command.args(args).args(["--offline", "--no-audit", "--no-fund", "--silent"]).args(more);
        runs(command.current_dir(project.path()).env("npm_config_cache", cache.path()))
    };
    run(&["install"], &tarballs);
    works(&project.path().join("node_modules/.bin/asterisk"));
    let failed = Command::new(project.path().join("node_modules/.bin/asterisk")).arg("no-such-command").output().unwrap();
    assert_eq!(failed.status.code(), Some(2), "the exit code is the program's");
    run(&["uninstall", "asterisk-rca", "asterisk-rca-linux-x64"], &[]);
    assert!(!project.path().join("node_modules/.bin/asterisk").exists());
    // Without a binary for the platform, it says so.
    run(&["install", "--omit=optional"], &tarballs[..1]);
    let alone = Command::new(project.path().join("node_modules/.bin/asterisk")).output().unwrap();
    assert!(String::from_utf8_lossy(&alone.stderr).contains("asterisk-rca-linux-x64 is not installed"), "{alone:?}");
}

/// The instructions of the Containerfile.
fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(repository().join("packaging/Containerfile")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once(' ').unwrap()).map(|(word, rest)| (word.to_owned(), rest.to_owned())).collect()
}

#[test]
fn the_container_contains_only_the_static_binary() {
    let all = instructions();
    let of = |word: &str| all.iter().filter(|(own, _)| own == word).map(|(_, rest)| rest.as_str()).collect::<Vec<_>>();
    assert_eq!((of("FROM"), of("USER")), (vec!["scratch"], vec!["65532:65532"]));
    assert!(of("RUN").is_empty(), "there is no shell");
    // What the builder would do, in an empty root: copy, take the user, start.
    let binary = repository().join("target/x86_64-unknown-linux-musl/dist/asterisk");
    let binary = std::env::var_os("ASTERISK_TEST_STATIC").map_or(binary, PathBuf::from);
    let is_root = runs(Command::new("id").arg("-u")).trim() == "0";
    if !binary.is_file() || !is_root {
        skipped(&format!("no static binary ({}), or not root", binary.display()));
        return;
    }
    let root = tempfile::tempdir().unwrap();
    for copy in of("COPY") {
        let mut parts: Vec<&str> = copy.split(' ').filter(|part| !part.starts_with("--")).collect();
        let to = root.path().join(parts.pop().unwrap().trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        match parts.as_slice() {
            ["asterisk"] => assert!(fs::copy(&binary, &to).unwrap() > 0),
            ["tmp"] => fs::create_dir(&to).unwrap(),
            // Not part of the program.
            ["LICENSE", "THIRD-PARTY.txt"] => {}
            other => panic!("{other:?} is not in the context"),
        }
    }
    let work = root.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("junit.xml"), JUNIT).unwrap();
    runs(Command::new("chown").arg("-R").arg("65532:65532").arg(&work).arg(root.path().join("tmp")));
    runs(Command::new("chmod").arg("755").arg(root.path()));
    let entry: Vec<String> = serde_json::from_str(of("ENTRYPOINT")[0]).unwrap();
    let start = |args: &[&str]| {
        // The working directory of a process in a new root is its root.
        let mut command = Command::new("chroot");
        command.arg("--userspec=65532:65532").arg(root.path()).args(&entry).args(args);
        command.output().unwrap()
    };
    let version = start(&["--version"]);
    if !version.status.success() && String::from_utf8_lossy(&version.stderr).contains("cannot change root") {
        skipped("chroot is not allowed");
        return;
    }
    assert_eq!(done(&version), format!("asterisk {}\n", env!("CARGO_PKG_VERSION")));
    let ran = start(&["ci", "/work/junit.xml", "--out", "/work/asterisk-report", "--store", "/work/a.db", "--format", "json"]);
    // Its own directory of runs is not writable in the root.
    assert!(ran.status.success() || String::from_utf8_lossy(&ran.stderr).contains("/.asterisk"), "{ran:?}");
    let dry = start(&["run", "--dry-run", "--input", "/work/junit.xml"]);
    assert!(done(&dry).contains("1 case, 1 cause"));
}

/// A YAML file of the repository.
fn yaml(path: &str) -> Value {
    let text = fs::read_to_string(repository().join(path)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An action run as GitHub's runner does, as far as its own shell goes: the shell steps in their order, with expressions filled in. Steps of
/// other actions are listed.
struct ActionRun {
    project: Project,
    inputs: BTreeMap<String, String>,
    /// The directory that replaces the package index.
    index: Option<PathBuf>,
    outputs: BTreeMap<String, BTreeMap<String, String>>,
    used: Vec<String>,
    last: Option<i32>,
}

impl ActionRun {
    fn new(project: Project, given: &[(&str, &str)]) -> Self {
        let action = yaml("action.yml");
        let default = |input: &Value| input["default"].as_str().unwrap_or_else(|| panic!("{input}")).to_owned();
        let inputs = action["inputs"].as_object().unwrap();
        let mut values: BTreeMap<String, String> = inputs.iter().map(|(name, input)| (name.clone(), default(input))).collect();
        for (name, value) in given {
            assert!(values.insert((*name).to_owned(), (*value).to_owned()).is_some(), "{name} is not an input");
        }
        Self { project, inputs: values, index: None, outputs: BTreeMap::new(), used: Vec::new(), last: None }
    }

    /// The value of an expression: an input, an output of a step, or of the context `github`.
    fn value(&self, expression: &str) -> String {
        let parts: Vec<&str> = expression.trim().split('.').collect();
        match parts[..] {
            ["inputs", name] => self.inputs.get(name).unwrap_or_else(|| panic!("{expression}")).clone(),
            ["steps", step, "outputs", name] => self.outputs.get(step).and_then(|all| all.get(name)).cloned().unwrap_or_default(),
            ["github", name @ ("workflow" | "job" | "run_id" | "run_attempt")] => name.to_owned(),
            ["toJSON(matrix)"] => "{\n  \"os\": \"linux\",\n  \"shard\": 2\n}".to_owned(),
            _ => panic!("unknown: {expression}"),
        }
    }

    fn filled(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let (expression, after) = after.split_once("}}").unwrap();
            out += before;
            out += &self.value(expression);
            rest = after;
        }
        out + rest
    }

    /// Conditions are `always()` and comparisons with a text, joined by `&&`. Without `always()`, all steps so far must have succeeded.
    fn holds(&self, condition: &str) -> bool {
        let mut parts: Vec<&str> = condition.split("&&").collect();
        let conditions = parts.len();
        parts.retain(|part| part.trim() != "always()");
        let is_reached = parts.len() < conditions || self.last.is_none_or(|code| code == 0);
        is_reached
            && parts.into_iter().all(|part| {
                let (equal, (left, right)) = match part.split_once("==") {
                    Some(sides) => (true, sides),
                    None => (false, part.split_once("!=").unwrap()),
                };
                (self.value(left) == right.trim().trim_matches('\'')) == equal
            })
    }

    fn run(mut self) -> Self {
        let action = yaml("action.yml");
        for step in action["runs"]["steps"].as_array().unwrap() {
            // A step without a condition runs if all before it succeeded.
            if !self.holds(step["if"].as_str().unwrap_or("github.job == 'job'")) {
                continue;
            }
            if let Some(uses) = step["uses"].as_str() {
                let with: Map<String, Value> = step["with"].as_object().cloned().unwrap_or_default();
                let with: Vec<String> =
                    with.iter().map(|(name, value)| format!("{name}={}", self.filled(value.as_str().unwrap()))).collect();
                self.used.push(format!("{uses} {}", with.join(" ")));
                continue;
            }
            let script = step["run"].as_str().unwrap();
            assert!(!script.contains("${{"), "what users give is never part of a script: {script}");
            let at = self.filled(step["working-directory"].as_str().unwrap_or("."));
            let mut command = Command::new("bash");
            command
                .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
                .current_dir(self.project.root().join(at))
                .env_clear();
            command
                .env("PATH", std::env::var_os("PATH").unwrap())
                .env("HOME", self.project.root())
                .env("ASTERISK_SCRIPT_SECONDS", "60");
            for (name, value) in [
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_WORKFLOW", "build"),
                ("GITHUB_JOB", "test"),
                ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
                ("GITHUB_RUN_NUMBER", "3"),
            ] {
                command.env(name, value);
            }
            if let Some(index) = &self.index {
                command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", index);
            }
            let files = [("GITHUB_OUTPUT", ".out"), ("GITHUB_STEP_SUMMARY", ".summary"), ("RUNNER_TEMP", ".temp")];
            for (name, file) in files {
                command.env(name, self.project.root().join(file));
            }
            for (name, value) in step["env"].as_object().into_iter().flatten() {
                command.env(name, self.filled(value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str()));
            }
            let ran: Ran = self.project.ran(&command.output().unwrap());
            self.last = ran.code;
            let written = fs::read_to_string(self.project.root().join(".out")).unwrap_or_default();
            fs::write(self.project.root().join(".out"), "").unwrap();
            if let Some(id) = step["id"].as_str() {
                let outputs = written
                    .lines()
                    .map(|line| line.split_once('=').unwrap())
                    .map(|(name, value)| (name.to_owned(), value.to_owned()));
                self.outputs.insert(id.to_owned(), outputs.collect());
            }
        }
        self
    }
}

#[test]
fn the_action_runs_uploads_and_fails_by_its_gates() {
    if tool("bash").is_none() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_asterisk");
    let with = |given: &[(&str, &str)]| {
        let project = Project::with(&[("app/test-results/junit.xml", JUNIT), ("app/my reports/x.xml", JUNIT)]);
        ActionRun::new(project, &[&[("asterisk", program), ("working-directory", "app")], given].concat()).run()
    };
    let ran = with(&[("upload-sarif", "true")]);
    assert_eq!(ran.last, Some(0));
    let outputs = &ran.outputs["run"];
    assert_eq!((outputs["failures"].as_str(), outputs["exit-code"].as_str()), ("1", "0"));
    assert!(ran.project.read(".summary").starts_with("## 1 cause of 1 failed test"));
    let used: Vec<&str> = ran.used.iter().map(|used| used.split('@').next().unwrap()).collect();
    let (restored, saved) = ("actions/cache/restore", "actions/cache/save");
    assert_eq!(used, [restored, saved, "github/codeql-action/upload-sarif", "actions/upload-artifact"]);
    // A cache that was saved is restored by the next run of that job.
    let with_key = |used: &str| used.split("key=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let (restore, key) = (&ran.used[0], with_key(&ran.used[1]));
    assert_eq!(with_key(restore), key);
    let prefix = key.strip_suffix("run_id-run_attempt").unwrap();
    assert!(restore.ends_with(&format!("restore-keys={prefix}")) && prefix.starts_with("asterisk-workflow-job-"), "{restore}");
    assert!(key.len() < 512 && !key.contains([',', '\n', '"']), "{key}");
    assert!(ran.used[2].contains("sarif_file=app/asterisk-report/causes.sarif"), "{:?}", ran.used);
    assert!(ran.project.root().join("app/asterisk-report/causes.sarif").is_file());
    for (name, output) in yaml("action.yml")["outputs"].as_object().unwrap() {
        assert!(!ran.filled(output["value"].as_str().unwrap()).is_empty(), "{name}");
    }
    // Several gates and paths, with spaces and what a shell would take for more.
    let ran = with(&[("paths", "my reports\n"), ("fail-on", "causes > 5\ncauses > 0 && failures == 1\n"), ("history", "false")]);
    assert_eq!(ran.last, Some(1));
    assert_eq!(ran.used.len(), 1, "the report is uploaded all the same: {:?}", ran.used);
    let ran = with(&[("fail-on", "causes > 0"), ("upload-report", "false")]);
    let used: Vec<&str> = ran.used.iter().map(|used| used.split('@').next().unwrap()).collect();
    assert_eq!((ran.last, used), (Some(1), vec![restored, saved]), "the history of a job that fails is saved");
    let ran = with(&[("paths", "$(touch owned)")]);
    assert_ne!(ran.last, Some(0));
    assert!(!ran.project.root().join("app/owned").exists());
    // A job without reports fails unless that is allowed.
    let empty = |given: &[(&str, &str)]| ActionRun::new(Project::new(), &[&[("asterisk", program)], given].concat()).run();
    assert_eq!(empty(&[]).last, Some(2));
    assert_eq!(empty(&[("allow-empty", "true")]).last, Some(0));
}

/// Without a program, the action installs the one of its version; the packages built here replace the index.
#[test]
fn the_action_installs_the_program() {
    let (Some(wheel), Some(python), Some(_)) = (package(".whl"), tool("python3"), tool("bash")) else { return };
    if !Command::new(python).args(["-c", "import venv, ensurepip"]).output().unwrap().status.success() {
        skipped("python3 lacks venv");
        return;
    }
    let project = Project::with(&[("test-results/junit.xml", JUNIT)]);
    let action = ActionRun { index: wheel.parent().map(Path::to_owned), ..ActionRun::new(project, &[]) };
    let ran = action.run();
    assert_eq!(ran.last, Some(0));
    assert_eq!(ran.outputs["install"]["asterisk"], ran.project.root().join(".temp/asterisk/bin/asterisk").to_str().unwrap());
    assert_eq!(ran.outputs["run"]["failures"], "1");
}

#[test]
fn the_version_of_the_action_is_the_programs() {
    let action = yaml("action.yml");
    assert_eq!(action["runs"]["steps"][0]["env"]["VERSION"].as_str(), Some(env!("CARGO_PKG_VERSION")));
}

/// Runs a line of a CI configuration by the shell, the built program in its path.
fn line(project: &Project, text: &str, variables: &[(&str, &str)]) -> Ran {
    let bin = Path::new(env!("CARGO_BIN_EXE_asterisk")).parent().unwrap();
    let mut command = Command::new("sh");
    command.args(["-ec", text]).current_dir(project.root()).env_clear().env("ASTERISK_SCRIPT_SECONDS", "60");
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())).envs(variables.iter().copied());
    project.ran(&command.output().unwrap())
}

#[test]
fn the_gitlab_template_and_the_jenkinsfile_run() {
    let template = yaml("packaging/ci/gitlab.yml");
    let job = &template[".asterisk"];
    let steps =
        ["before_script", "script"].iter().flat_map(|key| job[key].as_array().unwrap()).map(|step| step.as_str().unwrap());
    let script = steps.collect::<Vec<_>>().join("\n");
    let project = Project::with(&[("reports/junit.xml", JUNIT)]);
    let variables = [("GITLAB_CI", "true"), ("RCA_ARGUMENTS", "--fail-on 'by_category.unknown > 7'")];
    let ran = line(&project, &script, &variables).exits(0);
    assert!(ran.stdout.contains("GitLab CI: asterisk-report/summary.md"), "{}", ran.text());
    let quality = job["artifacts"]["reports"]["codequality"].as_str().unwrap();
    assert!(project.root().join(quality).is_file());
    line(&project, &script, &[("GITLAB_CI", "true"), ("RCA_ARGUMENTS", "--fail-on 'causes > 0'")]).exits(1);

    let jenkins = fs::read_to_string(repository().join("packaging/ci/Jenkinsfile")).unwrap();
    assert_eq!(jenkins.matches('{').count(), jenkins.matches('}').count());
    let shell = jenkins.lines().filter_map(|line| line.trim().strip_prefix("sh \"")?.strip_suffix('"')).collect::<Vec<_>>();
    assert_eq!(shell.len(), 1, "{jenkins}");
    let ran = line(&project, shell[0], &[("JENKINS_URL", "http://jenkins/"), ("JOB_NAME", "shop")]);
    assert!(ran.stdout.contains("Jenkins: asterisk-report/summary.md"), "{}", ran.text());
    let pattern = jenkins.split("pattern: '").nth(1).unwrap().split('\'').next().unwrap();
    assert!(project.root().join(pattern).is_file());
}

#[test]
fn the_pre_commit_hooks_check_a_project() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let entries: Vec<&str> = hooks.as_array().unwrap().iter().map(|hook| hook["entry"].as_str().unwrap()).collect();
    assert_eq!(entries, ["asterisk lint", "asterisk test"]);
    let project = Project::new();
    project.asterisk(&["init", "--minimal"]).exits(0);
    for entry in &entries {
        line(&project, entry, &[]).exits(0);
    }
    let (Some(pre_commit), Some(git)) = (tool("pre-commit"), tool("git")) else { return };
    let bin = Path::new(env!("CARGO_BIN_EXE_asterisk")).parent().unwrap();
    let path = format!("{}:{}:/usr/local/bin:/usr/bin:/bin", bin.display(), pre_commit.parent().unwrap().display());
    // The hooks as a separate repository, and the project as another.
    let source = tempfile::tempdir().unwrap();
    fs::copy(repository().join(".pre-commit-hooks.yaml"), source.path().join(".pre-commit-hooks.yaml")).unwrap();
    let run = |program: &Path, at: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(at).env_clear().env("PATH", &path).env("HOME", project.root());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("ASTERISK_SCRIPT_SECONDS", "60");
        command.output().unwrap()
    };
    for at in [source.path(), project.root()] {
        done(&run(&git, at, &["init", "--quiet"]));
        done(&run(&git, at, &["add", "."]));
        done(&run(&git, at, &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "t"]));
    }
    let tried =
        |hook: &str| run(&pre_commit, project.root(), &["try-repo", source.path().to_str().unwrap(), hook, "--all-files"]);
    for hook in ["asterisk-lint", "asterisk-test"] {
        let out = done(&tried(hook));
        assert!(out.contains("Passed"), "{out}");
    }
    let rules = project.read("scripts/rules/rca.rhai");
    project.file("scripts/rules/rca.rhai", rules.replace("artifact.confidence <", "artifact.confidense <"));
    assert!(!tried("asterisk-lint").status.success());
}
