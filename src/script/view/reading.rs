//! Tests of the operations of scripts on objects and lists.

use crate::script::testing::eval;
use serde_json::json;

#[test]
fn objects_and_lists_read_as_scripts_expect() {
    for (body, want) in [
        ("artifact.match", json!(true)),
        ("artifact.confidence >= 0.8", json!(true)),
        ("artifact[\"confidence\"]", json!(0.85)),
        ("artifact.nested.a.b", json!(7)),
        ("artifact?.label", json!("é")),
        ("artifact.nothing?.foo", json!(null)),
        ("artifact.nothing ?? 3", json!(3)),
        ("artifact.keys().len()", json!(9)),
        ("artifact.values().len()", json!(9)),
        ("artifact.len()", json!(9)),
        ("artifact.is_empty()", json!(false)),
        ("artifact.get(\"zz\")", json!(null)),
        ("artifact.get(\"n\")", json!(3)),
        ("\"match\" in artifact", json!(true)),
        ("\"zz\" in artifact", json!(false)),
        ("\"nothing\" in artifact", json!(false)),
        ("\"zz\" !in artifact", json!(true)),
        ("artifact.contains(\"n\")", json!(true)),
        ("type_of(artifact)", json!("object")),
        ("type_of(artifact.list)", json!("list")),
        ("artifact.nested == #{a: #{b: 7.0}}", json!(true)),
        ("artifact.nested.to_map() == artifact.nested", json!(true)),
        ("let m = artifact.nested.to_map(); m.a = 5; m.a", json!(5)),
        ("`${artifact.nested}`", json!("{\"a\":{\"b\":7}}")),
        ("let a = artifact; let b = a; b.n", json!(3)),
        ("artifact.list.len()", json!(2)),
        ("artifact.list.len", json!(2)),
        ("artifact.list.is_empty()", json!(false)),
        ("artifact.empty.is_empty", json!(true)),
        ("len(artifact.list)", json!(2)),
        ("artifact.list[0]", json!("x")),
        ("artifact.list[-1]", json!("y")),
        ("artifact.repos[-1].name", json!("b")),
        ("artifact.list.first()", json!("x")),
        ("artifact.list.last()", json!("y")),
        ("artifact.empty.first()", json!(null)),
        ("artifact.list.get(7)", json!(null)),
        ("artifact.list.get(-1)", json!("y")),
        ("\"x\" in artifact.list", json!(true)),
        ("\"z\" in artifact.list", json!(false)),
        ("artifact.list.contains(\"y\")", json!(true)),
        ("artifact.repos.contains(#{name: \"a\", score: 0.2})", json!(true)),
        ("artifact.list.index_of(\"y\")", json!(1)),
        ("artifact.list.index_of(\"z\")", json!(-1)),
        ("artifact.list.index_of(|x| x == \"y\")", json!(1)),
        ("artifact.repos.filter(|r| r.score >= 0.9).map(|r| r.name)", json!(["b"])),
        ("artifact.repos.filter(|r, i| i == 0).len()", json!(1)),
        ("artifact.repos.any(|r| r.name == \"b\")", json!(true)),
        ("artifact.repos.some(|r| r.name == \"b\")", json!(true)),
        ("artifact.repos.none(|r| r.name == \"b\")", json!(false)),
        ("artifact.empty.none(|r| true)", json!(true)),
        ("artifact.repos.all(|r| r.score < 1)", json!(true)),
        ("artifact.repos.find(|r| r.score > 0.5).name", json!("b")),
        ("artifact.repos.find(|r| r.score > 5)", json!(null)),
        ("artifact.repos.find_map(|r| if r.score > 0.5 { r.name })", json!("b")),
        ("artifact.repos.reduce(|s, r| s + r.score, 0.0) > 1", json!(true)),
        ("let n = 0; artifact.repos.for_each(|r| n += r.score); n > 1", json!(true)),
        ("let n = 0; artifact.repos.for_each(|| n += this.score); n > 1", json!(true)),
        ("let s = \"\"; artifact.list.for_each(|x, i| s += `${i}${x}`); s", json!("0x1y")),
        ("let n = 0; for r in artifact.repos { if r.score > 0.5 { n += 1 } } n", json!(1)),
        ("for (x, i) in artifact.list { if i == 1 { return x; } }", json!("y")),
        ("artifact.list + [\"q\"]", json!(["x", "y", "q"])),
        ("[\"q\"] + artifact.list", json!(["q", "x", "y"])),
        ("artifact.list + artifact.list", json!(["x", "y", "x", "y"])),
        ("let a = [1]; a.append(artifact.list); a", json!([1, "x", "y"])),
        ("let l = artifact.list; l += [\"z\"]; l", json!(["x", "y", "z"])),
        ("artifact.list == [\"x\", \"y\"]", json!(true)),
        ("[\"x\", \"y\"] == artifact.list", json!(true)),
        ("artifact.list != [\"x\"]", json!(true)),
        ("artifact.list == artifact.list", json!(true)),
        ("artifact.list.join(\", \")", json!("x, y")),
        ("artifact.repos.map(|r| r.score).join(\"/\")", json!("0.2/0.9")),
        ("`${artifact.list}`", json!("[\"x\",\"y\"]")),
        ("artifact.list.order_desc()", json!(["y", "x"])),
        ("artifact.repos.order_by(|a, b| a.score > b.score)[0].name", json!("b")),
        ("artifact.list.extract(1)", json!(["y"])),
        ("artifact.list.extract(0..1)", json!(["x"])),
        ("artifact.list.zip([1, 2], |a, b| a + b)", json!(["x1", "y2"])),
        ("let z = artifact.list.to_array(); z.push(1); z", json!(["x", "y", 1])),
        ("let z = artifact.list.to_array(); z.sort(); z", json!(["x", "y"])),
        ("[3, 1].any(|x| x == 3)", json!(true)),
        ("[3, 1].first() + [3, 1].last()", json!(4)),
        ("let a = [1, 2]; a.for_each(|| this += 1); a", json!([2, 3])),
        ("let n = 0; [5, 6].for_each(|x| n += x); n", json!(11)),
    ] {
        assert_eq!(
            eval(body).unwrap_or_else(|problem| panic!("{body}: {}", crate::script::testing::line(&problem))),
            want,
            "{body}"
        );
    }
}

#[test]
fn lists_longer_than_the_array_limit_can_be_read() {
    let function = crate::script::testing::function(
        "fn f(a) { a.list.any(|x| x == 11999) && a.list.filter(|x| x > 11997).len() == 2 && a.list.contains(0) }",
        1,
    );
    let list: Vec<i64> = (0..12_000).collect();
    assert_eq!(function.call_json(&[json!({ "list": list })]).expect("fine"), json!(true));
}
