//! Attacks on the host, and the traps found while building it: each is tried here, and each must end in a diagnostic.

use super::testing::*;

#[test]
fn probe() {
    for body in std::fs::read_to_string("/tmp/bodies.txt").unwrap_or_default().lines() {
        let out = match eval(body) {
            Ok(v) => format!("=> {v}"),
            Err(d) => line(&d),
        };
        eprintln!("{body:60} {out}");
    }
    for body in std::fs::read_to_string("/tmp/conds.txt").unwrap_or_default().lines() {
        eprintln!("COND {body:60} {:?}", decide(body));
    }
}
