//! Comparison semantics: numbers with numbers by value (IEEE, without Rhai's tolerance), strings with strings, `()` with anything
//! by `==`; all other comparisons are errors instead of `false` (`docs/decisions/0010-strict-comparisons.md`).

use super::fault::{self, ScriptFault};
use super::guard;
pub(crate) use super::value_kind::kind_of;
use super::value_kind::{Exclusive, Inclusive, is_list};
use super::view::{ListView, ObjectView, View};
use rhai::{Dynamic, EvalAltResult};
use std::cmp::Ordering;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// Parses an operator.
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.text() == text)
    }

    /// The operator as written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// The operator that holds exactly when this one does not, for ordered values.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }

    pub(crate) fn code(self) -> i64 {
        self as i64
    }

    pub(crate) fn from_code(code: i64) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| Self::ALL.get(code).copied())
    }

    fn orders(self) -> bool {
        !matches!(self, Self::Eq | Self::Ne)
    }

    /// `None` is the order of a NaN, which is unequal to everything and unordered.
    fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Eq => order == Some(Ordering::Equal),
            Self::Ne => order != Some(Ordering::Equal),
            Self::Lt => order == Some(Ordering::Less),
            Self::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Gt => order == Some(Ordering::Greater),
            Self::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Compares two values. Fails if their types are not comparable.
pub(crate) fn compare(op: CompareOp, left: &Dynamic, right: &Dynamic) -> Result<bool, Box<EvalAltResult>> {
    if let (Ok(a), Ok(b)) = (left.as_float(), right.as_float()) {
        return Ok(op.holds(a.partial_cmp(&b)));
    }
    if let Some(order) = order(left, right) {
        if op.orders() && left.is_bool() {
            return refuse(op, left, right);
        }
        return Ok(op.holds(order));
    }
    if op.orders() {
        return refuse(op, left, right);
    }
    let comparable =
        left.is_unit() || right.is_unit() || (is_compound(left) && is_compound(right) && is_list(left) == is_list(right));
    if comparable { Ok(equal(left, right)? == (op == CompareOp::Eq)) } else { refuse(op, left, right) }
}

/// The order of two scalars of one type. The inner `None` is that of a NaN.
#[expect(clippy::option_option, reason = "not of one kind, and in no order, are two different answers")]
fn order(left: &Dynamic, right: &Dynamic) -> Option<Option<Ordering>> {
    if let (Ok(a), Ok(b)) = (left.as_int(), right.as_int()) {
        return Some(Some(a.cmp(&b)));
    }
    match (left.as_int(), left.as_float(), right.as_int(), right.as_float()) {
        (_, Ok(a), _, Ok(b)) => return Some(a.partial_cmp(&b)),
        (Ok(a), _, _, Ok(b)) => return Some(int_with_float(a, b)),
        (_, Ok(a), Ok(b), _) => return Some(int_with_float(b, a).map(Ordering::reverse)),
        _ => {}
    }
    if left.is_string() && right.is_string() {
        let (a, b) = (left.as_immutable_string_ref().ok()?, right.as_immutable_string_ref().ok()?);
        return Some(Some(a.as_str().cmp(b.as_str())));
    }
    match (text_of_char(left), text_of_char(right)) {
        (Some(a), Some(b)) => return Some(Some(a.cmp(&b))),
        // A character is a string of length one: `text[0] == "x"` is common.
        (Some(a), None) if right.is_string() => {
            return Some(Some(a.as_str().cmp(right.as_immutable_string_ref().ok()?.as_str())));
        }
        (None, Some(b)) if left.is_string() => return Some(Some(left.as_immutable_string_ref().ok()?.as_str().cmp(b.as_str()))),
        _ => {}
    }
    match (left.as_bool(), right.as_bool()) {
        (Ok(a), Ok(b)) => Some(Some(a.cmp(&b))),
        _ if left.is_unit() && right.is_unit() => None,
        _ => None,
    }
}

/// Compares by value: an integer of more than 53 bits is not rounded.
#[expect(clippy::cast_possible_truncation, reason = "the lossy cases are handled separately")]
fn int_with_float(int: i64, float: f64) -> Option<Ordering> {
    /// The smallest float above every `i64`.
    const ABOVE: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() {
        None
    } else if float >= ABOVE {
        Some(Ordering::Less)
    } else if float < -ABOVE {
        Some(Ordering::Greater)
    } else {
        let whole = float.trunc();
        Some(int.cmp(&(whole as i64)).then_with(|| whole.partial_cmp(&float).unwrap_or(Ordering::Equal)))
    }
}

fn text_of_char(value: &Dynamic) -> Option<String> {
    value.as_char().ok().map(String::from)
}

/// Maximum depth of compared values. Real data is never this deep; deeper values are an attack.
const DEEPEST: usize = 128;

/// Deep equality by value. Values of different types are unequal.
pub(crate) fn equal(left: &Dynamic, right: &Dynamic) -> Result<bool, Box<EvalAltResult>> {
    equal_at(left, right, 0)
}

fn equal_at(left: &Dynamic, right: &Dynamic, depth: usize) -> Result<bool, Box<EvalAltResult>> {
    if depth > DEEPEST {
        return ScriptFault::new(fault::LIMIT, format!("values nested more than {DEEPEST} deep cannot be compared")).fail();
    }
    if let Some(order) = order(left, right) {
        return Ok(order == Some(Ordering::Equal));
    }
    // Comparing large values is one operation for Rhai; here every part is charged.
    if let Some(over) = guard::tick() {
        return Err(Box::new(EvalAltResult::ErrorTerminated(over, rhai::Position::NONE)));
    }
    if left.is_unit() || right.is_unit() {
        return Ok(left.is_unit() && right.is_unit());
    }
    if let (Some(a), Some(b)) = (items(left), items(right)) {
        return all(a.len() == b.len(), a.iter().zip(&b), depth);
    }
    if let (Some(a), Some(b)) = (entries(left), entries(right)) {
        let same_keys = a.len() == b.len() && a.iter().zip(&b).all(|((a, _), (b, _))| a == b);
        return all(same_keys, a.iter().map(|(_, value)| value).zip(b.iter().map(|(_, value)| value)), depth);
    }
    if let (Some(a), Some(b)) = (left.read_lock::<Exclusive>(), right.read_lock::<Exclusive>()) {
        return Ok(*a == *b);
    }
    if let (Some(a), Some(b)) = (left.read_lock::<Inclusive>(), right.read_lock::<Inclusive>()) {
        return Ok(*a == *b);
    }
    Ok(false)
}

fn all<'a>(
    same_size: bool,
    mut pairs: impl Iterator<Item = (&'a Dynamic, &'a Dynamic)>,
    depth: usize,
) -> Result<bool, Box<EvalAltResult>> {
    if !same_size {
        return Ok(false);
    }
    pairs.try_fold(true, |so_far, (a, b)| Ok(so_far && equal_at(a, b, depth + 1)?))
}

fn items(value: &Dynamic) -> Option<rhai::Array> {
    if let Some(list) = value.read_lock::<ListView>() {
        return Some(list.items().iter().map(View::dynamic).collect());
    }
    value.as_array_ref().ok().map(|array| array.clone())
}

fn entries(value: &Dynamic) -> Option<Vec<(String, Dynamic)>> {
    if let Some(object) = value.read_lock::<ObjectView>() {
        return Some(object.entries().map(|(key, view)| (key.to_owned(), view.dynamic())).collect());
    }
    value.as_map_ref().ok().map(|map| map.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

fn is_compound(value: &Dynamic) -> bool {
    is_list(value) || value.is_map() || value.is::<ObjectView>() || (!is_scalar(value) && !value.is_fnptr())
}

fn is_scalar(value: &Dynamic) -> bool {
    value.is_string() || value.is_char() || value.is_int() || value.is_float() || value.is_bool() || value.is_unit()
}

/// A value in script notation, truncated for messages.
pub(crate) fn show(value: &Dynamic) -> String {
    const LONGEST: usize = 60;
    let text = if value.is_unit() {
        "()".to_owned()
    } else {
        match super::json::from_dynamic(value) {
            Ok(json) => json.to_string(),
            Err(_) => kind_of(value).to_owned(),
        }
    };
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

#[cold]
fn refuse(op: CompareOp, left: &Dynamic, right: &Dynamic) -> Result<bool, Box<EvalAltResult>> {
    let (a, b) = (kind_of(left), kind_of(right));
    let side = |value: &Dynamic, kind: &str| {
        if value.is_unit() { "nothing (`()`)".to_owned() } else { format!("{kind} (`{}`)", show(value)) }
    };
    let message = format!("cannot compare {} with {} by `{}`", side(left, a), side(right, b), op.text());
    let help = match (a, b) {
        ("nothing", _) | (_, "nothing") => {
            "test for `()` first: `x != () && x > 1`, or give a default: `(x ?? 0) > 1`".to_owned()
        }
        ("a string", "a number") | ("a number", "a string") => {
            "convert the string to a number first: `parse_float(x)`, or compare with a string".to_owned()
        }
        ("a bool", "a bool") => "bools are not ordered: use `==`, `!=` or `!`".to_owned(),
        _ if a == b => format!("values of this type are not ordered: `{}` cannot be used", op.text()),
        _ => "both sides must have the same type".to_owned(),
    };
    ScriptFault::new(fault::COMPARE_TYPES, message).help(help).fail()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(op: &str, left: impl Into<Dynamic>, right: impl Into<Dynamic>) -> Option<bool> {
        compare(CompareOp::of(op).expect("an operator"), &left.into(), &right.into()).ok()
    }

    #[test]
    fn numbers_compare_exactly_and_by_value() {
        assert_eq!(check("==", 0.1 + 0.2, 0.3), Some(false), "not with Rhai's tolerance");
        assert_eq!(check("<", 0.3, 0.300_000_000_000_000_04), Some(true));
        assert_eq!(check("==", 1_i64, 1.0), Some(true));
        assert_eq!(check("<", 9_007_199_254_740_993_i64, 9_007_199_254_740_992.0), Some(false), "2^53 + 1 is not rounded");
        assert_eq!(check(">", 9_007_199_254_740_993_i64, 9_007_199_254_740_992.0), Some(true));
        assert_eq!(check(">", -1_i64, -1.5), Some(true));
        assert_eq!(check("<", 1.5, 2_i64), Some(true));
        assert_eq!(check("<", i64::MAX, 9.3e18), Some(true));
        assert_eq!(check(">", i64::MIN, f64::NEG_INFINITY), Some(true));
    }

    #[test]
    fn nan_is_unequal_and_in_no_order() {
        assert_eq!(check("==", f64::NAN, f64::NAN), Some(false));
        assert_eq!(check("!=", f64::NAN, 1_i64), Some(true));
        assert_eq!(check("<", f64::NAN, 1_i64), Some(false));
        assert_eq!(check(">=", 1.0, f64::NAN), Some(false));
    }

    #[test]
    fn texts_characters_and_truth_values() {
        assert_eq!(check("<", "a", "b"), Some(true));
        assert_eq!(check("<", 'a', 'b'), Some(true));
        assert_eq!(check("==", 'a', "a"), Some(true));
        assert_eq!(check("==", true, true), Some(true));
        assert_eq!(check(">", true, false), None);
    }

    #[test]
    fn unit_equals_only_itself_and_is_unordered() {
        assert_eq!(check("==", (), ()), Some(true));
        assert_eq!(check("!=", 1_i64, ()), Some(true));
        assert_eq!(check(">=", (), 0.5), None);
    }

    #[test]
    fn different_kinds_are_refused() {
        for op in ["==", "!=", "<", "<=", ">", ">="] {
            assert_eq!(check(op, "0.9", 0.5), None, "{op}");
            assert_eq!(check(op, "1", 1_i64), None, "{op}");
            assert_eq!(check(op, true, 1_i64), None, "{op}");
            assert_eq!(check(op, rhai::Array::new(), "x"), None, "{op}");
            assert_eq!(check(op, rhai::Array::new(), rhai::Map::new()), None, "{op}");
        }
    }

    #[test]
    fn lists_are_compared_by_their_items() {
        let list = |items: [Dynamic; 2]| Dynamic::from_array(items.into());
        assert_eq!(check("==", list([1.into(), "x".into()]), list([1.0.into(), "x".into()])), Some(true));
        assert_eq!(check("!=", list([1.into(), "x".into()]), list([1.into(), 2.into()])), Some(true));
        assert_eq!(check("<", list([1.into(), 2.into()]), list([1.into(), 3.into()])), None);
    }
}
