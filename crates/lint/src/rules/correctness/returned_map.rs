//! `correctness/returned-map`: a returned map with an invalid key or value.

use crate::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/returned-map",
    level: LintLevel::Error,
    summary: "a returned map with an invalid key or value",
    manual: include_str!("../../manual/correctness/returned-map.md"),
    options: &[],
    check: None,
};

#[cfg(test)]
mod tests {
    use crate::manual::{AROUND, ExampleFile};
    use crate::testing::{Example, all};

    /// The findings of the project of the manual pages with a rule of a verdict, a rule of roots, a responder and an effect of these bodies.
    fn found(verdict: &str, root: &str, responder: &str, effect: &str) -> Vec<String> {
        let file = |path: &str, text: String| ExampleFile { path: path.into(), text };
        let pipeline = AROUND[0].1.replace("most: 3 }", "most: 3, floor: 0.5 }").replace("  - name: judge\n", "  - name: judge\n    script: \"agents/judge.rhai#judge\"\n    effect: \"agents/judge.rhai#effect\"\n    schema: { score: { type: number, min: 0, max: 1 }, label: { enum: [good, bad] } }\n")
            + "verdict:\n  floor: floor\n  undecided: unknown\n  priors: { product: 0, test: 0 }\n  rules:\n    - { id: V1, name: threw, group: crash, for: { product: 1.5 }, rule: \"verdicts/x.rhai#threw\" }\nroots:\n  - { id: R1, name: place, confidence: 0.9, rule: \"verdicts/x.rhai#place\" }\n";
        let rules = format!(
            "/// A verdict.\nfn threw(evidence, context, vars) {{ {verdict} }}\n/// A root.\nfn place(evidence, context, vars) {{ {root} }}\n"
        );
        let agents = format!(
            "/// Answers.\nfn judge(params, vars) {{ {responder} }}\n/// Writes.\nfn effect(artifact, params) {{ {effect} }}\n"
        );
        let example = Example::of(&[
            file(AROUND[0].0, pipeline),
            file("scripts/verdicts/x.rhai", rules),
            file("scripts/agents/judge.rhai", agents),
        ]);
        let ids = ["correctness/", "verdicts/no-reason"];
        all(&example)
            .into_iter()
            .filter(|one| ids.iter().any(|id| one.rule.starts_with(id)))
            .map(|one| format!("{}: {}", one.rule, one.diagnostic.message))
            .collect()
    }

    #[test]
    fn mistakes_in_functions_of_every_role_are_found() {
        let (verdict, root, responder, effect) = (
            "let line = evidence.lines.find(|line| line.source == \"error\"); if line == () { return; } #{ strength: 0.5, because: line.text, about: [line.id] }",
            "let frame = evidence.frames.find(|frame| frame.owner == \"product\"); if frame == () { return; } #{ key: #{ at: frame.path }, because: frame.function }",
            "#{ score: 0.5, label: \"good\" }",
            "[#{ effect: \"note\", text: artifact.label }]",
        );
        assert_eq!(found(verdict, root, responder, effect), [""; 0]);
        for (from, to, rule, message) in [
            ("evidence.lines", "evidence.lnies", "unknown-field", "no field `lnies` on `evidence`"),
            ("line.text", "line.txt", "unknown-field", "no field `txt` on `evidence.lines[]`"),
            ("\"error\"", "\"eror\"", "enum-value", "`evidence.lines[].source` is never \"eror\""),
            (
                "line == ()",
                "evidence.checks > 2",
                "compare-types",
                "`evidence.checks` is a list and cannot be compared with a number",
            ),
            ("line == ()", "context.failure.naem == \"\"", "unknown-field", "no field `naem` on `context.failure`"),
            ("line == ()", "line.level == \"warn\"", "absent-field", "`evidence.lines[].level` may be absent"),
            ("strength: 0.5", "score: 0.5", "returned-map", "unknown key `score` in the returned map"),
            ("strength: 0.5", "strength: 1.5", "returned-map", "`strength` is a number from 0 to 1, not 1.5"),
            ("strength: 0.5", "strength: \"high\"", "returned-map", "`strength` is a number, not a string"),
            ("\"product\"", "\"prodcut\"", "enum-value", "`evidence.frames[].owner` is never \"prodcut\""),
            ("key: #{ at: frame.path }", "key: 7", "returned-map", "`key` is a string or an object, not a number"),
            ("key: #{ at: frame.path }, ", "", "returned-map", "the returned map lacks `key`"),
            ("score: 0.5", "scoer: 0.5", "returned-map", "`scoer` is not a field of the"),
            ("score: 0.5", "score: 2", "returned-map", "is never 2"),
            ("\"good\"", "\"goood\"", "returned-map", "is never \"goood\""),
            ("#{ score: 0.5, ", "let x = params.failur; #{ score: 0.5, ", "unknown-field", "no field `failur` on `params`"),
            ("\"note\"", "\"ntoe\"", "returned-map", "unknown effect `ntoe`"),
            ("text: artifact.label", "txet: artifact.label", "returned-map", "unknown key `txet` of the effect `note`"),
            (", because: frame.function", "", "no-reason", "lacks `because`"),
        ] {
            let changed = |text: &str| if text.contains(from) { text.replacen(from, to, 1) } else { text.to_owned() };
            let all = found(&changed(verdict), &changed(root), &changed(responder), &changed(effect));
            assert!(all.iter().any(|one| one.contains(&format!("{rule}: ")) && one.contains(message)), "{from} -> {to}: {all:?}");
        }
    }

    #[test]
    fn a_field_that_was_asked_for_is_read() {
        let asked = "if !evidence.lines.any(|line| \"level\" in line && line.level == \"error\") { return; } #{ because: \"x\" }";
        let (root, responder, effect) = ("()", "#{ score: 0.5, label: \"good\" }", "[]");
        assert_eq!(found(asked, root, responder, effect), [""; 0]);
        let with_default =
            "if !evidence.lines.any(|line| get_or(line, \"level\", \"\") == \"error\") { return; } #{ because: \"x\" }";
        assert_eq!(found(with_default, root, responder, effect), [""; 0]);
        let typo = with_default.replace("\"level\"", "\"levle\"");
        assert!(found(&typo, root, responder, effect)[0].contains("no field `levle`"));
    }
}
