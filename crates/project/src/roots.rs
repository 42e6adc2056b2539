//! Links `roots:`.

use super::ProjectData;
use super::case_rules::CaseKinds;
use super::linked_pipeline::ProjectLinker;
use asterisk_base::model::{Deferred, Hash};
use asterisk_diag::Diagnostics;
use asterisk_script::check::ReturnedValue;
use asterisk_walk::{Content, RootFunction, RootPlan};
use serde_json::json;
use std::sync::Arc;

impl ProjectLinker<'_> {
    /// Links the pipeline's rules of roots, if it has any.
    pub(super) fn roots(
        &self,
        data: &Arc<ProjectData>,
        of_vars: &Content,
        found: &mut Diagnostics,
    ) -> Option<Deferred<RootPlan>> {
        let written = &self.pipeline.roots;
        let mut rules = Vec::with_capacity(written.len());
        let kinds = CaseKinds::new();
        for rule in written {
            let Some(function) = self.function(&rule.rule, 3, found) else { continue };
            self.check_rule(&function, (data, &kinds), ReturnedValue::Root, found);
            rules.push(RootFunction {
                id: rule.id.as_str().into(),
                name: rule.name.as_str().into(),
                at: format!("pipelines/{}", self.pipeline.source.place(rule.span.start)).into(),
                confidence: rule.confidence,
                in_launch: rule.in_launch,
                consequence: rule.consequence,
                function,
            });
        }
        if written.is_empty() {
            return None;
        }
        let (data, vars) = (Arc::clone(data), of_vars.clone());
        Some(Deferred::new(move || {
            let address = Hash::of_json(&json!([data.evidence.address(), data.content.hash()]));
            with_vars(&RootPlan { rules, vars: vars.clone(), data: address, address: Hash::of(b"") }, &vars)
        }))
    }
}

/// The plan with the current vars.
pub(super) fn with_vars(plan: &RootPlan, vars: &Content) -> RootPlan {
    let rule = |rule: &RootFunction| {
        json!([rule.id, rule.function.hash(), rule.function.name(), rule.confidence, rule.in_launch, rule.consequence])
    };
    let rules = plan.rules.iter().map(rule).collect::<Vec<_>>();
    let address = Hash::of_json(&json!([rules, vars.hash(), plan.data]));
    RootPlan { vars: vars.clone(), address, ..plan.clone() }
}
