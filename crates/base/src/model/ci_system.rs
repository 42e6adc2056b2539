//! Detects the CI system that a process runs in from its environment.

/// A CI system with its own format for summaries and annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiSystem {
    Github,
    Gitlab,
    Jenkins,
    Azure,
    Circleci,
    Buildkite,
    /// Any other CI system, or none.
    Plain,
}

/// The job as described by the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CiJob {
    /// The name that is the same for every run of the job.
    pub name: Option<String>,
    /// The number of the run.
    pub number: Option<i64>,
    /// The commit under test.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
}

/// How to recognise a system, and the variables that describe the job, most specific first. The job's name is composed of all name
/// variables that are set.
struct SystemVariables {
    system: CiSystem,
    mark: &'static str,
    name: &'static [&'static str],
    number: &'static [&'static str],
    commit: &'static [&'static str],
    branch: &'static [&'static str],
}

const SYSTEMS: &[SystemVariables] = &[
    SystemVariables {
        system: CiSystem::Github,
        mark: "GITHUB_ACTIONS",
        name: &["GITHUB_WORKFLOW", "GITHUB_JOB"],
        number: &["GITHUB_RUN_NUMBER"],
        commit: &["GITHUB_SHA"],
        branch: &["GITHUB_HEAD_REF", "GITHUB_REF_NAME"],
    },
    SystemVariables {
        system: CiSystem::Gitlab,
        mark: "GITLAB_CI",
        name: &["CI_PROJECT_NAME", "CI_JOB_NAME"],
        number: &["CI_PIPELINE_IID"],
        commit: &["CI_COMMIT_SHA"],
        branch: &["CI_COMMIT_REF_NAME"],
    },
    SystemVariables {
        system: CiSystem::Azure,
        mark: "TF_BUILD",
        name: &["BUILD_DEFINITIONNAME", "SYSTEM_JOBDISPLAYNAME"],
        number: &["BUILD_BUILDID"],
        commit: &["BUILD_SOURCEVERSION"],
        branch: &["BUILD_SOURCEBRANCHNAME"],
    },
    SystemVariables {
        system: CiSystem::Circleci,
        mark: "CIRCLECI",
        name: &["CIRCLE_PROJECT_REPONAME", "CIRCLE_JOB"],
        number: &["CIRCLE_BUILD_NUM"],
        commit: &["CIRCLE_SHA1"],
        branch: &["CIRCLE_BRANCH"],
    },
    SystemVariables {
        system: CiSystem::Buildkite,
        mark: "BUILDKITE",
        name: &["BUILDKITE_PIPELINE_SLUG", "BUILDKITE_LABEL"],
        number: &["BUILDKITE_BUILD_NUMBER"],
        commit: &["BUILDKITE_COMMIT"],
        branch: &["BUILDKITE_BRANCH"],
    },
    SystemVariables {
        system: CiSystem::Jenkins,
        mark: "JENKINS_URL",
        name: &["JOB_NAME"],
        number: &["BUILD_NUMBER"],
        commit: &["GIT_COMMIT"],
        branch: &["CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"],
    },
];

/// Variables that are set in jobs of further systems.
const OTHER_MARKS: &[&str] = &["CI", "CONTINUOUS_INTEGRATION", "TEAMCITY_VERSION"];

impl CiSystem {
    /// Detects the system that this process runs in.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        SYSTEMS.iter().find(|one| is_set(one.mark, &variable)).map_or(Self::Plain, |one| one.system)
    }

    /// The system whose job this process belongs to, `Plain` if it is not a known one; `None` outside of CI.
    pub fn of_job(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let system = Self::detect(&variable);
        (system != Self::Plain || OTHER_MARKS.iter().any(|mark| is_set(mark, &variable))).then_some(system)
    }

    /// The display name of the system.
    pub fn name(self) -> &'static str {
        match self {
            Self::Github => "GitHub Actions",
            Self::Gitlab => "GitLab CI",
            Self::Jenkins => "Jenkins",
            Self::Azure => "Azure Pipelines",
            Self::Circleci => "CircleCI",
            Self::Buildkite => "Buildkite",
            Self::Plain => "unknown CI system",
        }
    }

    /// Reads the job's description from the environment. Ignores a commit that is not a hash, such as `HEAD`.
    pub fn job(self, variable: impl Fn(&str) -> Option<String>) -> CiJob {
        let Some(known) = SYSTEMS.iter().find(|one| one.system == self) else { return CiJob::default() };
        let get = |name: &&str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let first = |names: &[&str]| names.iter().find_map(get);
        let mut names: Vec<String> = known.name.iter().filter_map(get).collect();
        names.dedup();
        let is_hash = |text: &String| text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        CiJob {
            name: (!names.is_empty()).then(|| names.join(" / ")),
            number: first(known.number).and_then(|number| number.parse().ok()),
            commit: first(known.commit).filter(is_hash),
            branch: first(known.branch).map(|branch| branch.strip_prefix("origin/").unwrap_or(&branch).to_owned()),
        }
    }
}

fn is_set(name: &str, variable: impl Fn(&str) -> Option<String>) -> bool {
    variable(name).is_some_and(|value| !["", "false", "0"].contains(&value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> + Copy {
        |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn each_system_is_detected_by_its_variable() {
        for one in SYSTEMS {
            let mark = |name: &str| (name == one.mark).then(|| "true".to_owned());
            assert_eq!(CiSystem::detect(mark), one.system);
        }
        assert_eq!(
            CiSystem::detect(variables(&[("CI", "true"), ("GITHUB_ACTIONS", "false"), ("CIRCLECI", "")])),
            CiSystem::Plain
        );
        assert_eq!(CiSystem::Plain.job(variables(&[("GITHUB_SHA", "0123456789")])), CiJob::default());
        for (set, system) in [
            (&[("GITHUB_ACTIONS", "true"), ("CI", "true")][..], Some(CiSystem::Github)),
            (&[("CI", "1")], Some(CiSystem::Plain)),
            (&[("TEAMCITY_VERSION", "2025.07")], Some(CiSystem::Plain)),
            (&[("CI", "false")], None),
            (&[], None),
        ] {
            assert_eq!(CiSystem::of_job(variables(set)), system, "{set:?}");
        }
    }

    #[test]
    fn the_job_is_read_from_the_environment() {
        let github = variables(&[
            ("GITHUB_WORKFLOW", "CI"),
            ("GITHUB_JOB", "test"),
            ("GITHUB_RUN_NUMBER", "17"),
            ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
            ("GITHUB_HEAD_REF", ""),
            ("GITHUB_REF_NAME", "main"),
        ]);
        let job = CiSystem::Github.job(github);
        assert_eq!((job.name.as_deref(), job.number, job.branch.as_deref()), (Some("CI / test"), Some(17), Some("main")));
        assert!(job.commit.is_some_and(|commit| commit.starts_with("0123")));
        let jenkins = variables(&[("GIT_BRANCH", "origin/release/4"), ("BUILD_NUMBER", "x")]);
        let job = CiSystem::Jenkins.job(jenkins);
        assert_eq!((job.branch.as_deref(), job.number), (Some("release/4"), None));
        assert_eq!(CiSystem::Buildkite.job(variables(&[("BUILDKITE_COMMIT", "HEAD")])).commit, None);
    }
}
