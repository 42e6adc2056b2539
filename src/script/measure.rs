//! What calls cost, for people: `cargo test --release --lib script::measure -- --ignored --nocapture`.

use super::testing::{find, link};
use super::{Inputs, Library, View};
use crate::model::{Field, Kind, Shape};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

fn artifact(extra: usize) -> Value {
    let mut value = super::testing::artifact();
    for at in 0..extra {
        value[format!("extra_{at}")] = at.into();
    }
    value["many"] = (0..50).map(|at| json!({"name": format!("r{at}"), "score": f64::from(at) / 50.0})).collect();
    value
}

fn best_of(mut work: impl FnMut()) -> u128 {
    let rounds = 5_000;
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..rounds {
            work();
        }
        start.elapsed().as_nanos() / rounds
    };
    (0..9).map(|_| time(&mut work)).min().unwrap_or_default()
}

#[test]
#[ignore = "a measurement"]
fn what_a_call_costs() {
    let rules = "fn nop(artifact, state, vars) { true }
        fn hit(artifact, state, vars) { artifact.match && artifact.confidence >= vars.t }
        fn nested(artifact, state, vars) { artifact.nested.a.b > 3 && artifact.list.len() > 0 }
        fn any(artifact, state, vars) { artifact.many.any(|r| r.score > 0.9) }
        fn every(artifact, state, vars) { let n = 0; for r in artifact.many { if r.score > 0.5 { n += 1; } } n > 3 }
        fn helper(artifact, state, vars) { hit(artifact, state, vars) }";
    let library = link(&[("r.rhai", rules)]);
    let vars = View::object("vars", [("t", View::from(0.8))]);
    let state = View::object("state", [("loops", View::map("state.loops", [("a", View::from(1))], View::from(0)))]);
    for extra in [0, 15_000] {
        let json = artifact(extra);
        let view = View::of(&json, &Kind::Any, "artifact");
        for name in ["nop", "hit", "nested", "any", "every", "helper"] {
            let rule = find(&library, &format!("r.rhai#{name}"), 3);
            println!(
                "{:>8} ns  {name}, {} fields",
                best_of(|| drop(black_box(rule.decide(&view, &state, &vars)))),
                json.as_object().map_or(0, |o| o.len())
            );
        }
        let start = Instant::now();
        for _ in 0..20 {
            black_box(View::of(&json, &Kind::Any, "artifact"));
        }
        println!("{:>8} ns  JSON to view", start.elapsed().as_nanos() / 20);
    }
    let rule = find(&library, "r.rhai#hit", 3);
    let view = View::of(&artifact(0), &Kind::Any, "artifact");
    for threads in [1, 2, 4] {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..100_000).for_each(|_| drop(black_box(rule.decide(&view, &state, &vars)))));
            }
        });
        println!("{:>8} ns  a call, {threads} threads", start.elapsed().as_nanos() / 100_000 / threads);
    }
    let start = Instant::now();
    for _ in 0..200 {
        black_box(View::object("state", [("node", View::from("x")), ("steps", View::from(3)), ("elapsed_s", View::from(0.5))]));
    }
    println!("{:>8} ns  state of 3", start.elapsed().as_nanos() / 200);
}

#[test]
#[ignore = "a measurement"]
fn what_linking_costs() {
    let scripts: Vec<(String, String)> = (0..100)
        .map(|at| {
            let import = if at > 0 { format!("import \"d/f{}\" as p;\n", at / 4) } else { String::new() };
            let text = format!(
                "{import}/// Doc.\nfn rule(artifact, state, vars) {{ artifact.confidence >= vars.t && artifact.field_{} > {at} }}\n\
                 fn b(artifact) {{ let n = 0; for x in artifact.list {{ if x > {at} {{ n += x; }} }} n > 1 }}\nfn c(x) {{ x }}\n",
                at % 50
            );
            (format!("d/f{at}.rhai"), text)
        })
        .collect();
    let inputs = || Inputs {
        scripts: scripts.iter().map(|(path, text)| crate::diag::Source::new(path, text)).collect(),
        fields: BTreeSet::from(["confidence".to_owned()]),
        ..Inputs::default()
    };
    let start = Instant::now();
    let library = Library::link(inputs(), None).expect("links");
    println!("cold: {:?}", start.elapsed());
    let start = Instant::now();
    let again = Library::link(inputs(), Some(&library)).expect("links");
    println!("nothing changed: {:?} {again:?}", start.elapsed());
    let kind = Kind::Object(Arc::new(Shape {
        name: "a".into(),
        fields: vec![Field { name: "confidence".into(), kind: Kind::Number { min: None, max: None }, required: true }],
    }));
    black_box(kind);
}
