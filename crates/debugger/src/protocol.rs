//! The types of the Debug Adapter Protocol that are used here, as its schema names them
//! (<https://microsoft.github.io/debug-adapter-protocol>).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A request of the client.
#[derive(Debug, Deserialize)]
pub(crate) struct DapRequest {
    pub(crate) seq: i64,
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// The arguments of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InitializeArguments {
    #[serde(rename = "linesStartAt1")]
    pub(crate) lines_start_at_1: bool,
    #[serde(rename = "columnsStartAt1")]
    pub(crate) columns_start_at_1: bool,
}

impl Default for InitializeArguments {
    fn default() -> Self {
        Self { lines_start_at_1: true, columns_start_at_1: true }
    }
}

/// What the adapter can do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own form")]
pub(crate) struct Capabilities {
    pub(crate) supports_configuration_done_request: bool,
    pub(crate) supports_function_breakpoints: bool,
    pub(crate) supports_conditional_breakpoints: bool,
    pub(crate) supports_hit_conditional_breakpoints: bool,
    pub(crate) supports_log_points: bool,
    pub(crate) supports_evaluate_for_hovers: bool,
    pub(crate) supports_clipboard_context: bool,
    pub(crate) supports_step_back: bool,
    pub(crate) supports_stepping_granularity: bool,
    pub(crate) supports_restart_request: bool,
    pub(crate) supports_terminate_request: bool,
    pub(crate) supports_exception_info_request: bool,
    pub(crate) supports_breakpoint_locations_request: bool,
    pub(crate) supports_loaded_sources_request: bool,
    pub(crate) supports_delayed_stack_trace_loading: bool,
    pub(crate) supports_goto_targets_request: bool,
    pub(crate) supports_set_variable: bool,
    pub(crate) exception_breakpoint_filters: Vec<ExceptionFilter>,
}

/// A kind of failure to stop at.
#[derive(Debug, Serialize)]
pub(crate) struct ExceptionFilter {
    pub(crate) filter: &'static str,
    pub(crate) label: &'static str,
    pub(crate) description: &'static str,
    pub(crate) default: bool,
}

/// The arguments of `launch` and `attach`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LaunchArguments {
    /// The run; the latest by default.
    pub(crate) run: Option<String>,
    /// The case, by id, number or a part of its name; the first by default.
    pub(crate) case: Option<CaseArgument>,
    /// The store.
    pub(crate) store: Option<String>,
    /// The directory of the project.
    pub(crate) project: Option<String>,
    /// The directory of scripts.
    pub(crate) scripts: Option<String>,
    /// A launch: its failures are investigated, and one is debugged.
    pub(crate) input: Option<InputPaths>,
    /// The pipeline, for a launch.
    pub(crate) pipeline: Option<String>,
    pub(crate) texts: TextChoice,
    pub(crate) stop_on_entry: bool,
    /// Whether to stop at the end of the case too.
    pub(crate) stop_at_end: bool,
    /// Whether to ignore breakpoints.
    pub(crate) no_debug: bool,
}

impl Default for LaunchArguments {
    fn default() -> Self {
        Self {
            run: None,
            case: None,
            store: None,
            project: None,
            scripts: None,
            input: None,
            pipeline: None,
            texts: TextChoice::default(),
            stop_on_entry: true,
            stop_at_end: false,
            no_debug: false,
        }
    }
}

/// A case: its name or its number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum CaseArgument {
    Number(u64),
    Name(String),
}

impl std::fmt::Display for CaseArgument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// A path, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum InputPaths {
    One(String),
    Many(Vec<String>),
}

impl InputPaths {
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// The texts that decisions are evaluated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TextChoice {
    /// Those of the run.
    #[default]
    Recorded,
    /// Those of the project as they are now.
    Current,
}

/// A text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DapSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_reference: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetBreakpointsArguments {
    pub(crate) source: DapSource,
    #[serde(default)]
    pub(crate) breakpoints: Vec<SourceBreakpoint>,
    /// The older form: lines only.
    #[serde(default)]
    pub(crate) lines: Vec<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SourceBreakpoint {
    pub(crate) line: i64,
    pub(crate) condition: Option<String>,
    pub(crate) hit_condition: Option<String>,
    pub(crate) log_message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SetFunctionBreakpointsArguments {
    pub(crate) breakpoints: Vec<FunctionBreakpoint>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FunctionBreakpoint {
    pub(crate) name: String,
    pub(crate) condition: Option<String>,
    pub(crate) hit_condition: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SetExceptionBreakpointsArguments {
    pub(crate) filters: Vec<String>,
}

/// The state of a breakpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DapBreakpoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<i64>,
    pub(crate) verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<DapSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BreakpointLocationsArguments {
    pub(crate) source: DapSource,
    pub(crate) line: i64,
    pub(crate) end_line: Option<i64>,
}

/// The arguments of requests that move on: `next`, `stepIn` and the like.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StepArguments {
    pub(crate) granularity: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StackTraceArguments {
    pub(crate) start_frame: Option<i64>,
    pub(crate) levels: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DapStackFrame {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<DapSource>,
    pub(crate) line: i64,
    pub(crate) column: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_column: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScopesArguments {
    pub(crate) frame_id: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DapScope {
    pub(crate) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<&'static str>,
    pub(crate) variables_reference: i64,
    pub(crate) expensive: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariablesArguments {
    pub(crate) variables_reference: i64,
    pub(crate) filter: Option<String>,
    pub(crate) start: Option<i64>,
    pub(crate) count: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DapVariable {
    pub(crate) name: String,
    pub(crate) value: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evaluate_name: Option<String>,
    pub(crate) variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) indexed_variables: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvaluateArguments {
    pub(crate) expression: String,
    #[serde(default)]
    pub(crate) frame_id: Option<i64>,
    #[serde(default)]
    pub(crate) context: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceArguments {
    #[serde(default)]
    pub(crate) source: Option<DapSource>,
    #[serde(default)]
    pub(crate) source_reference: i64,
}

/// The arguments of `restart`: those of a new `launch`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RestartArguments {
    pub(crate) arguments: Option<Map<String, Value>>,
}
