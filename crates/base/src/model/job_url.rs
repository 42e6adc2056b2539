//! The CI job that a launch comes from.

use super::launch::plain;
use super::{Attributes, Launch};

/// Names of attributes that hold the address of the job, the most specific first; dots and dashes are as good as underscores.
const ATTRIBUTES: [&str; 9] =
    ["job_url", "ci_job_url", "build_url", "ci_build_url", "run_url", "ci_run_url", "pipeline_url", "ci_pipeline_url", "ci_url"];

/// Environment variables of CI systems that hold the address of the running job: GitLab, Jenkins, `CircleCI`, Buildkite, Travis,
/// `AppVeyor`, Bitrise, Drone, Semaphore.
const VARIABLES: [&str; 8] = [
    "CI_JOB_URL",
    "BUILD_URL",
    "CIRCLE_BUILD_URL",
    "BUILDKITE_BUILD_URL",
    "TRAVIS_JOB_WEB_URL",
    "BITRISE_BUILD_URL",
    "DRONE_BUILD_LINK",
    "CI_BUILD_URL",
];

/// The attribute that [`Launch::set_job_url`] sets.
const ATTRIBUTE: &str = ATTRIBUTES[0];

/// The address of the CI job in which this process runs, by its environment.
pub fn job_url_of_environment(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let github =
        || Some(format!("{}/{}/actions/runs/{}", get("GITHUB_SERVER_URL")?, get("GITHUB_REPOSITORY")?, get("GITHUB_RUN_ID")?));
    let azure = || {
        let (server, project) = (get("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI")?, get("SYSTEM_TEAMPROJECT")?);
        let slash = if server.ends_with('/') { "" } else { "/" };
        Some(format!("{server}{slash}{}/_build/results?buildId={}", project.replace(' ', "%20"), get("BUILD_BUILDID")?))
    };
    let plain = VARIABLES.iter().find_map(|name| get(name));
    github().or_else(azure).or(plain).filter(|url| is_link(url))
}

impl Launch {
    /// The address of the CI job that the launch comes from, by its attributes.
    pub fn job_url(&self) -> Option<&str> {
        job_url(&self.attributes)
    }

    /// Sets the address of the CI job, unless the launch has one.
    pub fn set_job_url(&mut self, url: &str) {
        if self.job_url().is_none() {
            self.attributes.insert(ATTRIBUTE, url);
        }
    }
}

fn job_url(attributes: &Attributes) -> Option<&str> {
    let ranked = attributes.iter().filter_map(|(name, value)| {
        let (name, value) = (plain(name), value.trim());
        let rank = ATTRIBUTES.iter().position(|known| *known == name)?;
        is_link(value).then_some((rank, value))
    });
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, value)| value)
}

/// Whether a text is an address that a page may link to.
fn is_link(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'<>`".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Option<String> {
        job_url_of_environment(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_ci_system_identifies_its_job() {
        let github = [("GITHUB_SERVER_URL", "https://github.com"), ("GITHUB_REPOSITORY", "a/b"), ("GITHUB_RUN_ID", "7")];
        assert_eq!(environment(&github).as_deref(), Some("https://github.com/a/b/actions/runs/7"));
        assert_eq!(environment(&github[1..]), None);
        let azure = [
            ("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI", "https://dev.azure.com/org/"),
            ("SYSTEM_TEAMPROJECT", "my shop"),
            ("BUILD_BUILDID", "9"),
        ];
        assert_eq!(environment(&azure).as_deref(), Some("https://dev.azure.com/org/my%20shop/_build/results?buildId=9"));
        assert_eq!(environment(&[("BUILD_URL", "http://jenkins/job/1/")]).as_deref(), Some("http://jenkins/job/1/"));
        assert_eq!(environment(&[("BUILD_URL", "javascript:alert(1)")]), None);
        assert_eq!(environment(&[("BUILD_URL", "")]), None);
    }

    #[test]
    fn what_the_launch_says_comes_first() {
        let mut launch = Launch::default();
        launch.attributes.insert("CI.Pipeline-URL", "https://ci/p");
        assert_eq!(launch.job_url(), Some("https://ci/p"));
        launch.attributes.insert("job_url", "no link");
        launch.attributes.insert("build-url", "https://ci/b");
        assert_eq!(launch.job_url(), Some("https://ci/b"));
        launch.set_job_url("https://ci/other");
        assert_eq!(launch.job_url(), Some("https://ci/b"));
        let mut bare = Launch::default();
        bare.set_job_url("https://ci/j");
        assert_eq!(bare.job_url(), Some("https://ci/j"));
        assert!(["https://", "https://a b", "https://a\"b", "ftp://a", "a"].iter().all(|url| !is_link(url)));
    }
}
