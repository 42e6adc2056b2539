//! Links `roots:`.

use super::linked_pipeline::ProjectLinker;
use super::vars;
use super::verdict::VerdictData;
use crate::diag::Diagnostics;
use crate::model::{Hash, Kind};
use crate::script::check::CheckedParameter;
use crate::walk::{Content, RootFunction, RootPlan};
use serde_json::json;

impl ProjectLinker<'_> {
    /// Links the pipeline's rules of roots, if it has any.
    pub(super) fn roots(&self, data: VerdictData<'_>, found: &mut Diagnostics) -> Option<RootPlan> {
        let written = &self.pipeline.roots;
        let vars = vars::kind(self.pipeline, self.vars);
        let any = Kind::Any;
        let inputs = [("evidence", &any), ("context", &any), ("vars", &vars)];
        let inputs = inputs.map(|(name, kind)| CheckedParameter { name, kind });
        let mut rules = Vec::with_capacity(written.len());
        for rule in written {
            let Some(function) = self.function(&rule.rule, 3, found) else { continue };
            for diagnostic in self.library.check(&function, &inputs).diagnostics {
                if !found.iter().any(|known| *known == diagnostic) {
                    found.push(diagnostic);
                }
            }
            let (line, _) = self.pipeline.source.line_column(rule.span.start);
            rules.push(RootFunction {
                id: rule.id.as_str().into(),
                name: rule.name.as_str().into(),
                at: format!("pipelines/{}:{line}", self.pipeline.source.name()).into(),
                confidence: rule.confidence,
                in_launch: rule.in_launch,
                consequence: rule.consequence,
                function,
            });
        }
        if written.is_empty() {
            return None;
        }
        let data_address = Hash::of_json(&json!([data.evidence.address(), data.data.hash()]));
        let plan = RootPlan { rules, vars: data.vars.clone(), data: data_address, address: Hash::of(b"") };
        Some(with_vars(&plan, data.vars))
    }
}

/// The plan with the vars in force.
pub(super) fn with_vars(plan: &RootPlan, vars: &Content) -> RootPlan {
    let rule = |rule: &RootFunction| {
        json!([rule.id, rule.function.hash(), rule.function.name(), rule.confidence, rule.in_launch, rule.consequence])
    };
    let rules = plan.rules.iter().map(rule).collect::<Vec<_>>();
    let address = Hash::of_json(&json!([rules, vars.hash(), plan.data]));
    RootPlan { vars: vars.clone(), address, ..plan.clone() }
}
