//! Which case a person means: by its id, its number in the order of the launch, or a part of its id.

use super::SessionError;
use asterisk_diag::did_you_mean;

/// The most cases that an ambiguous part lists.
const LISTED: usize = 5;

/// The id of the case that a person means: one of `ids`, which are in the order of the launch, by the whole id, its number from 1, or a
/// part that no other id has, in any letter case. `what` is where the cases are, in the error if there is none: `the run 7`.
pub fn case_named(what: &str, ids: &[&str], wanted: &str) -> Result<String, SessionError> {
    if ids.contains(&wanted) {
        return Ok(wanted.to_owned());
    }
    let by_number = || wanted.parse::<usize>().ok().and_then(|number| ids.get(number.checked_sub(1)?));
    if let Some(id) = by_number() {
        return Ok((*id).to_owned());
    }
    let part = wanted.to_lowercase();
    let with_part: Vec<&str> = ids.iter().copied().filter(|id| !part.is_empty() && id.to_lowercase().contains(&part)).collect();
    match with_part.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => {
            let help = did_you_mean(wanted, ids.iter().copied());
            let help = help.unwrap_or_else(|| "name it by its id, its number in the launch, or a part of its id".to_owned());
            Err(SessionError::bad_request("input/no-case", format!("no case `{wanted}` in {what}"), Some(help)))
        }
        several => {
            let shown: Vec<String> = several.iter().take(LISTED).map(|id| format!("`{id}`")).collect();
            let more = if several.len() > LISTED { format!(" and {} more", several.len() - LISTED) } else { String::new() };
            let message = format!("`{wanted}` is a part of the ids of {} cases", several.len());
            Err(SessionError::bad_request("input/which-case", message, Some(format!("name one of {}{more}", shown.join(", ")))))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_case_is_found_by_its_id_its_number_or_a_part() {
        let ids = ["shop.CartTest::adds", "shop.CartTest::removes", "2"];
        let named = |wanted: &str| case_named("the run", &ids, wanted).map_err(|error| error.to_string());
        assert_eq!(named("shop.CartTest::adds").unwrap(), ids[0]);
        assert_eq!(named("REMOVES").unwrap(), ids[1]);
        assert_eq!(named("1").unwrap(), ids[0]);
        assert_eq!(named("2").unwrap(), "2", "an id comes before a number");
        assert!(named("CartTest").unwrap_err().contains("2 cases"));
        assert!(named("pays").unwrap_err().contains("no case `pays` in the run"));
        assert!(named("").is_err());
    }
}
