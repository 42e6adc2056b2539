#![allow(clippy::unwrap_used)]
use asterisk::diag::Source;
use asterisk::model::{Kind, Shape, Effect, Handle};
use asterisk::pipeline::{self, Pipeline, Target, When};
use asterisk::script::{Inputs, Library, Limits, Reference, Verdict, View};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

fn walk_dir(root: &Path, dir: &Path, ext: &str, out: &mut Vec<Source>) {
    let mut es: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    es.sort();
    for p in es {
        if p.is_dir() { walk_dir(root, &p, ext, out) }
        else if p.extension().is_some_and(|e| e == ext) {
            out.push(Source::new(p.strip_prefix(root).unwrap().to_str().unwrap(), std::fs::read_to_string(&p).unwrap()));
        }
    }
}
fn of_shape(shape: &Shape, out: &mut BTreeSet<String>) { for f in &shape.fields { out.insert(f.name.clone()); of_kind(&f.kind, out); } }
fn of_kind(kind: &Kind, out: &mut BTreeSet<String>) {
    match kind { Kind::List(i) | Kind::Map(i) => of_kind(i, out), Kind::Object(s) => of_shape(s, out), _ => {} }
}
struct P { pipe: Pipeline, lib: Library, data: View, templates: asterisk::prompt::Templates }
fn load() -> P {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut scripts, mut data, mut templates) = (vec![], vec![], vec![]);
    walk_dir(&root.join("scripts"), &root.join("scripts"), "rhai", &mut scripts);
    walk_dir(&root.join("scripts/data"), &root.join("scripts/data"), "yaml", &mut data);
    walk_dir(&root.join("templates"), &root.join("templates"), "md", &mut templates);
    let src = Source::new("rca.yaml", std::fs::read_to_string(root.join("pipelines/rca.yaml")).unwrap());
    let pipe = pipeline::parse(&src).unwrap_or_else(|d| panic!("{d}"));
    let mut fields = BTreeSet::new();
    for n in &pipe.nodes { if let Some(s) = &n.schema { of_shape(s, &mut fields); } }
    let lib = Library::link(Inputs { scripts, conditions: vec![], fields, limits: Limits::default() }, None).unwrap_or_else(|d| {
        for d in d.iter() { eprintln!("{:?} {d}", d.place()); } panic!("link") });
    let mut map = Map::new();
    for d in data {
        let stem = d.name().trim_end_matches(".yaml").to_owned();
        map.insert(stem, pipeline::yaml::parse(&d).unwrap_or_else(|e| panic!("{e}")).to_json());
    }
    let templates = asterisk::prompt::Templates::compile(templates).unwrap_or_else(|d| panic!("{d}"));
    P { pipe, lib, data: View::of(&Value::Object(map), &Kind::Any, "params.data"), templates }
}
fn kind_of(p: &Pipeline, n: usize) -> Kind { p.nodes[n].schema.as_ref().map_or(Kind::Any, |s| Kind::Object(s.clone())) }
#[derive(Default, Clone)]
struct St { loops: BTreeMap<String, i64>, context: Map<String, Value>, history: Vec<(String, String)>, conf: f64 }
fn state_view(s: &St, node: &str) -> View {
    let visit = |(n, e): &(String, String)| View::object("visit", [("at", View::from("2026-01-01T00:00:00Z")), ("edge", View::from(e.as_str())), ("node", View::from(n.as_str())), ("outcome", View::from(e.as_str()))]);
    View::object("state", [
        ("chance", View::from(0.5)), ("confidence", View::from(s.conf)),
        ("context", View::map("state.context", s.context.iter().map(|(k, v)| (k.as_str(), View::of(v, &Kind::Any, "context"))), View::null())),
        ("elapsed_s", View::from(0.0)), ("handoffs", View::from(0)),
        ("history", View::list("state.history", s.history.iter().map(visit))),
        ("loops", View::map("state.loops", s.loops.iter().map(|(k, v)| (k.as_str(), View::from(*v))), View::from(0))),
        ("node", View::from(node)), ("steps", View::from(s.history.len() as i64)), ("walker", View::null()),
    ])
}
fn call(p: &P, r: &str, n: usize) -> asterisk::script::Function { p.lib.function(&Reference::parse(r).unwrap(), n).unwrap_or_else(|d| panic!("{d}")) }
struct Out { edge: String, to: String, advisories: Vec<String>, because: String }
fn route(p: &P, node: usize, art: &View, s: &mut St, vars: &View) -> Result<Out, String> {
    let n = &p.pipe.nodes[node];
    let sv = state_view(s, &n.name);
    let mut adv = vec![]; let mut ctx = Map::new();
    for ix in &n.advisories {
        let e = p.pipe.edge_at(*ix);
        let When::Rule(r) = &e.when else { panic!() };
        match call(p, r, 3).decide(art, &sv, vars).map_err(|d| d.to_string())? {
            Verdict::No => {}, Verdict::Yes { context, .. } => { adv.push(e.id.value.clone()); ctx.extend(context); }
        }
    }
    for ix in &n.edges {
        let e = p.pipe.edge_at(*ix);
        let v = match &e.when { When::Always => Verdict::yes(), When::Rule(r) => call(p, r, 3).decide(art, &sv, vars).map_err(|d| d.to_string())?, When::Condition(_) => panic!() };
        if let Verdict::Yes { to, because, context } = v {
            let target = match &to { Some(t) => p.pipe.resolve_choice(e, t).ok_or("node_not_found")?, None => e.to.unwrap() };
            ctx.extend(e.context.clone()); ctx.extend(context);
            s.context.extend(ctx);
            if let Some(c) = &e.counter { *s.loops.entry(c.clone()).or_default() += 1; }
            s.history.push((n.name.value.clone(), e.id.value.clone()));
            return Ok(Out { edge: e.id.value.clone(), to: p.pipe.target_name(target).into(), advisories: adv, because: because.unwrap_or_default() });
        }
    }
    match n.fallback { Some(t) => { s.history.push((n.name.value.clone(), "fallback".into())); Ok(Out { edge: "fallback".into(), to: p.pipe.target_name(t).into(), advisories: adv, because: String::new() }) }, None => Err("no_edge".into()) }
}
fn vars_view(p: &P, set: &Map<String, Value>) -> View {
    let mut v = p.pipe.vars_json(); v.extend(set.clone());
    let field = |(n, d): (&String, &Value)| asterisk::model::Field { name: n.clone(), required: true, kind: if d.is_f64() { Kind::Number { min: None, max: None } } else { Kind::Int { min: None, max: None } } };
    let shape = Shape { name: "vars".into(), fields: p.pipe.vars_json().iter().map(field).collect() };
    View::of(&Value::Object(v), &Kind::Object(Arc::new(shape)), "vars")
}
#[test]
fn routes() {
    let p = load();
    let v: Value = serde_json::from_str(&std::fs::read_to_string("/work/shared/vectors/rca_routes.json").unwrap()).unwrap();
    let mut bad = 0;
    for x in v["vectors"].as_array().unwrap() {
        let node = p.pipe.node(x["node"].as_str().unwrap()).unwrap().0;
        let art = View::of(&x["artifact"], &kind_of(&p.pipe, node), "artifact");
        let mut s = St { context: x["state"]["context"].as_object().unwrap().clone(), ..St::default() };
        for (k, n) in x["state"]["loops"].as_object().unwrap() { s.loops.insert(k.clone(), n.as_i64().unwrap()); }
        let vars = vars_view(&p, x["vars"].as_object().unwrap());
        let before = s.context.clone();
        let got = route(&p, node, &art, &mut s, &vars);
        let added: Map<String, Value> = s.context.iter().filter(|(k, _)| !before.contains_key(*k)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let ok = match &got {
            Ok(o) => x["decided"]["edge"] == o.edge.as_str() && x["decided"]["to"] == o.to.as_str() && x["decided"].get("advisories").map_or(o.advisories.is_empty(), |a| *a == json!(o.advisories)),
            Err(e) => x["decided"]["error"] == e.as_str(),
        };
        let ctx_ok = x["expect"].get("context_values").is_none_or(|w| w.as_object().unwrap().iter().all(|(k, v)| added.get(k) == Some(v)));
        println!("{} {} {} {:?}", if ok && ctx_ok { "ok " } else { "BAD" }, x["id"].as_str().unwrap(), got.as_ref().map_or_else(|e| e.clone(), |o| format!("{} -> {}: {}", o.edge, o.to, o.because)), added);
        if !(ok && ctx_ok) { bad += 1; }
    }
    assert_eq!(bad, 0);
}
#[test]
fn walks() {
    let p = load();
    let v: Value = serde_json::from_str(&std::fs::read_to_string("/work/shared/vectors/walks.json").unwrap()).unwrap();
    for x in v["rca"].as_array().unwrap() {
        let vars = vars_view(&p, x["vars"].as_object().unwrap());
        let mut s = St::default(); let mut node = "recall".to_owned(); let (mut nodes, mut edges) = (vec![], vec![]);
        let mut visits = x["visits"].as_array().unwrap().iter();
        while node != "_done" {
            let visit = visits.next().unwrap_or_else(|| panic!("{} ran out at {node}", x["id"]));
            assert_eq!(visit["node"], node.as_str(), "{}", x["id"]);
            let ix = p.pipe.node(&node).unwrap().0;
            let art = View::of(&visit["artifact"], &kind_of(&p.pipe, ix), "artifact");
            nodes.push(node.clone());
            let o = route(&p, ix, &art, &mut s, &vars).unwrap();
            edges.push(o.edge.clone()); node = o.to;
        }
        assert_eq!(x["decided"]["edge_path"], json!(edges), "{}", x["id"]);
        assert_eq!(x["decided"]["node_path"], json!(nodes), "{}", x["id"]);
        assert_eq!(x["decided"]["loop_counts"].as_object().map_or(json!({}), |m| json!(m)), json!(s.loops), "{}", x["id"]);
    }
}
fn any(v: &Value, name: &str) -> View { View::of(v, &Kind::Any, name) }
fn walk_case(p: &P, fx: &Value, verbose: bool) -> (Map<String, Value>, Vec<String>, Vec<String>, St) {
    let vars = vars_view(p, fx["vars"].as_object().unwrap_or(&Map::new()));
    let case = &fx["case"]; let launch = &fx["launch"];
    let t = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let failure = json!({"id": case.get("id").cloned().unwrap_or(json!("case-1")), "name": t(&case["name"]), "suite": t(&case["suite"]), "file": t(&case["file"]),
        "status": case.get("status").cloned().unwrap_or(json!("FAILED")), "duration_s": case["duration_s"], "attributes": case.get("attributes").cloned().unwrap_or(json!({})),
        "error_message": t(&case["error_message"]), "log_snippet": t(&case["log_snippet"]), "log_cut": case["log_cut"], "source_defect": t(&case["source_defect"]), "recall_key": "k"});
    let envelope = json!({"run_id": "1", "name": t(&launch["name"]), "number": null, "status": "FAILED", "totals": launch.get("totals").cloned().unwrap_or(json!({})), "attributes": {}, "cases": 1, "notes": []});
    let git = json!({"branch": t(&launch["git"]["branch"]), "commit": t(&launch["git"]["commit"]), "remote": t(&launch["git"]["remote"])});
    let list = |v: &Value| if v.is_array() { v.clone() } else { json!([]) };
    let mut s = St::default(); let mut node = "recall".to_owned(); let (mut nodes, mut edges) = (vec![], vec![]);
    let mut prior: BTreeMap<String, (Value, View)> = BTreeMap::new();
    let mut bindings = BTreeMap::new();
    while node != "_done" && nodes.len() < 30 {
        let ix = p.pipe.node(&node).unwrap().0;
        let spec = &p.pipe.nodes[ix];
        let needs: Vec<(String, View)> = spec.needs.iter().map(|n| { let k = n.replace('.', "_"); let v = if k == "siblings" { list(&fx["siblings"]) } else { list(&fx["needs"][&k]) }; (k, any(&v, "params.needs")) }).collect();
        let sib = needs.iter().find(|(k, _)| k == "siblings").map_or_else(|| View::list("params.siblings", []), |(_, v)| v.clone());
        let sv = state_view(&s, &node);
        let params = View::object("params", [
            ("data", p.data.clone()), ("env", any(launch.get("attributes").unwrap_or(&json!({})), "params.env")), ("envelope", any(&envelope, "params.envelope")), ("failure", any(&failure, "params.failure")),
            ("git", any(&git, "params.git")), ("history", sv.get("history").unwrap()),
            ("identity", any(&json!({"case": "case-1", "code": spec.code.as_ref().map(|c| c.value.clone()), "node": node, "path": "1", "pipeline": "rca-investigation", "run": "r"}), "params.identity")),
            ("needs", View::object("params.needs", needs.iter().map(|(k, v)| (k.as_str(), v.clone())))),
            ("prior", View::map("params.prior", prior.iter().map(|(k, v)| (k.as_str(), v.1.clone())), View::null())),
            ("siblings", sib), ("state", sv.clone()), ("taxonomy", p.data.get("taxonomy").unwrap()),
            ("timestamps", any(&json!({"launch_started_at": null, "launch_ended_at": null, "case_started_at": "2026-01-01T00:00:00Z", "now": "2026-01-01T00:00:00Z"}), "params.timestamps")),
            ("urls", any(&json!({"launch": "", "item": ""}), "params.urls")),
            ("workspace", any(&fx.get("workspace").cloned().unwrap_or(json!({"repositories": []})), "params.workspace")),
        ]);
        if verbose { println!("---- PROMPT {node}"); }
        if let Some(t) = p.templates.get(&format!("{node}.md")) {
            let text = t.render(&params.json()).unwrap_or_else(|d| panic!("{d} {:?}", d.place()));
            if verbose { println!("{text}"); }
        }
        let start = std::time::Instant::now();
        let artifact = call(p, &format!("agents/{node}.rhai#{node}"), 2).respond(&params, &vars).unwrap_or_else(|d| panic!("{d} {:?}", d.place()));
        let took = start.elapsed();
        if let Some(shape) = &spec.schema { assert_eq!(shape.check(&artifact), vec![], "{node}"); }
        let view = View::of(&artifact, &kind_of(&p.pipe, ix), "artifact");
        if verbose { println!("---- {node} {took:?}: {}", serde_json::to_string_pretty(&artifact).unwrap()); }
        if let Some(e) = &spec.effect {
            let effects = call(p, e, 2).effects(&view, &params).unwrap_or_else(|d| panic!("{d} {:?}", d.place()));
            for e in effects {
                let e: Effect<Handle> = serde_json::from_value(e.clone()).unwrap_or_else(|x| panic!("{x} {e}"));
                let r = e.resolve(&mut bindings, |_, _| 7).unwrap();
                if verbose { println!("     effect {}", serde_json::to_string(&r).unwrap()); }
            }
        }
        if let Some(f) = &spec.confidence { s.conf = artifact[f.as_str()].as_f64().unwrap(); }
        nodes.push(node.clone());
        prior.insert(node.clone(), (artifact, view.clone()));
        let o = route(p, ix, &view, &mut s, &vars).unwrap_or_else(|e| panic!("{e}"));
        if verbose { println!("==> {} {} because {}", o.edge, o.to, o.because); }
        edges.push(o.edge); node = o.to;
    }
    (prior.into_iter().map(|(k, v)| (k, v.0)).collect(), nodes, edges, s)
}
#[test]
fn fixtures() {
    let p = load();
    let only = std::env::var("FX").unwrap_or_default();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/failures");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut bad = 0;
    for f in files {
        let stem = f.file_stem().unwrap().to_str().unwrap().to_owned();
        if !only.is_empty() && !stem.contains(&only) { continue; }
        let fx: Value = serde_json::from_str(&std::fs::read_to_string(&f).unwrap()).unwrap_or_else(|e| panic!("{stem} {e}"));
        let (prior, nodes, _edges, _s) = walk_case(&p, &fx, !only.is_empty());
        let w = &fx["expect"];
        let report = &prior.get("report").cloned().unwrap_or(json!({}));
        let triage = prior.get("triage").cloned().unwrap_or(json!({}));
        let mut wrong = vec![];
        let mut eq = |what: &str, want: &Value, got: &Value| if !want.is_null() && want != got { wrong.push(format!("{what}: want {want}, got {got}")) };
        eq("category", &w["category"], &triage["symptom_category"]);
        eq("defect_type", &w["defect_type"], &report["defect_type"]);
        eq("component", &w["component"], &report["component"]);
        eq("skip", &w["skip"], &triage["skip_investigation"]);
        eq("cascade", &w["cascade"], &triage["cascade_suspected"]);
        eq("clock_skew", &w["clock_skew"], &triage["clock_skew_suspected"]);
        eq("nodes", &w["nodes"], &json!(nodes));
        if let Some(r) = w["confidence"].as_array() {
            let c = report["confidence"].as_f64().unwrap_or(-1.0);
            if c < r[0].as_f64().unwrap() || c > r[1].as_f64().unwrap() { wrong.push(format!("confidence {c} not in {r:?}")); }
        }
        for t in w["summary_contains"].as_array().into_iter().flatten() { if !report["summary"].as_str().unwrap_or("").contains(t.as_str().unwrap()) { wrong.push(format!("summary lacks {t}: {}", report["summary"])); } }
        for t in w["evidence_contains"].as_array().into_iter().flatten() { if !report["evidence"].as_array().is_some_and(|e| e.iter().any(|l| l.as_str().unwrap().contains(t.as_str().unwrap()))) { wrong.push(format!("evidence lacks {t}: {}", report["evidence"])); } }
        println!("{} {stem}: {} {} {} {} | {}", if wrong.is_empty() { "ok " } else { "BAD" }, triage["symptom_category"], report["defect_type"], report["component"], report["confidence"], nodes.iter().map(|n| n.chars().take(3).collect::<String>()).collect::<Vec<_>>().join(" "));
        for x in &wrong { println!("      {x}"); bad += 1; }
    }
    assert_eq!(bad, 0);
}
#[test]
fn shared_data() {
    let p = load();
    for n in ["ptp-mock", "ptp-real-verified"] {
        let Ok(text) = std::fs::read_to_string(format!("/work/shared/data/{n}.json")) else { return };
        let d: Value = serde_json::from_str(&text).unwrap();
        let rcas: BTreeMap<String, Value> = d["rcas"].as_array().unwrap().iter().map(|r| (r["id"].as_str().unwrap().into(), r.clone())).collect();
        let repos = d["workspace"]["repos"].as_array().or(d["workspace"]["repositories"].as_array()).cloned().unwrap_or_default();
        for c in d["cases"].as_array().unwrap() {
            let fx = json!({"case": {"name": c["test_name"], "error_message": c["error_message"], "log_snippet": c["log_snippet"]}, "launch": {}, "workspace": {"repositories": repos}});
            let (prior, nodes, ..) = walk_case(&p, &fx, false);
            let r = &prior["report"];
            let want = c["rca_id"].as_str().and_then(|id| rcas.get(id)).map(|r| format!("{} {} {}", r["category"], r["defect_type"], r["component"])).unwrap_or_default();
            println!("{n} {} got {} {} {} {} repos {} | want {want} | {} | {}", c["id"], prior["triage"]["symptom_category"], r["defect_type"], r["component"], r["confidence"], prior.get("resolve").map_or(json!(null), |x| x["selected_repos"].as_array().unwrap().iter().map(|r| r["name"].clone()).collect()), nodes.len(), r["summary"].as_str().unwrap_or("").chars().take(150).collect::<String>());
        }
        println!("{repos:?}");
    }
}
