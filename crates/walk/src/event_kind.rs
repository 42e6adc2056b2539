//! The kinds of events, and reading the kind of a recorded event without parsing the rest.

/// A kind of event; its name is the `type` of the event's JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is documented as a variant of `EventBody`")]
pub enum EventKind {
    Barrier,
    Reload,
    Upgraded,
    WalkerSwitch,
    Requested,
    Rejected,
    Unanswered,
    Reopened,
    Masked,
    Verdict,
    Root,
    NodeEnter,
    SubWalk,
    Fork,
    Join,
    BranchError,
    NodeExit,
    StepStart,
    StepAttempt,
    CacheHit,
    Answered,
    AdvisorReview,
    StepRetry,
    StepComplete,
    StepError,
    StepSkipped,
    ThermalWarning,
    EdgeEvaluate,
    Shadow,
    Transition,
    WalkComplete,
    WalkError,
}

impl EventKind {
    pub const ALL: [Self; 32] = [
        Self::Barrier,
        Self::Reload,
        Self::Upgraded,
        Self::WalkerSwitch,
        Self::Requested,
        Self::Rejected,
        Self::Unanswered,
        Self::Reopened,
        Self::Masked,
        Self::Verdict,
        Self::Root,
        Self::NodeEnter,
        Self::SubWalk,
        Self::Fork,
        Self::Join,
        Self::BranchError,
        Self::NodeExit,
        Self::StepStart,
        Self::StepAttempt,
        Self::CacheHit,
        Self::Answered,
        Self::AdvisorReview,
        Self::StepRetry,
        Self::StepComplete,
        Self::StepError,
        Self::StepSkipped,
        Self::ThermalWarning,
        Self::EdgeEvaluate,
        Self::Shadow,
        Self::Transition,
        Self::WalkComplete,
        Self::WalkError,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Reload => "reload",
            Self::Upgraded => "adopt",
            Self::WalkerSwitch => "walker_switch",
            Self::Requested => "asked",
            Self::Rejected => "complained",
            Self::Unanswered => "unanswered",
            Self::Reopened => "reopened",
            Self::Masked => "masked",
            Self::Verdict => "verdict",
            Self::Root => "root",
            Self::NodeEnter => "node_enter",
            Self::SubWalk => "sub_walk",
            Self::Fork => "fork",
            Self::Join => "join",
            Self::BranchError => "branch_error",
            Self::NodeExit => "node_exit",
            Self::StepStart => "step_start",
            Self::StepAttempt => "step_attempt",
            Self::CacheHit => "cache_hit",
            Self::Answered => "answered",
            Self::AdvisorReview => "advisor_review",
            Self::StepRetry => "step_retry",
            Self::StepComplete => "step_complete",
            Self::StepError => "error",
            Self::StepSkipped => "step_skipped",
            Self::ThermalWarning => "thermal_warning",
            Self::EdgeEvaluate => "edge_evaluate",
            Self::Shadow => "shadow",
            Self::Transition => "transition",
            Self::WalkComplete => "walk_complete",
            Self::WalkError => "walk_error",
        }
    }

    /// Reads the kind of an event's JSON: `type` is the first key of every event.
    pub fn of(json: &str) -> Option<Self> {
        let (name, _) = json.strip_prefix(r#"{"type":""#)?.split_once('"')?;
        // The most frequent first.
        let common = [Self::NodeEnter, Self::NodeExit, Self::EdgeEvaluate, Self::Transition];
        common.into_iter().chain(Self::ALL).find(|kind| kind.name() == name)
    }
}
