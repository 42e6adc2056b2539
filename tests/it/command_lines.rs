//! Command lines as the manuals of the programs allow them, and in unusual forms: commands that the policy allows without approval
//! change nothing, read nothing outside, reach no network and leave no process, also without the sandbox.

use crate::harness::{Project, full_size};
use crate::tool_policy::Chance;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The content of the files outside of the working directory.
const SECRET: &str = "canary-secret";
/// The longest that a command runs: some never end.
const MOMENT: Duration = Duration::from_millis(400);
/// The most bytes of its output that are looked at.
const MAX_OUTPUT: u64 = 64 << 10;
const SIGSYS: i32 = 31;

// ---- the grammar ---------------------------------------------------------------------------------------------------

/// Programs with their options. A value is `=` and its kind: FILE, DIR, N, TEXT, CMD, SED, AWK; after the options come the kinds of
/// the operands.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("cat", "-A -b -e -E -n -s -t -T -u -v --number --show-all --squeeze-blank --help --output=FILE", "FILE FILE"),
    ("tac", "-b -r -s=TEXT --separator=TEXT --before", "FILE"),
    ("head", "-n=N -c=N -q -v -z -5 --lines=N --bytes=N --quiet --follow -f", "FILE FILE"),
    ("tail", "-n=N -c=N -q -f -F -3 --lines=N --follow --retry --pid=N --sleep-interval=N", "FILE"),
    (
        "cut",
        "-d=TEXT -f=N -c=N -b=N -s -z --fields=N --delimiter=TEXT --complement --output-delimiter=TEXT --output=FILE",
        "FILE",
    ),
    ("paste", "-d=TEXT -s -z --serial --delimiters=TEXT", "FILE FILE"),
    ("join", "-t=TEXT -1=N -2=N -j=N -a=N -v=N -e=TEXT -o=TEXT -i --header --check-order", "FILE FILE"),
    ("comm", "-1 -2 -3 -12 -z --total --output-delimiter=TEXT --nocheck-order", "FILE FILE"),
    ("cmp", "-b -l -s -n=N -i=N --verbose --bytes=N", "FILE FILE"),
    (
        "diff",
        "-u -r -q -N -i -w -B -y -U=N -C=N -x=TEXT -I=TEXT -D=TEXT -l -p --brief --unified=N --output=FILE --from-file=FILE --to-file=FILE --exclude-from=FILE --starting-file=FILE --paginate",
        "FILE FILE",
    ),
    ("nl", "-b=TEXT -n=TEXT -s=TEXT -w=N -p --body-numbering=TEXT", "FILE"),
    ("fold", "-w=N -b -s -20 --width=N", "FILE"),
    ("fmt", "-w=N -s -u -t -c -p=TEXT --width=N", "FILE"),
    ("pr", "-d -t -h=TEXT -l=N -w=N -n --header=TEXT", "FILE"),
    ("od", "-c -x -b -A=TEXT -t=TEXT -N=N -j=N -v --address-radix=TEXT --traditional", "FILE"),
    ("xxd", "-b -p -l=N -s=N -r -i -c=N -u -a -E -C -revert -r=FILE", "FILE FILE"),
    ("strings", "-a -n=N -t=TEXT -e=TEXT -8 --all --bytes=N -o -T=TEXT --target=TEXT", "FILE"),
    ("base64", "-d -i -w=N --decode --wrap=N -o=FILE --output=FILE", "FILE"),
    ("wc", "-l -w -c -m -L --lines --words --files0-from=FILE --total=TEXT", "FILE FILE"),
    (
        "sort",
        "-n -r -u -k=N -t=TEXT -o=FILE -m -c -C -S=N -T=DIR -z -V -R -h --output=FILE --compress-program=CMD --files0-from=FILE --parallel=N --random-source=FILE --temporary-directory=DIR --batch-size=N --debug --key=N --unique",
        "FILE FILE",
    ),
    ("uniq", "-c -d -i -u -D -f=N -s=N -w=N -z --count --repeated --group --skip-fields=N", "FILE FILE"),
    ("tr", "-d -s -c -C -t --delete --squeeze-repeats", "TEXT TEXT"),
    (
        "ls",
        "-l -a -A -R -t -S -h -d -1 -i -F -Z -I=TEXT -w=N --all --recursive --color --color=TEXT --sort=TEXT --time-style=TEXT --hyperlink --dired --block-size=N",
        "FILE FILE",
    ),
    ("tree", "-a -d -L=N -P=TEXT -I=TEXT -f -h -o=FILE --fromfile --output=FILE --noreport -R -H=TEXT", "DIR"),
    ("stat", "-c=TEXT -f -t -L --format=TEXT --printf=TEXT --cached=TEXT", "FILE"),
    ("file", "-b -i -m=FILE -C -z -Z -s -f=FILE -S -k --brief --mime --magic-file=FILE --compile --files-from=FILE", "FILE"),
    ("du", "-a -h -s -c -k -d=N -x -L -X=FILE --max-depth=N --files0-from=FILE --exclude-from=FILE --summarize --time", "DIR"),
    ("df", "-h -T -a -P --output --sync -t=TEXT", "DIR"),
    ("basename", "-a -s=TEXT -z --suffix=TEXT", "TEXT"),
    ("dirname", "-z", "TEXT"),
    ("realpath", "-e -m -q -s -z --relative-to=DIR --strip", "FILE"),
    ("readlink", "-f -e -m -n -q -v", "FILE"),
    ("pwd", "-L -P", ""),
    ("whoami", "--version", ""),
    ("id", "-u -g -n -G -r -Z -un", ""),
    ("uname", "-a -s -r -m --all", ""),
    ("hostname", "-f -i -s -F=FILE -b --file=FILE", "TEXT"),
    ("date", "-u -R -d=TEXT -r=FILE -s=TEXT -f=FILE --set=TEXT --file=FILE --utc --date=TEXT --reference=FILE -I", "FORMAT"),
    ("seq", "-w -s=TEXT -f=TEXT --format=TEXT", "N N"),
    ("sleep", "", "N"),
    ("which", "-a -s", "TEXT"),
    ("md5sum", "-b -t -c -z --check --tag --strict --quiet", "FILE"),
    ("sha256sum", "-b -c --check --ignore-missing --zero", "FILE"),
    ("cksum", "-a=TEXT --algorithm=TEXT --check --raw", "FILE"),
    ("gzip", "-l -t -c -d -k -f -v -r -9 -S=TEXT --stdout --list --test --keep --recursive --force --name", "FILE"),
    ("zcat", "-f -k -S=TEXT --force", "FILE"),
    (
        "grep",
        "-n -r -R -i -v -c -l -L -o -w -E -F -P -A=N -B=N -m=N -e=TEXT -f=FILE -q -s -H -h -Z -D=TEXT -d=TEXT --include=TEXT --exclude=TEXT --exclude-from=FILE --exclude-dir=TEXT --color --file=FILE --regexp=TEXT --devices=TEXT --directories=TEXT --dereference-recursive",
        "TEXT FILE FILE",
    ),
    ("egrep", "-n -c -o -f=FILE", "TEXT FILE"),
    (
        "rg",
        "-n -i -l -c -e=TEXT -f=FILE -g=TEXT -z -L -A=N --pre=CMD --pre-glob=TEXT --hostname-bin=CMD --files --search-zip --follow --ignore-file=FILE --json",
        "TEXT FILE",
    ),
    (
        "sed",
        "-n -E -r -s -u -z -i -i=TEXT -e=SED -f=FILE -l=N --in-place --in-place=TEXT --expression=SED --file=FILE --quiet --posix --debug --follow-symlinks --sandbox --line-length=N",
        "SED FILE",
    ),
    (
        "awk",
        "-F=TEXT -v=TEXT -f=FILE -i=TEXT -o=FILE -d=FILE -p=FILE -l=TEXT -e=AWK -E=FILE --source=AWK --file=FILE --profile=FILE --pretty-print=FILE --dump-variables=FILE --load=TEXT --include=TEXT --exec=FILE --sandbox",
        "AWK FILE",
    ),
    (
        "jq",
        "-r -c -s -n -e -S -M -j -a -f=FILE -L=DIR --arg=TEXT --slurpfile=TEXT --rawfile=TEXT --from-file=FILE --indent=N --tab --argjson=TEXT --run-tests=FILE --args --jsonargs",
        "JQ FILE",
    ),
    ("test", "-e -f -d -r -s -n -z -L -x -v -t", "FILE"),
    ("echo", "-n -e -E", "TEXT FILE"),
    ("printf", "-v=TEXT --", "TEXT TEXT"),
    ("expr", "", "N TEXT N"),
    ("true", "--help", ""),
    (
        "tar",
        "-tf=FILE tf=FILE -tvf=FILE -ztf=FILE -xf=FILE xf=FILE -cf=FILE czf=FILE -rf=FILE -x -C=DIR -I=CMD --to-command=CMD --use-compress-program=CMD --checkpoint-action=TEXT --one-top-level --file=FILE --rsh-command=CMD --index-file=FILE -T=FILE --wildcards",
        "FILE",
    ),
    ("unzip", "-l -p -t -v -Z1 -o -d=DIR -n -j -x=TEXT", "FILE TEXT"),
    (
        "find",
        "-name=TEXT -iname=TEXT -path=TEXT -type=TEXT -size=N -mtime=N -newer=FILE -maxdepth=N -mindepth=N -perm=N -empty -print -print0 -ls -quit -prune -printf=TEXT -delete -exec=EXEC -execdir=EXEC -ok=EXEC -okdir=EXEC -fprint=FILE -fprint0=FILE -fprintf=FILE -fls=FILE -files0-from=FILE -samefile=FILE -regex=TEXT -L -H -D=TEXT -O3 -o -a ! -not -follow -mount -depth",
        "DIR",
    ),
    ("git status", "--short --porcelain -s -b -v --ignored -u=TEXT --column --untracked-files=TEXT", "FILE"),
    (
        "git log",
        "-p --stat --oneline -n=N -3 --graph --all --output=FILE --ext-diff --textconv --format=TEXT --show-signature -S=TEXT -G=TEXT -L=TEXT --follow -O=TEXT",
        "REV FILE",
    ),
    ("git show", "--stat --name-only --textconv --ext-diff --output=FILE --format=TEXT -s", "REV"),
    (
        "git diff",
        "--stat --cached --name-only --ext-diff --textconv --no-index --output=FILE -O=TEXT --relative=DIR --submodule=TEXT",
        "REV FILE",
    ),
    ("git grep", "-n -i -l -c -e=TEXT -O=TEXT --open-files-in-pager=CMD --cached --no-index -f=FILE --untracked", "TEXT FILE"),
    ("git blame", "-L=TEXT --contents=FILE -S=FILE --ignore-revs-file=FILE -s --textconv", "FILE"),
    ("git ls-files", "-o -s --exclude-from=FILE -X=FILE -z --deleted", "FILE"),
    ("git branch", "-a -v -d -D -m --list --show-current --edit-description --contains=REV", "REV"),
    ("git tag", "-l --list -d -a -m=TEXT -n=N --format=TEXT", "REV"),
    ("git remote", "-v show add remove update prune get-url", "TEXT"),
    ("git rev-parse", "--show-toplevel --abbrev-ref --verify --git-dir --sq-quote --parseopt", "REV"),
    ("git config", "--get=TEXT --list -l --get-regexp=TEXT --unset=TEXT --edit --add=TEXT --file=FILE --global", "TEXT"),
    (
        "git",
        "-c=TEXT -C=DIR --git-dir=DIR --work-tree=DIR --exec-path=DIR --no-pager -p --paginate --config-env=TEXT",
        "GIT FILE",
    ),
    ("git shortlog", "-s -n -e --format=TEXT --group=TEXT", "REV"),
    ("git describe", "--tags --all --dirty --long --broken", "REV"),
    ("git rev-list", "--count --all -n=N --use-bitmap-index --disk-usage --objects", "REV"),
    ("git ls-tree", "-r -l --name-only -z --format=TEXT", "REV FILE"),
    ("git archive", "-o=FILE --format=TEXT --remote=TEXT --exec=CMD", "REV"),
    ("git stash", "list show drop pop clear push", ""),
    (
        "find . -type f",
        "-name=TEXT -iname=TEXT -size=N -newer=FILE -empty -print -print0 -ls -printf=TEXT -exec=EXEC -delete -fprint=FILE -o -quit -perm=N",
        "",
    ),
    (
        "find d",
        "-name=TEXT -maxdepth=N -mindepth=N -type=TEXT -mtime=N -prune -depth -execdir=EXEC -ok=EXEC -fls=FILE -fprintf=FILE -samefile=FILE",
        "",
    ),
    ("sed -n", "-E -r -s -z -e=SED -i -f=FILE --expression=SED", "SED FILE"),
    ("awk", "-F=TEXT -v=TEXT", "AWK FILE FILE"),
    ("sort", "-n -r -u -k=N -t=TEXT -o=FILE -nro=FILE --out=FILE", "FILE"),
    ("cp", "-r -f -a -t=DIR --target-directory=DIR", "FILE FILE"),
    ("mv", "-f -n", "FILE FILE"),
    ("rm", "-r -f -rf --no-preserve-root", "FILE"),
    ("touch", "-a -d=TEXT -r=FILE", "FILE"),
    ("tee", "-a -i", "FILE"),
    ("dd", "if=FILE of=FILE bs=N count=N conv=notrunc", ""),
    ("ln", "-s -f", "FILE FILE"),
    ("chmod", "-R +x 644 --reference=FILE", "FILE"),
    ("truncate", "-s=N", "FILE"),
    ("split", "-l=N --filter=CMD", "FILE TEXT"),
    ("xargs", "-0 -n=N -I=TEXT -P=N -a=FILE", "CMD"),
    ("env", "-i -u=TEXT -S=CMD -C=DIR A=1", "CMD"),
    ("sh", "-c=CMD -s -x", "FILE"),
    ("python3", "-c=CMD -m=TEXT", "FILE"),
    ("perl", "-e=CMD -i -n -p", "FILE"),
    ("curl", "-o=FILE -O -d=TEXT -T=FILE", "URL"),
    ("wget", "-O=FILE -q", "URL"),
    ("nc", "-l -e=CMD", "TEXT N"),
    ("kill", "-9 -0", "N"),
    ("mktemp", "-d -p=DIR", ""),
    ("cd", "-P -", "DIR"),
    ("column", "-t -x -s=TEXT -o=TEXT -c=N -N=TEXT", "FILE"),
    ("rev", "", "FILE"),
    ("hexdump", "-C -n=N -s=N -e=TEXT -f=FILE", "FILE"),
    ("expand", "-i -t=N", "FILE"),
    ("nproc", "--all --ignore=N", ""),
    ("uptime", "-p -s", ""),
    ("iconv", "-f=TEXT -t=TEXT -o=FILE --output=FILE", "FILE"),
    ("less", "-N -o=FILE", "FILE"),
    ("time", "-o=FILE", "CMD"),
    ("tsort", "", "FILE"),
    ("shuf", "-n=N -o=FILE -e --random-source=FILE", "FILE"),
    ("csplit", "-f=TEXT", "FILE TEXT"),
    ("install", "-m=N -D", "FILE FILE"),
];
const FILES: &[&str] = &[
    "f",
    "g",
    "d/f",
    "d",
    ".",
    "n.t",
    "m.t",
    "'a b'",
    "f.gz",
    "x.tar",
    "x.zip",
    "j.json",
    "names",
    "new",
    "d/new",
    "./f",
    "-",
    "/dev/null",
    "/dev/stdin",
    "f",
    "g",
    "n.t",
    "*.t",
    "*",
    "./*",
    "[fg]",
    "d/*",
    "?",
    "f*",
    "*/f",
    "-o",
    "-of",
    "./-o",
    "--output=new",
    "-delete",
    "@names",
    "+x",
    "''",
    "f:g",
    "d//f",
    "d/../f",
    "../secret",
    "../*",
    "../../etc/passwd",
    "/etc/passwd",
    "~",
    "~/x",
    ".asterisk/store",
    ".asterisk/*",
    ".*",
    "WORK/f",
    "WORK/../secret",
    "WORK/*.t",
    "$HOME/x",
    "/proc/self/environ",
    "/dev/tcp/127.0.0.1/1",
];
const DIRS: &[&str] =
    &["d", ".", "./d", "WORK", "..", "/", "/tmp", "../home", "~", ".git", ".asterisk", "d/e", "none", "-", "''"];
const TEXTS: &[&str] = &[
    "a",
    "b",
    ",",
    "'a b'",
    "'*.t'",
    "*",
    "x",
    "-n",
    "--",
    "-o",
    "A=1",
    "ARGV=f",
    "%s",
    "%n",
    "'%n%b'",
    "\\n",
    "'$(touch new)'",
    "\"$(touch new)\"",
    "`touch new`",
    "{a,b}",
    "a-z",
    "[:alpha:]",
    "'(a|b)*'",
    "",
    "'{}'",
    "\\;",
    "never",
    "f",
    "w",
    "'a;touch new'",
    "\"a'b\"",
    "a\\ b",
    "core.pager=touch\\ new",
    "exec=touch\\ new",
    "HEAD",
    "1,2:f",
    "recall",
    "skip",
    "md5",
    "canary",
    "now",
    "'@/etc/passwd'",
    "../x",
    "~",
];
const NUMBERS: &[&str] =
    &["1", "2", "3", "10", "0", "-1", "+1", "1,2", "1-", "2k", "x", "1e9", "''", "0x1", "+2G", "99999999999999999999"];
const COMMANDS: &[&str] = &[
    "touch new",
    "'touch new'",
    "\"touch new\"",
    "'rm f'",
    "rm -rf .",
    "sh",
    "cat f",
    "'sh -c \"touch new\"'",
    "./run.sh",
    "d/run.sh",
    "'import os; os.remove(\"f\")'",
    "wc -l",
    "sort -o f",
    "echo hi",
];
const SEDS: &[&str] = &[
    "p",
    "1p",
    "'1,2p'",
    "'$!d'",
    "s/a/b/",
    "'s/a/b/g'",
    "'s/a/b/w new'",
    "'w new'",
    "'1w new'",
    "'s/.*/touch new/e'",
    "'1e touch new'",
    "e",
    "'r ../secret'",
    "'R /etc/passwd'",
    "'/a/,/b/p'",
    "'/a/I,+2d'",
    "y/a/b/",
    "'s,a,b,;p'",
    "'s,a,b,;w new'",
    "'1{p;w new\n}'",
    "F",
    "'a text'",
    "'i\\text'",
    "'1!p'",
    "'s|a|b|pw new'",
    "q",
    "=",
    "'s/[/]w new/x/'",
    "'s/a/b/\nw new'",
    "'/[/]w new/p'",
    "\"s/a/$x/\"",
    "'s/a\\nb/c/;p'",
    "'2q;w new'",
    "'0~3p'",
    "'s/\\(a\\)/\\1/p'",
    "z",
    "'s/x/\\n/e'",
    "l",
    "'W new'",
    "'1,3!{w new\n}'",
    "v",
    "'s\nat\nw new\ne'",
];
const AWKS: &[&str] = &[
    "'{print}'",
    "'{print $1}'",
    "'/a/{n++} END{print n}'",
    "'{print > \"new\"}'",
    "'{print >> \"new\"}'",
    "'BEGIN{system(\"touch new\")}'",
    "'{print | \"sh\"}'",
    "'{ \"date\" | getline d; print d }'",
    "'BEGIN{while((getline l < \"../secret\")>0) print l}'",
    "'@load \"filefuncs\"'",
    "'BEGIN{print ENVIRON[\"HOME\"]}'",
    "'BEGIN{printf \"x\" |& \"sh\"}'",
    "'{print > $1}'",
    "'$1 > 3'",
    "'NR==2 || NR==3'",
    "'{print($1 > 2)}'",
    "'length > 3 {print}'",
    "'{printf \"%s\\n\", $1}'",
    "'BEGIN{ARGV[1]=\"../secret\"} {print}'",
    "'END{close(\"x\")}'",
    "'{ f=\"sys\" \"tem\"; @f(\"touch new\") }'",
    "1",
    "'{gsub(/a/,\"b\"); print}'",
    "'BEGIN{print length(\"a\") > \"new\"}'",
    "'{print $1, $2}' ",
    "'BEGIN { print toupper(\"a\") }'",
    "'{x = $1 \">\" $2; print x}'",
    "'{print\n>\"new\"}'",
    "'BEGIN{PROCINFO[\"x\"]=1}'",
];
const JQS: &[&str] = &[
    ".",
    ".a",
    "'.a[0]'",
    "env",
    "'$ENV'",
    "'$ENV.HOME'",
    "'import \"x\" as y; .'",
    "'include \"x\"; .'",
    "input",
    "inputs",
    "'.a | length'",
    "keys",
    "'@sh'",
    "input_filename",
    "'debug'",
    "'$__prog_args'",
    "halt",
    "'modulemeta'",
    "get_search_list",
];
const EXECS: &[&str] =
    &["touch new \\;", "rm {} \\;", "cat {} +", "rm {} +", "sh -c 'touch new' \\;", "grep a {} ';'", "./run.sh {} \\;"];
const REVS: &[&str] =
    &["HEAD", "HEAD~1", "main", "--all", "HEAD:f", "new", "..", "--", "'HEAD^{tree}'", "@", "-", "../secret", "x y"];
const FORMATS: &[&str] = &["+%s", "'+%F %T'", "+%n", "010112302030", "-", "now", "+'$(touch new)'"];
const GITS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "grep a",
    "commit -m x",
    "add .",
    "checkout f",
    "clean -fd",
    "reset --hard",
    "gc",
    "fetch",
    "pull",
    "submodule update",
    "bundle create new HEAD",
    "format-patch HEAD",
    "notes add",
];
const URLS: &[&str] = &["http://127.0.0.1:1/x", "https://example.org/$(cat f)", "file:///etc/passwd"];
const WRAPPERS: &[&str] = &[
    "time",
    "timeout 1",
    "timeout -s KILL 1",
    "timeout 1 -k 1",
    "nice",
    "nice -n 5",
    "nice -5",
    "command",
    "command -v",
    "env",
    "env A=1",
    "exec",
    "nohup",
    "/usr/bin",
    "/bin/",
    "./",
    "busybox",
    "sudo",
    "A=1",
    "!",
    "builtin",
    "xargs",
    "setsid",
    "stdbuf -o0",
    "\\",
];
const REDIRECTS: &[&str] = &[
    "2>/dev/null",
    ">/dev/null",
    "2>&1",
    "< f",
    "< ../secret",
    "< /etc/passwd",
    "> new",
    ">> f",
    "2> new",
    "&> new",
    ">| f",
    "<> new",
    ">&2",
    "1>&2",
    ">& new",
    "2>&1n",
    "< 'a b'",
    "<<< a",
    "<<E\na\nE",
    "> /dev/nul",
    ">/dev/null/../new",
    "< .asterisk/store",
    "3> new",
    "< *",
    "<(touch new)",
    "> $HOME/x",
    "< d/../../secret",
];
const JOINS: &[&str] = &[" | ", " | ", " && ", " || ", " ; ", "\n", " & ", " |& ", " ;; ", "\\\n", "", " # "];

/// A command line.
fn line(chance: &mut Chance) -> String {
    let count = [1, 1, 1, 2, 2, 3][chance.below(6)];
    let mut line = String::new();
    for at in 0..count {
        if at > 0 {
            // Mostly those that can be read.
            line.push_str(JOINS[if chance.below(4) > 0 { chance.below(6) } else { chance.below(JOINS.len()) }]);
        }
        line.push_str(&command(chance));
    }
    match chance.below(40) {
        0 => format!("({line})"),
        1 => format!("{{ {line}; }}"),
        2 => format!("x=$({line}); echo $x"),
        3 => format!("if true; then {line}; fi"),
        _ => line,
    }
}

fn command(chance: &mut Chance) -> String {
    let (program, options, operands) = PROGRAMS[chance.below(PROGRAMS.len())];
    let options: Vec<&str> = options.split(' ').filter(|option| !option.is_empty()).collect();
    let mut words: Vec<String> = Vec::new();
    for _ in 0..[0, 0, 0, 1, 1, 1, 2, 3][chance.below(8)] {
        if !options.is_empty() {
            let of = chance.of(&options);
            words.push(option(chance, of, &options));
        }
    }
    if chance.below(8) == 0 {
        words.push("--".to_owned());
    }
    for kind in operands.split(' ').filter(|kind| !kind.is_empty()) {
        if chance.below(5) > 0 {
            words.push(value(chance, kind));
        }
    }
    if chance.below(6) == 0 && words.len() > 1 {
        // Options behind operands, and operands before.
        let at = chance.below(words.len());
        let word = words.remove(at);
        words.push(word);
    }
    if program == "find" {
        // Starting points come first.
        words.sort_by_key(|word| word.starts_with('-'));
    }
    if chance.below(12) == 0 {
        words.push(REDIRECTS[chance.below(3)].to_owned());
    } else if chance.below(14) == 0 {
        words.push(chance.of(REDIRECTS).to_owned());
    }
    let mut program = match chance.below(24) {
        0 => format!("/usr/bin/{program}"),
        1 => format!("'{program}'").replace(' ', "' '"),
        2 => program.chars().map(|c| if c == 'e' { "\\e".to_owned() } else { c.to_string() }).collect(),
        _ => program.to_owned(),
    };
    if chance.below(12) == 0 {
        program = format!("{} {program}", chance.of(WRAPPERS));
    }
    [vec![program], words].concat().join(" ")
}

/// An option in one of its forms: a separate or attached value, or one after `=`; combined letters; an abbreviated long name.
fn option(chance: &mut Chance, option: &str, all: &[&str]) -> String {
    let (name, kind) = option.split_once('=').map_or((option, None), |(name, kind)| (name, Some(kind)));
    let mut name = name.to_owned();
    if name.starts_with("--") && name.len() > 6 && chance.below(8) == 0 {
        name.truncate(5);
    } else if !name.starts_with("--") && name.len() == 2 && name.starts_with('-') && chance.below(5) == 0 {
        let before: Vec<&&str> = all.iter().filter(|other| other.len() == 2 && other.starts_with('-')).collect();
        if !before.is_empty() {
            let other = before[chance.below(before.len())];
            name = format!("{other}{}", &name[1..]);
        }
    }
    let name = if chance.below(30) == 0 { format!("'{name}'") } else { name };
    let Some(kind) = kind else { return name };
    let value = value(chance, kind);
    match chance.below(6) {
        0 => name,
        1 if !name.starts_with("--") => format!("{name}{value}"),
        1 | 2 if name.starts_with("--") => format!("{name} {value}"),
        2 => format!("{name}={value}"),
        _ if name.starts_with("--") => format!("{name}={value}"),
        _ => format!("{name} {value}"),
    }
}

fn value(chance: &mut Chance, kind: &str) -> String {
    let usual = chance.below(4) > 0;
    let value = chance.of(match kind {
        // Mostly existing paths inside.
        "FILE" if usual => &FILES[..12],
        "DIR" if usual => &DIRS[..3],
        "N" if usual => &NUMBERS[..4],
        "TEXT" if usual => &TEXTS[..7],
        "SED" if usual => &SEDS[..6],
        "AWK" if usual => &AWKS[..3],
        "REV" if usual => &REVS[..2],
        "FILE" => FILES,
        "DIR" => DIRS,
        "N" => NUMBERS,
        "TEXT" => TEXTS,
        "CMD" => COMMANDS,
        "SED" => SEDS,
        "AWK" => AWKS,
        "JQ" => JQS,
        "EXEC" => EXECS,
        "REV" => REVS,
        "FORMAT" => FORMATS,
        "URL" => URLS,
        "GIT" => GITS,
        other => return other.to_owned(),
    });
    if value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || ".,/-".contains(c))
    {
        return match chance.below(14) {
            0 => format!("'{value}'"),
            1 => format!("\"{value}\""),
            2 => format!("\\{value}"),
            3 => format!("{}''{}", &value[..1], &value[1..]),
            _ => value.to_owned(),
        };
    }
    value.to_owned()
}

// ---- the canaries --------------------------------------------------------------------------------------------------

/// The permissions of a file, its time, and its content.
type About = (u32, i64, i64, Vec<u8>);

/// A working directory, and its surroundings.
struct Canary {
    project: Project,
    work: PathBuf,
}

impl Canary {
    fn new() -> Self {
        let project = Project::new();
        for (name, text) in [
            ("f", "b 2\na 1\na 1\n"),
            ("g", "a x\nb y\n"),
            ("n.t", "1\n2\n"),
            ("m.t", "one\ttwo\n"),
            ("a b", "x\n"),
            ("d/f", "in d\n"),
            ("d/e/x", "deep\n"),
            ("j.json", "{\"a\": [1]}\n"),
            ("names", "f\0g\0/etc/passwd\0../secret\0"),
            ("-o", "option\n"),
            ("-of", "option\n"),
            ("--output=new", "option\n"),
            ("-delete", "option\n"),
            ("@names", "-o\nnew\n"),
            ("+x", "plus\n"),
            ("run.sh", "touch new\n"),
        ] {
            project.file(&format!("work/{name}"), text);
        }
        project.file("work/.asterisk/store", "it is off limits\n");
        for path in ["secret", "home/x"] {
            project.file(path, format!("{SECRET}\n"));
        }
        project.file("tmp/x", "");
        let work = project.root().join("work");
        let made = |program: &str, args: &[&str]| {
            let mut command = Command::new(program);
            command.args(args).current_dir(&work).env("HOME", project.root().join("home")).stdin(Stdio::null());
            command.output().is_ok_and(|output| output.status.success())
        };
        made("sh", &["-c", "gzip -kc f >f.gz; tar cf x.tar f g; python3 -m zipfile -c x.zip f"]);
        made("sh", &["-c", "git init -q -b main && git add f g && git -c user.name=a -c user.email=a@b commit -qm one"]);
        // Programs that git would run.
        project.file("work/.git/hooks/post-index-change", "#!/bin/sh\ntouch new\n");
        Self { project, work }
    }

    /// Everything, with rights and times.
    fn state(&self) -> BTreeMap<PathBuf, About> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.project.root().to_owned()];
        while let Some(path) = open.pop() {
            let about = path.symlink_metadata().unwrap();
            let bytes = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            if about.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            found.insert(path, (about.mode(), about.mtime(), about.mtime_nsec(), bytes));
        }
        found
    }

    /// The input of the judge.
    fn context(&self) -> Value {
        let config = std::fs::read_to_string(self.work.join(".git/config")).unwrap_or_default();
        json!({ "workdir": self.work, "inside": true, "exists": false, "outside": [], "odd_names": true, "git": { "config": config, "doubt": "" } })
    }

    /// The files that a pattern in the judge's words matches, as the program finds them.
    fn matching(dir: &Path, pattern: &str) -> Vec<String> {
        let listed = Command::new("sh")
            .args(["-c", "for path in $0; do printf '%s\\0' \"$path\"; done"])
            .arg(pattern)
            .current_dir(dir)
            .output()
            .unwrap();
        let names: Vec<String> =
            String::from_utf8_lossy(&listed.stdout).split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        names.into_iter().map(|name| if name.starts_with(['-', '@', '+']) { format!("./{name}") } else { name }).collect()
    }

    /// The text that runs the judge's words and nothing else.
    fn text(&self, run: &Value) -> String {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let mut dir = self.work.clone();
        let mut text = String::new();
        for (at, command) in run.as_array().unwrap().iter().enumerate() {
            let words = command["words"].as_array().unwrap();
            if at > 0 {
                text.push_str(command["join"].as_str().unwrap());
            }
            if words[0]["text"] == "cd" {
                dir.push(words[1]["text"].as_str().unwrap());
            }
            for word in words {
                let of = word["text"].as_str().unwrap();
                let of = if word["pattern"] == true { Self::matching(&dir, of) } else { vec![of.to_owned()] };
                for word in of {
                    text.push_str(&[" ", &quoted(&word)].concat());
                }
            }
            if let Some(input) = command["input"].as_str() {
                text.push_str(&[" < ", &quoted(input)].concat());
            }
            text.push_str(if command["silent"] == true { " >/dev/null" } else { "" });
            text.push_str(match command["errors"].as_str().unwrap() {
                "dropped" => " 2>/dev/null",
                "joined" => " 2>&1",
                _ => "",
            });
        }
        text
    }

    /// Runs what the judge allowed for a moment, unconfined; returns its output, and whether it reached for the network.
    fn run(&self, judged: &Value) -> (String, bool) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &self.text(&judged["run"])]).current_dir(&self.work).env_clear().process_group(0);
        shell.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        shell.env("HOME", self.project.root().join("home")).env("TMPDIR", self.project.root().join("tmp"));
        for (name, value) in judged["env"].as_object().into_iter().flatten() {
            shell.env(name, value.as_str().unwrap());
        }
        let (reader, writer) = std::io::pipe().unwrap();
        shell.stdin(Stdio::null()).stderr(writer.try_clone().unwrap()).stdout(writer);
        let mut child = shell.spawn().unwrap();
        drop(shell);
        let read = std::thread::spawn(move || {
            let mut said = Vec::new();
            let _cut = reader.take(MAX_OUTPUT).read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        });
        let end = Instant::now() + MOMENT;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if Instant::now() > end {
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let group = rustix::process::Pid::from_child(&child);
        let _none_is_left = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let status = status.unwrap_or_else(|| child.wait().unwrap());
        (read.join().unwrap(), status.signal() == Some(SIGSYS) || status.code() == Some(128 + SIGSYS))
    }

    /// The processes that run in it.
    fn processes(&self) -> Vec<String> {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let here = all.filter(|one| std::fs::read_link(one.path().join("cwd")).is_ok_and(|dir| dir.starts_with(&self.work)));
        here.map(|one| std::fs::read_to_string(one.path().join("cmdline")).unwrap_or_default().replace('\0', " ")).collect()
    }
}

/// Calls something in a thread, and the programs that it starts, under a filter of the system's calls.
fn filtered<T: Send>(calls: BTreeMap<i64, Vec<SeccompRule>>, with: SeccompAction, call: impl FnOnce() -> T + Send) -> T {
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter: BpfProgram = SeccompFilter::new(calls, SeccompAction::Allow, with, arch).unwrap().try_into().unwrap();
    std::thread::scope(|scope| {
        let run = move || {
            seccompiler::apply_filter(&filter).unwrap();
            call()
        };
        scope.spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A process that opens any socket but a Unix one is killed.
fn without_network<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    let family = u64::try_from(nix::libc::AF_UNIX).unwrap();
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family).unwrap();
    let rules = vec![SeccompRule::new(vec![other]).unwrap()];
    filtered([(nix::libc::SYS_socket, rules)].into(), SeccompAction::KillProcess, call)
}

/// As on a kernel without Landlock.
fn without_landlock<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    let calls = [444, 445, 446].map(|call| (call, Vec::new()));
    filtered(calls.into(), SeccompAction::Errno(38), call)
}

fn lines(count: usize, canary: &Canary) -> Vec<String> {
    let mut chance = Chance(11);
    let work = canary.work.to_str().unwrap();
    (0..count).map(|_| line(&mut chance).replace("WORK", work)).collect()
}

/// Shown by `cat`, not by what names a file.
fn shows_secrets(said: &str) -> bool {
    said.contains(SECRET)
}

#[test]
fn allowed_generated_commands_change_nothing() {
    let canary = Canary::new();
    let lines = lines(if full_size() { 20_000 } else { 1_500 }, &canary);
    let judge = Project::new();
    let context = canary.context();
    let call = |line: &String| json!({ "args": [{ "tool": "shell", "args": { "command": line } }, context] }).to_string();
    judge.file("calls.jsonl", lines.iter().map(call).collect::<Vec<_>>().join("\n"));
    let judged = judge.asterisk(&["eval", "call", "policy/tools.rhai#judge", "--batch", "calls.jsonl"]).exits(0).json_lines();
    assert_eq!(judged.len(), lines.len());
    let allowed: Vec<(&String, &Value)> = lines
        .iter()
        .zip(&judged)
        .map(|(line, answer)| (line, &answer["result"]))
        .filter(|(_, answer)| answer["verdict"] == "allow")
        .collect();
    assert!(allowed.len() > lines.len() / 6, "only {} of {} are allowed", allowed.len(), lines.len());
    let before = canary.state();
    let mut wrong = Vec::new();
    without_network(|| {
        for (line, answer) in allowed {
            let (said, reached) = canary.run(answer);
            let after = canary.state();
            if after != before {
                let changed: Vec<_> =
                    after.iter().filter(|(path, state)| before.get(*path) != Some(state)).map(|(path, _)| path).collect();
                panic!("{line:?} was allowed, and changed {changed:?}; it ran {}", canary.text(&answer["run"]));
            }
            if reached || shows_secrets(&said) {
                wrong.push(format!("{line:?}: {}", canary.text(&answer["run"])));
            }
        }
    });
    assert_eq!((wrong, canary.processes()), (Vec::<String>::new(), Vec::<String>::new()));
}

/// The same through the program: its input to the judge and the commands it starts, with and without the sandbox.
#[test]
fn executed_generated_commands_change_nothing() {
    for landlock in [true, false] {
        let canary = Canary::new();
        std::os::unix::fs::symlink("../secret", canary.work.join("link")).unwrap();
        std::os::unix::fs::symlink("../../home", canary.work.join("d/up")).unwrap();
        let mut lines = lines(if full_size() { 1_000 } else { 92 }, &canary);
        let links = [
            "cat link",
            "cat d/up/x",
            "head -n1 *",
            "grep -r canary .",
            "cat ./*",
            "find -L . -name x",
            "ls d/up/",
            "diff -r d .",
        ];
        lines.extend(links.map(str::to_owned));
        let before = canary.state();
        let run = || crate::goal::lines_run(&canary.project, &lines);
        let outcomes = if landlock { run() } else { without_landlock(run) };
        assert_eq!(outcomes.len(), lines.len());
        let ran = outcomes.iter().filter(|one| one["refused"] == false).count();
        assert!(ran > lines.len() / 6, "only {ran} of {} are run", lines.len());
        for (line, outcome) in lines.iter().zip(&outcomes) {
            assert!(!shows_secrets(&outcome.to_string()), "{line:?}: {outcome}");
        }
        let inside = |state: &BTreeMap<PathBuf, About>| -> Vec<(PathBuf, About)> {
            let here = |path: &Path| {
                path != canary.work && (path.starts_with(&canary.work) || path.starts_with(canary.project.root().join("home")))
            };
            state.iter().filter(|(path, _)| here(path)).map(|(path, about)| (path.clone(), about.clone())).collect()
        };
        assert!(inside(&canary.state()) == inside(&before), "with Landlock: {landlock}");
        assert_eq!(canary.processes(), Vec::<String>::new());
    }
}
