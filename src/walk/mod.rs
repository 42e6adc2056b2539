//! The walk: one step function, the edges driver, routing, the state as a fold over events, and the ports to the outside.
//!
//! Nothing here does I/O. A [`Walker`] takes a case along a [`Plan`] (a pipeline linked with its scripts), asks an
//! [`Answerer`] for each node's artifact, lets the rules choose the next edge, and hands every step to a [`Journal`] as one
//! [`Commit`].

mod agent;
mod because;
mod branch;
mod branches;
mod cluster;
mod content;
mod decision_step;
mod drive;
mod error;
mod event;
mod fields;
mod foreach;
mod fork;
mod loop_detector;
mod masks;
mod memory;
mod node_view;
mod outcome;
mod params;
mod plan;
mod ports;
mod ready_set;
mod request;
mod requests;
mod revisions;
mod route;
mod shadow;
mod state;
mod step;
mod team;
mod thermal;
mod tool;
mod views;

pub use agent::{Agent, TokenUsage};
pub use because::input;
pub use branch::{BRANCH, Branch, BranchKind, is_branch};
pub use cluster::{Cluster, Clustering};
pub use content::{Content, assemble};
pub use decision_step::DecisionStep;
pub use drive::{WalkEnd, Walker};
pub use error::{Failure, FailureKind};
pub use event::{ConsideredEdge, EdgeOutcome, Event, EventBody, Name, Reason, ReloadCause, TextChange, place_of};
pub use fields::{DocumentedField, FieldGroup, GROUPS, STATE};
pub use foreach::{BranchOrigin, ForeachPlan, MergePlan, joined};
pub use fork::ITEM;
pub use masks::Mask;
pub use memory::{NullJournal, NullQueries};
pub use params::{CaseParams, Params, StepPlace, recorded_params};
pub use plan::{EdgeRule, Plan, PlanNode, nodes_of};
pub use ports::{
    AfterRefusal, Answerer, Blob, Commit, Journal, JournalError, NEEDS, NodeAnswer, Queries, Query, QuerySubject, Refusal,
};
pub use request::{Request, bare, complaints, misfit};
pub use requests::{OpenRequest, PromptRequest};
pub use revisions::{FIRST, Revision, RevisionSource};
pub use route::{AskRule, Decision, EdgeChoice, FALLBACK, decide, decide_asking};
pub use state::{Visit, WalkState, WalkStatus};
pub use step::WALK;
pub use team::{ChoiceMoment, TeamMember, TeamPlan};
pub use tool::{Call, TOOL, ToolPlan, called};
pub use views::{recorded_state, walker_view};
