//! The possible values of an input, given the outcome of several tests.

use super::formula::{InputTest, NumberOp};
use std::collections::BTreeSet;

/// The values that an input can have at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputDomain {
    pub(crate) least: Option<f64>,
    pub(crate) most: Option<f64>,
    pub(crate) whole: bool,
    /// The allowed strings; empty if any is.
    pub(crate) one_of: Vec<String>,
}

/// The remaining values of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Region {
    holds: Option<bool>,
    /// The lower bound, and whether it is inclusive.
    low: Option<(f64, bool)>,
    high: Option<(f64, bool)>,
    not: Vec<f64>,
    text: Option<String>,
    not_texts: BTreeSet<String>,
    numeric: bool,
}

impl Region {
    /// The subregion in which a test has the wanted outcome; `None` if it is empty.
    pub(crate) fn with(mut self, test: &InputTest, wanted: bool, domain: &InputDomain) -> Option<Self> {
        match test {
            InputTest::Holds => {
                if self.holds.replace(wanted).is_some_and(|before| before != wanted) {
                    return None;
                }
            }
            InputTest::Number(op, number) => {
                self.numeric = true;
                match (op, wanted) {
                    (NumberOp::Equal, true) => {
                        self.above(*number, true);
                        self.below(*number, true);
                    }
                    (NumberOp::Equal, false) => self.not.push(*number),
                    (NumberOp::Less, true) => self.below(*number, false),
                    (NumberOp::Less, false) => self.above(*number, true),
                    (NumberOp::AtMost, true) => self.below(*number, true),
                    (NumberOp::AtMost, false) => self.above(*number, false),
                }
            }
            InputTest::Text(text) if wanted => {
                if self.text.as_ref().is_some_and(|before| before != text) {
                    return None;
                }
                self.text = Some(text.clone());
            }
            InputTest::Text(text) => drop(self.not_texts.insert(text.clone())),
        }
        self.any(domain).then_some(self)
    }

    fn above(&mut self, number: f64, included: bool) {
        let tighter = self.low.is_none_or(|(low, was)| number > low || (number.total_cmp(&low).is_eq() && was && !included));
        if tighter {
            self.low = Some((number, included));
        }
    }

    fn below(&mut self, number: f64, included: bool) {
        let tighter = self.high.is_none_or(|(high, was)| number < high || (number.total_cmp(&high).is_eq() && was && !included));
        if tighter {
            self.high = Some((number, included));
        }
    }

    /// Whether any value of the domain remains.
    fn any(&self, domain: &InputDomain) -> bool {
        if let Some(text) = &self.text {
            let known = domain.one_of.is_empty() || domain.one_of.contains(text);
            if !known || self.not_texts.contains(text) {
                return false;
            }
        } else if !domain.one_of.is_empty() && domain.one_of.iter().all(|text| self.not_texts.contains(text)) {
            return false;
        }
        !self.numeric || self.number(domain).is_some()
    }

    /// A number in the region; an integer, if there is one.
    pub(crate) fn number(&self, domain: &InputDomain) -> Option<f64> {
        let mut own = self.clone();
        domain.least.iter().for_each(|least| own.above(*least, true));
        domain.most.iter().for_each(|most| own.below(*most, true));
        let fits = |number: f64| {
            let above = own.low.is_none_or(|(low, included)| number > low || included && number >= low);
            let below = own.high.is_none_or(|(high, included)| number < high || included && number <= high);
            above && below && own.not.iter().all(|not| !number.total_cmp(not).is_eq())
        };
        let low = own.low.map(|(low, _)| low);
        let high = own.high.map(|(high, _)| high);
        let start = low.or(high).unwrap_or(0.0);
        let near = [0.0, start.floor(), start.ceil(), high.unwrap_or(start).floor()];
        let whole =
            near.into_iter().flat_map(|near| (0..8).flat_map(move |step| [near + f64::from(step), near - f64::from(step)]));
        if let Some(number) = whole.clone().find(|number| fits(*number)) {
            return Some(number);
        }
        if domain.whole {
            return None;
        }
        let middle = match (low, high) {
            (Some(low), Some(high)) => low.midpoint(high),
            _ => start + 0.5,
        };
        let span = high.unwrap_or(middle + 1.0) - low.unwrap_or(middle - 1.0);
        let tries = [0.0, 0.25, -0.25, 0.125, -0.125, 0.3, -0.3].map(|part| middle + part * span);
        tries.into_iter().chain(low).chain(high).find(|number| fits(*number))
    }

    /// An example value, for display.
    pub(crate) fn example(&self, domain: &InputDomain) -> Option<String> {
        if let Some(holds) = self.holds {
            return Some(holds.to_string());
        }
        if let Some(text) = &self.text {
            return Some(format!("\"{text}\""));
        }
        if self.numeric {
            return self.number(domain).map(|number| format!("{}", (number * 1e6).round() / 1e6));
        }
        let left = domain.one_of.iter().find(|text| !self.not_texts.contains(*text));
        left.map(|text| format!("\"{text}\"")).or_else(|| {
            let not: Vec<String> = self.not_texts.iter().map(|text| format!("\"{text}\"")).collect();
            (!not.is_empty()).then(|| format!("anything but {}", not.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(tests: &[(NumberOp, f64, bool)], domain: &InputDomain) -> Option<f64> {
        let start = Some(Region::default());
        let region = tests
            .iter()
            .fold(start, |region, (op, number, wanted)| region?.with(&InputTest::Number(*op, *number), *wanted, domain));
        region.and_then(|region| region.number(domain))
    }

    #[test]
    fn interval_bounds_are_exact() {
        let any = InputDomain::default();
        assert_eq!(left(&[(NumberOp::Less, 0.8, true), (NumberOp::Less, 0.8, false)], &any), None);
        assert!(
            left(&[(NumberOp::AtMost, 0.8, true), (NumberOp::Less, 0.8, false)], &any).is_some_and(|x| (x - 0.8).abs() < 1e-9)
        );
        assert!(
            left(&[(NumberOp::Less, 0.4, false), (NumberOp::Less, 0.8, true)], &any).is_some_and(|x| (0.4..0.8).contains(&x))
        );
        let whole = InputDomain { least: Some(0.0), whole: true, ..InputDomain::default() };
        assert_eq!(left(&[(NumberOp::Less, 2.0, true), (NumberOp::AtMost, 1.0, false)], &whole), None);
        assert_eq!(left(&[(NumberOp::Less, 0.0, true)], &whole), None);
        assert_eq!(left(&[(NumberOp::AtMost, 2.0, false)], &whole), Some(3.0));
        let unit = InputDomain { least: Some(0.0), most: Some(1.0), ..InputDomain::default() };
        assert_eq!(left(&[(NumberOp::AtMost, 1.0, false)], &unit), None);
        assert!(left(&[(NumberOp::Less, 1.0, true), (NumberOp::AtMost, 0.999, false)], &unit).is_some());
        assert!(left(&[(NumberOp::Equal, 0.0, false)], &unit).is_some());
    }

    #[test]
    fn excluding_every_string_leaves_nothing() {
        let domain = InputDomain { one_of: vec!["a".into(), "b".into()], ..InputDomain::default() };
        let not = |region: Option<Region>, text: &str| region?.with(&InputTest::Text(text.into()), false, &domain);
        let one = not(Some(Region::default()), "a");
        assert_eq!(one.as_ref().and_then(|region| region.example(&domain)).as_deref(), Some("\"b\""));
        assert_eq!(not(one, "b"), None);
        assert_eq!(Region::default().with(&InputTest::Text("c".into()), true, &domain), None);
    }
}
