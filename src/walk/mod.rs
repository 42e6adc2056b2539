//! The walk: one step function, the edges driver, routing, the state as a fold over events, and the ports to the outside.
//!
//! Nothing here does I/O. A [`Walker`] takes a case along a [`Plan`] (a pipeline linked with its scripts), asks an
//! [`Answer`] for each node's artifact, lets the rules choose the next edge, and hands every step to a [`Journal`] as one
//! [`Commit`].

mod agent;
mod asked;
mod because;
mod branch;
mod branches;
mod cluster;
mod content;
mod drive;
mod error;
mod event;
mod fan;
mod fields;
mod fork;
mod lasso;
mod masks;
mod memory;
mod outcome;
mod params;
mod plan;
mod plans;
mod ports;
mod request;
mod round;
mod route;
mod shadow;
mod shown;
mod state;
mod step;
mod team;
mod thermal;
mod tool;
mod turn;
mod views;

pub use agent::{Agent, Tokens};
pub use asked::{Asking, Open};
pub use because::input;
pub use branch::{BRANCH, Branch, By, is_branch};
pub use cluster::{Cluster, Clustering};
pub use content::{Content, assemble};
pub use drive::{End, Walker};
pub use error::{Failure, Kind};
pub use event::{Cause, Change, Considered, Event, Name, Outcome, Reason, What, place_of};
pub use fan::{Fan, Lone, Merge, joined};
pub use fields::{Field, GROUPS, Group, STATE};
pub use fork::ITEM;
pub use masks::Mask;
pub use memory::{NoNeeds, Nowhere};
pub use params::{CaseParams, Params, StepPlace, recorded_params};
pub use plan::{Plan, PlanNode, Rule, nodes_of};
pub use plans::{FIRST, Generation, Plans};
pub use ports::{About, Answer, Blob, Commit, Journal, JournalError, NEEDS, Need, Needs, Next, Refusal, Reply};
pub use request::{Request, bare, complaints, misfit};
pub use route::{Ask, Choice, Decision, FALLBACK, decide, decide_asking};
pub use state::{Status, Visit, WalkState};
pub use step::WALK;
pub use team::{Member, Moment, Team};
pub use tool::{Call, TOOL, Tool, called};
pub use turn::Turn;
pub use views::{recorded_state, walker_view};
