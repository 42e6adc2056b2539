//! Resolves the references of a pipeline to the other languages, and checks them.

use super::DataFiles;
use super::conditions::{arguments_key, condition_key, items_key};
use super::linked_pipeline::ProjectLinker;
use super::settings::{AnswererNames, SCRIPT};
use super::{forms, kinds, masks, prompts, vars};
use asterisk_base::model::{Deferred, Kind};
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_pipeline::{self as pipeline, ComputedValue, EdgeCondition, PipelineNode, Spanned};
use asterisk_prompt::Template;
use asterisk_script::check::{self, Checker};
use asterisk_script::{FunctionRef, LinkedScript, ScriptFunction, View};
use asterisk_walk::{EdgeRule, ForeachPlan, MergePlan, NEEDS, PlanNode, Query, ToolPlan, WORKDIR};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The one tool of [`WORKDIR`].
const CALL: &str = "call";

impl ProjectLinker<'_> {
    /// Links the rules of all edges, checked against the schemas of their nodes.
    pub(super) fn rules(&self, found: &mut Diagnostics) -> Vec<Option<EdgeRule>> {
        let (state, vars) = (kinds::state(&kinds::no_words), vars::kind(self.pipeline, self.vars));
        let kind_at = |edge: &pipeline::Edge| match edge.from {
            pipeline::EdgeOrigin::Node(node) => kinds::merged_kind(self.pipeline.at(node)),
            pipeline::EdgeOrigin::Any => Kind::Any,
        };
        let artifacts: Vec<Kind> = self.pipeline.edges.iter().map(kind_at).collect();
        // One checker per script: preparing a script takes longer than checking one of its functions.
        let modules = |path: &str| self.library.file(path).map(LinkedScript::unit);
        let mut checkers: BTreeMap<&str, Checker<'_>> = BTreeMap::new();
        let rule = |(edge, artifact)| {
            let edge: &pipeline::Edge = edge;
            let function = match &edge.when {
                EdgeCondition::Always => return None,
                EdgeCondition::Rule(reference) => self.function(reference, 3, found)?,
                EdgeCondition::Condition(_) => self.library.condition(&condition_key(self.part, &edge.id))?,
            };
            let script = function.hash();
            if self.is_checked(&function) {
                return Some(EdgeRule { script, reads: self.reads(&function, artifact, &state, &vars), function });
            }
            let inputs = [("artifact", artifact), ("state", &state), ("vars", &vars)];
            let inputs = inputs.map(|(name, kind)| check::CheckedParameter { name, kind });
            let analysis = match function.file().and_then(|path| self.library.file(path)) {
                Some(file) => {
                    let checker = checkers.entry(file.path()).or_insert_with(|| Checker::new(file.unit(), &modules));
                    checker.function(function.name(), &inputs)
                }
                None => self.library.check(&function, &inputs),
            };
            for diagnostic in analysis.diagnostics {
                if !found.iter().any(|known| *known == diagnostic) {
                    found.push(diagnostic);
                }
            }
            self.counters(&analysis.reads, found);
            traits(&analysis.reads, found);
            let reads = Deferred::ready(analysis.reads.iter().map(|read| read.path.as_str().into()).collect());
            Some(EdgeRule { function, reads, script })
        };
        self.pipeline.edges.iter().zip(&artifacts).map(rule).collect()
    }

    /// What a rule reads, determined on demand.
    fn reads(&self, function: &ScriptFunction, artifact: &Kind, state: &Kind, vars: &Kind) -> Deferred<Vec<Box<str>>> {
        let (library, function) = (self.library.clone(), function.clone());
        let [artifact, state, vars] = [artifact, state, vars].map(Kind::clone);
        Deferred::new(move || {
            let inputs = [("artifact", &artifact), ("state", &state), ("vars", &vars)];
            let inputs = inputs.map(|(name, kind)| check::CheckedParameter { name, kind });
            library.check(&function, &inputs).reads.iter().map(|read| read.path.as_str().into()).collect()
        })
    }

    /// Warns about counters that no edge increments: they are always 0, most likely a typo.
    fn counters(&self, reads: &[check::FieldReadSite], found: &mut Diagnostics) {
        let inherited = || self.pipeline.counters.iter().map(|counter| counter.as_str());
        let counted = || self.pipeline.edges.iter().filter_map(|edge| edge.counter.as_deref()).chain(inherited());
        for read in reads {
            let Some(name) = read.path.strip_prefix("state.loops.") else { continue };
            if counted().any(|counter| counter == name) {
                continue;
            }
            let message = format!("no edge of `{}` counts `{name}`: it is always 0", *self.pipeline.name);
            let warning = Diagnostic::warning("project/unknown-counter", message).label(&read.source, read.span, "read here");
            let warning = warning.maybe_help(did_you_mean(name, counted()));
            if !found.iter().any(|known| *known == warning) {
                found.push(warning);
            }
        }
    }

    pub(super) fn node(
        &self,
        node: &PipelineNode,
        answers: AnswererNames,
        files: &DataFiles,
        template: Option<Arc<Template>>,
        found: &mut Diagnostics,
    ) -> PlanNode {
        let agent = self.agent_script(node, files, found);
        for name in &node.via {
            self.agent(name, name.span, found);
        }
        PlanNode {
            name: node.name.as_str().into(),
            view: View::from(node.name.as_str()),
            kind: kinds::merged_kind(node),
            responder: match &agent {
                Some((function, _)) => function.clone(),
                None => self.responder(node, answers, found),
            },
            accept: node.accept.as_ref().and_then(|reference| self.function(reference, 2, found)),
            effect: node.effect.as_ref().and_then(|reference| self.function(reference, 2, found)),
            template,
            answer: prompts::answer(node),
            needs: node.needs.iter().filter_map(|need| self.need(need, found)).collect(),
            masks: masks::of_node(self, node, found),
            via: match &node.tool {
                Some(tool) => vec![ToolPlan::via(tool.server())],
                None if node.via.is_empty() => agent.map(|(_, via)| via).unwrap_or_default(),
                None => node.via.iter().map(|name| name.as_str().into()).collect(),
            },
            policy: None,
            tool: self.tool(node, found),
            subpipeline: None,
            foreach: node.foreach.as_ref().and_then(|foreach| self.foreach(node, foreach, found)),
        }
    }

    /// Links the items of a `foreach` node, and the merge of their artifacts.
    fn foreach(&self, node: &PipelineNode, foreach: &pipeline::Foreach, found: &mut Diagnostics) -> Option<ForeachPlan> {
        let items = self.computed(&foreach.items, &items_key(node), found)?;
        let merge = match &foreach.merge {
            pipeline::Merge::Append => MergePlan::Append,
            pipeline::Merge::First => MergePlan::First,
            pipeline::Merge::Latest => MergePlan::Latest,
            pipeline::Merge::Best => MergePlan::Best,
            pipeline::Merge::Function(reference) => MergePlan::Script(self.function(reference, 2, found)?),
        };
        let place = (self.pipeline.source.clone(), foreach.span);
        Some(ForeachPlan {
            items,
            merge,
            collect: foreach.collect,
            kind: kinds::kind_of(node),
            concurrency: foreach.concurrency,
            place,
        })
    }

    fn computed(&self, computed: &ComputedValue, key: &str, found: &mut Diagnostics) -> Option<ScriptFunction> {
        match computed {
            ComputedValue::Function(reference) => self.function(reference, 2, found),
            ComputedValue::Expression(_) => self.library.condition(&condition_key(self.part, key)),
        }
    }

    /// Links the tool of a node, with its arguments.
    fn tool(&self, node: &PipelineNode, found: &mut Diagnostics) -> Option<ToolPlan> {
        let tool = node.tool.as_ref()?;
        let (server, known) = (tool.server(), self.servers.unwrap_or_default());
        let judge = tool.judge.as_ref().and_then(|reference| self.function(reference, 2, found));
        if server == WORKDIR {
            self.workdir_tool(tool, found);
        } else if self.servers.is_some() && !known.iter().any(|known| known == server) {
            let message = format!("unknown tool server `{server}`");
            let hint = did_you_mean(server, known.iter().map(String::as_str));
            let error = Diagnostic::error("project/unknown-server", message);
            let error = error.label(&self.pipeline.source, tool.name.span, "its tool is called here");
            let help = format!("{}\nservers are configured under `mcp_servers:` in asterisk.yaml", hint.unwrap_or_default());
            found.push(error.help(help.trim_start().to_owned()));
        }
        let arguments = match &tool.arguments {
            Some(computed) => Some(self.computed(computed, &arguments_key(node), found)?),
            None => None,
        };
        let place = (self.pipeline.source.clone(), tool.name.span);
        Some(ToolPlan { server: server.to_owned(), name: tool.tool().to_owned(), arguments, judge, place })
    }

    /// Reports a call in the working directory without a judge, or of an unknown tool.
    fn workdir_tool(&self, tool: &pipeline::ToolCall, found: &mut Diagnostics) {
        let mut report = |message: String, help: &str| {
            let error = Diagnostic::error("project/workdir", message).help(help.to_owned());
            found.push(error.label(&self.pipeline.source, tool.name.span, "called here"));
        };
        if tool.tool() != CALL {
            report(
                format!("no tool `{}` in `{WORKDIR}`", tool.tool()),
                "write `tool: workdir/call`; its arguments name the tool and its inputs",
            );
        }
        if tool.judge.is_none() {
            report(format!("the calls of `{WORKDIR}/{CALL}` need a judge"), "add `judge: policy/tools.rhai#judge`");
        }
    }

    /// Links a node's responder: its own script, or that of its family, `agents/<family>.rhai#<family>`.
    fn responder(&self, node: &PipelineNode, answers: AnswererNames, found: &mut Diagnostics) -> Option<ScriptFunction> {
        if node.subpipeline.is_some() || node.tool.is_some() {
            return None;
        }
        if let Some(reference) = &node.script {
            return self.function(reference, 2, found);
        }
        let file = format!("agents/{}.rhai", *node.family);
        let reference = FunctionRef { file, function: node.family.value.clone() };
        match self.library.function(&reference, 2) {
            Ok(function) => Some(function),
            Err(_) if answers == AnswererNames::Others => None,
            // It has other answerers.
            Err(_) if !node.via.is_empty() && !node.via.iter().any(|name| name.as_str() == SCRIPT) => None,
            Err(diagnostic) => {
                let message = format!("nothing answers `{}`: {}", *node.name, diagnostic.message);
                let families = self.library.paths().filter_map(|path| {
                    let stem = path.strip_prefix("agents/")?.strip_suffix(".rhai")?;
                    self.library.mentions(path, stem).then(|| stem.to_owned())
                });
                let families: Vec<String> = families.collect();
                let hint = did_you_mean(&node.family, families.iter().map(String::as_str));
                let help = format!(
                    "write `fn {}(params, vars)` in `{}`, name another `family:`, or use other answerers (--stub, --via){}",
                    *node.family,
                    reference.file,
                    hint.map_or(String::new(), |hint| format!("; {hint}")),
                );
                let diagnostic = Diagnostic::error("project/no-responder", message);
                found.push(diagnostic.label(&self.pipeline.source, node.family.span, "of this family").help(help));
                None
            }
        }
    }

    pub(super) fn template(&self, node: &PipelineNode, found: &mut Diagnostics) -> Option<Arc<Template>> {
        let Some(prompt) = &node.prompt else {
            if node.tool.is_some() {
                return None;
            }
            return self.templates.get(&format!("{}.md", *node.family)).cloned();
        };
        let template = self.templates.get(prompt).cloned();
        // One that does not compile has been reported already.
        if template.is_none() && !self.texts.iter().any(|text| text.name() == prompt.as_str()) {
            let hint = did_you_mean(prompt, self.texts.iter().map(Source::name));
            let diagnostic = Diagnostic::error("project/unknown-template", format!("unknown template `{}`", **prompt));
            found.push(diagnostic.label(&self.pipeline.source, prompt.span, "named here").maybe_help(hint));
        }
        template
    }

    pub(super) fn need(&self, need: &Spanned<String>, found: &mut Diagnostics) -> Option<&'static Query> {
        let known = NEEDS.iter().find(|known| known.name == need.value);
        if known.is_none() {
            let hint = did_you_mean(need, NEEDS.iter().map(|need| need.name));
            let diagnostic = Diagnostic::error("project/unknown-need", format!("unknown query `{}`", **need));
            found.push(diagnostic.label(&self.pipeline.source, need.span, "requested here").maybe_help(hint));
        }
        known
    }

    /// The functions for cluster keys of cases, for their summaries, and for the result of a subpipeline.
    pub(super) fn of_cases(&self, found: &mut Diagnostics) -> [Option<ScriptFunction>; 3] {
        let pipeline::Pipeline { clusters, report, result, .. } = &**self.pipeline;
        let by = clusters.as_ref().map(|clusters| &clusters.by);
        [by, report.as_ref(), result.as_ref()].map(|reference| self.function(reference?, 2, found))
    }
}

/// Reports traits that no element has: they are always `()`, certainly a typo.
fn traits(reads: &[check::FieldReadSite], found: &mut Diagnostics) {
    for read in reads {
        let Some(rest) = read.path.strip_prefix("state.walker.traits.") else { continue };
        let name = rest.split('.').next().unwrap_or(rest);
        if forms::traits().any(|known| known == name) {
            continue;
        }
        let known = || format!("the traits are {}", forms::traits().collect::<Vec<_>>().join(", "));
        let error = Diagnostic::error("project/unknown-trait", format!("unknown trait `{name}` of elements"));
        let error = error.label(&read.source, read.span, "read here");
        let error = error.help(did_you_mean(name, forms::traits()).unwrap_or_else(known));
        if !found.iter().any(|known| *known == error) {
            found.push(error);
        }
    }
}
