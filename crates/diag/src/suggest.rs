//! Did-you-mean: the nearest of some known names.

/// The known name nearest to `word`, if any is near enough to be a plausible slip (a third of its length, plus one).
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    known
        .into_iter()
        .filter(|name| *name != word)
        .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &folded), name))
        .filter(|(distance, name)| *distance <= name.chars().count().min(word.chars().count()) / 3 + 1)
        .min()
        .map(|(_, name)| name)
}

/// The known name that `word` is a misspelling of: one letter apart, or two in a word of eight letters or more. For names that need
/// not be known, where [`nearest`] would suspect too many.
pub fn misspelt<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=4 => return None,
        5..=7 => 1,
        _ => 2,
    };
    let distance = |name: &str| strsim::damerau_levenshtein(name, word);
    known
        .into_iter()
        .filter(|name| !name.eq_ignore_ascii_case(word) && distance(name) <= allowed)
        .min_by_key(|name| distance(name))
}

/// The sentence ``did you mean `x`?`` for the nearest known name, or, when nothing is near and there are few names,
/// the list of them.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut known: Vec<&str> = known.into_iter().collect();
    if let Some(name) = nearest(word, known.iter().copied()) {
        return Some(format!("did you mean `{name}`?"));
    }
    known.sort_unstable();
    known.dedup();
    match known.len() {
        1..=24 => Some(format!("known here: {}", known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))),
        _ => None,
    }
}

/// The name that a help suggests, with the sentence of [`did_you_mean`] or one that starts as it does.
pub fn meant(help: &str) -> Option<&str> {
    help.split_once("did you mean `")?.1.split_once('`').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_does_not() {
        let known = ["confidence", "convergence_score", "match"];
        assert_eq!(nearest("confidense", known), Some("confidence"));
        assert_eq!(nearest("mach", known), Some("match"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest("b", ["a", "c"]), Some("a"));
    }

    #[test]
    fn another_word_is_not_a_misspelling() {
        let known = ["recall", "resolve", "Report"];
        assert_eq!(misspelt("recal", known), Some("recall"));
        assert_eq!(misspelt("solve", known), None);
        assert_eq!(misspelt("report", known), None);
        assert_eq!(misspelt("rack", ["race"]), None);
    }

    #[test]
    fn the_suggested_name_is_read_from_its_sentence() {
        let help = did_you_mean("confidense", ["confidence"]).unwrap_or_default();
        assert_eq!(meant(&format!("{help} (a field)")), Some("confidence"));
        assert_eq!(meant("known here: `b`"), None);
    }

    #[test]
    fn few_names_are_listed_when_none_is_near() {
        assert_eq!(did_you_mean("zebra", ["b", "ok"]).as_deref(), Some("known here: `b`, `ok`"));
        assert_eq!(did_you_mean("zebra", []), None);
    }
}
