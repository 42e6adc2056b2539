//! Launches fetched from ReportPortal, and pushing the findings on their failures back.

use super::recorded::named;
use super::run_settings::settings_of;
use super::{Session, SessionError};
use asterisk_adapters::reportportal::{Access, Issue, Portal, PortalError, PortalLaunch, UpdateResult};
use asterisk_base::model::{Hash, Launch, canonical};
use asterisk_diag::{Diagnostic, Source};
use asterisk_evidence::Masker;
use asterisk_launch as ingest;
use asterisk_store::{Durability, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A comment on a case, to be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRemark {
    pub case: String,
    /// ReportPortal's name of the kind of defect.
    pub issue_type: String,
    pub comment: String,
    /// Whether no person has reviewed it.
    pub auto: bool,
}

/// The result of pushing a remark.
#[derive(Clone, Debug)]
pub enum PushResult {
    /// Sent, or, in a dry run, would be.
    Sent,
    /// The same remark was sent before.
    Before,
    Refused(Box<Diagnostic>),
}

/// An error while sending, or while recording that something was sent.
struct PushFailure(SessionError);

impl From<PortalError> for PushFailure {
    fn from(trouble: PortalError) -> Self {
        Self(trouble.into())
    }
}

impl From<PortalError> for SessionError {
    fn from(trouble: PortalError) -> Self {
        match trouble {
            PortalError::BadRequest(diagnostic) => Self::BadRequest(Box::new(diagnostic)),
            PortalError::Text(diagnostic) => Self::Texts(diagnostic.into()),
            trouble => Self::Outside(Box::new(trouble.diagnostic())),
        }
    }
}

impl Session {
    /// The client of ReportPortal, if it is configured.
    pub(super) fn portal<'s>(&'s self, stop: &'s AtomicBool) -> Result<Portal<'s>, SessionError> {
        let access = Access { root: &self.setup.root, secret: self.setup.secrets(), clock: &*self.setup.clock, stop };
        Ok(Portal::open(&self.setup.reportportal, &access)?)
    }

    /// Fetches a launch, and returns it with its origin.
    pub(super) fn fetch(
        &self,
        launch: &str,
        masker: &Arc<Masker>,
        look: &dyn Fn(usize, usize),
        stop: &AtomicBool,
    ) -> Result<(Launch, PortalLaunch), SessionError> {
        let portal = self.portal(stop)?;
        let fetched = portal.fetch(launch, look)?;
        let mut launch = ingest::read_masked(&Source::new(fetched.name, fetched.text), masker)?;
        launch.notes.extend(fetched.notes);
        Ok((launch, portal.place().clone()))
    }

    /// Pushes remarks on cases of a run to where its launch came from. Remarks sent before are skipped; each one sent is recorded
    /// immediately. `dry`: connects to nothing, changes nothing, and returns what would be sent.
    pub fn push(&self, run: &str, remarks: &[PushRemark], dry: bool) -> Result<Vec<(String, PushResult)>, SessionError> {
        let store = if dry { Store::read_only(&self.setup.store)? } else { self.store(Durability::Step)? };
        let run = named(&store, run)?;
        let place = self.setup.reportportal.place();
        let place = place.map_err(|(why, help)| SessionError::bad_request("reportportal/setup", why, Some(help)))?;
        if let Some(from) = settings_of(&store, &run)?.origin.reportportal.filter(|from| *from != place) {
            let message = format!(
                "the launch of the run {run} came from the project `{}` of {}, and asterisk.yaml has `{}` of {}",
                from.project, from.url, place.project, place.url
            );
            let help = format!("give --reportportal-url {} --reportportal-project {}", from.url, from.project);
            return Err(SessionError::bad_request("reportportal/other-project", message, Some(help)));
        }
        let target = format!("reportportal {} {}", place.url, place.project);
        let before = store.pushed(&run, &target)?;
        let mut outcomes: BTreeMap<&str, PushResult> = BTreeMap::new();
        let mut issues: Vec<Issue> = Vec::new();
        let mut cases: BTreeMap<i64, &str> = BTreeMap::new();
        for remark in remarks {
            let outcome = match issue(remark) {
                Err(why) => PushResult::Refused(why),
                Ok(issue) if before.get(&remark.case) == Some(&hash(&issue)) => PushResult::Before,
                Ok(issue) => {
                    cases.insert(issue.item, &remark.case);
                    issues.push(issue);
                    PushResult::Sent
                }
            };
            outcomes.insert(&remark.case, outcome);
        }
        if !dry && !issues.is_empty() {
            let stop = AtomicBool::new(false);
            let portal = self.portal(&stop)?;
            let launch = store.launch(&run, |_, _| None)?;
            portal.check(&launch.run_id, &launch.name)?;
            let done = |sent: &[Issue], outcome: UpdateResult| -> Result<(), PushFailure> {
                let named = sent.iter().filter_map(|issue| Some((*cases.get(&issue.item)?, hash(issue))));
                match outcome {
                    UpdateResult::Sent => {
                        let sent: Vec<(&str, Hash)> = named.collect();
                        store
                            .note_pushed(&run, &target, self.setup.clock.now(), &sent)
                            .map_err(|error| PushFailure(error.into()))?;
                    }
                    UpdateResult::Refused(why) => {
                        outcomes.extend(named.map(|(case, _)| (case, PushResult::Refused(Box::new(why.clone())))));
                    }
                }
                Ok(())
            };
            portal.define(&issues, done).map_err(|PushFailure(error)| error)?;
        }
        let outcome = |remark: &PushRemark| Some((remark.case.clone(), outcomes.remove(remark.case.as_str())?));
        Ok(remarks.iter().filter_map(outcome).collect())
    }
}

fn issue(remark: &PushRemark) -> Result<Issue, Box<Diagnostic>> {
    let refused = |why: String, help: &str| Box::new(Diagnostic::error("push/case", why).help(help));
    // A second item of the same id is called `id#2`; it is the same item.
    let id = remark.case.split('#').next().unwrap_or_default();
    let item = id.parse().map_err(|_| {
        let why = format!("case `{}` is not a ReportPortal item, which has a numeric id", remark.case);
        refused(why, "push runs of launches that came from ReportPortal; for others: --to jira-json, --to github-md")
    })?;
    if remark.issue_type.is_empty() {
        let why = format!("the defect of case `{}` has no defect type in ReportPortal", remark.case);
        return Err(refused(
            why,
            "set `issue_type:` of the defect in the domain (data/domains/): the locator of one of the project's defect types, such as \
             those that its settings list; then run again",
        ));
    }
    Ok(Issue { item, issue_type: remark.issue_type.clone(), comment: remark.comment.clone(), auto: remark.auto })
}

fn hash(issue: &Issue) -> Hash {
    Hash::of(canonical(&issue.json()).as_bytes())
}
