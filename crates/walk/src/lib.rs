//! The walk: one step function, the driver, routing, the state as a fold over events, and the ports to the outside.
//!
//! Nothing here does I/O. A [`Walker`] walks a case along a [`Plan`] (a pipeline linked with its scripts), requests each node's
//! artifact from an [`Answerer`], evaluates the rules to choose the next edge, and stores every step in a [`Journal`] as one
//! [`Commit`].
//!
//! A file imports from its own line and those above it.
//!
//! ```text
//! name, sourced, path, error, outcome, content, bounds, because, cluster, fields, views  basic types
//! agent, branch, event_kind, event, walker_assignments, event_lines, event_outline, journal, queries, memory  the record, and the ports to it
//! mask, team_plan, foreach_plan, tool, gate, policy, verdict, root, plan, node_view  a linked pipeline
//! visit, open_request, attempt, state, fork, foreach, revisions, loop_detector, thermal, budget  the state of a walk
//! step_context, policy_params, params, bare_prompt  inputs of scripts, templates and answerers
//! answer, step_log, request_log, request, answerer  requesting an artifact
//! route, rule_inputs, shadow, decision_step, masks, team  choosing an edge and a walker; masks
//! walker, policy_step, step, branches  taking one step
//! ready_set, drive  walking a case
//! ```

mod agent;
mod answer;
mod answerer;
mod attempt;
mod bare_prompt;
mod because;
mod bounds;
mod branch;
mod branches;
mod budget;
mod cluster;
mod content;
mod decision_step;
mod drive;
mod error;
mod event;
mod event_kind;
mod event_lines;
mod event_outline;
mod fields;
mod foreach;
mod foreach_plan;
mod fork;
mod gate;
mod journal;
mod loop_detector;
mod mask;
mod masks;
mod memory;
mod name;
mod node_view;
mod open_request;
mod outcome;
mod params;
mod path;
mod plan;
mod policy;
mod policy_params;
mod policy_step;
mod queries;
mod read_evidence;
mod ready_set;
mod request;
mod request_log;
mod review;
mod revisions;
mod root;
mod route;
mod rule_failures;
mod rule_inputs;
mod scripted;
mod shadow;
mod sourced;
mod state;
mod step;
mod step_context;
mod step_log;
mod step_spans;
mod team;
mod team_plan;
mod thermal;
mod tool;
mod verdict;
mod views;
mod visit;
mod walker;
mod walker_assignments;

pub use agent::{Agent, TokenUsage};
pub use answer::{AfterRefusal, NodeAnswer, Refusal, WALK};
pub use answerer::Answerer;
pub use attempt::{FailedAttempt, FailedNode, ReviewedStep};
pub use bare_prompt::{called, of_review, untemplated};
pub use because::input;
pub use branch::{Branch, BranchKind, BranchOrigin, ITEM};
pub use cluster::{Cluster, Clustering};
pub use content::{Content, ContentBuilder, assemble, assemble_part, build_content, has_part};
pub use decision_step::DecisionStep;
pub use drive::WalkEnd;
pub use error::{Failure, FailureKind};
pub use event::{ConsideredEdge, Event, EventBody, FIRST, ReloadCause, TextChange};
pub use event_kind::EventKind;
pub use event_lines::EventLines;
pub use event_outline::{EnterOutline, ErrorOutline, EventOutline, ExitOutline, TransitionOutline, UnreadDecision};
pub use fields::{
    DocumentedField, EVIDENCE, FINDING, FieldGroup, FieldType, GROUPS, KnownWords, ProjectWords, ROOT, STATE, VERDICT,
    documented_field, documented_group, group_kind,
};
pub use foreach::joined;
pub use foreach_plan::{ForeachPlan, MergePlan};
pub use gate::{AdvisorPlan, CouncilPlan, GateDecision, GatePlan, ReviewInquiry};
pub use journal::{Blob, Commit, Journal, JournalError};
pub use mask::Mask;
pub use memory::{NullJournal, NullQueries};
pub use name::{Name, Reason};
pub use node_view::TemplateView;
pub use open_request::OpenRequest;
pub use outcome::EdgeOutcome;
pub use params::{CaseParams, MadeRoot, MadeVerdict, Params, VerdictQueries, recorded_params};
pub use path::{BRANCH, is_branch, nodes_of, place_of};
pub use plan::{EdgeRule, Plan, PlanNode};
pub use policy::{PolicyBudget, PolicyPlan, StepPolicy, TaskPlan};
pub use policy_params::rendered;
pub use policy_step::CACHE;
pub use queries::{CODE, NEEDS, PEERS, Queries, Query, QuerySubject, SubjectEvidence, unknown_code, unknown_history};
pub use read_evidence::ReadEvidence;
pub use request::{AnswerTimeout, PromptRequest, Request, review_violation, schema_violation, validate};
pub use review::{AdvisorReview, validate_review};
pub use revisions::{Revision, RevisionSource};
pub use root::{Root, RootFunction, RootPlan, RootWords, key_of};
pub use route::{AskRule, Decision, EdgeChoice, FALLBACK, decide, decide_with};
pub use rule_failures::{RuleFailure, RuleFailures};
pub use rule_inputs::RuleInputs;
pub use scripted::ScriptedStep;
pub use sourced::Sourced;
pub use state::{PassedNode, RecordedRoot, RecordedVerdict, WalkState, WalkStatus};
pub use step_context::{StepContext, StepMoment};
pub use team_plan::{TeamMember, TeamPlan};
pub use tool::{Call, TOOL, ToolPlan, WORKDIR, WORKDIR_OF};
pub use verdict::{
    DefectWeights, FailedRule, Hypothesis, SignatureWeights, SpokenRule, TERMS, TermWeights, Verdict, VerdictFunction,
    VerdictPlan, evidence_terms, is_term,
};
pub use views::{recorded_state, walker_view};
pub use visit::Visit;
pub use walker::Walker;
pub use walker_assignments::{StepWalker, WalkerAssignments};

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
