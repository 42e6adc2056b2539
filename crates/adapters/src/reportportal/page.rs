//! Paginated lists of ReportPortal.

use super::call::{Portal, PortalError};
use asterisk_diag::Diagnostic;
use serde_json::Value;
use std::collections::HashSet;

/// A list.
pub(super) struct ListPage {
    /// Its elements, without duplicates: pages shift while a launch grows.
    pub(super) items: Vec<Value>,
    /// Total number of elements according to the server.
    pub(super) total: usize,
}

impl Portal<'_> {
    /// Reads a list page by page: `size` elements per page, `most` in total.
    pub(super) fn list(&self, path: &str, query: &[(&str, &str)], size: usize, most: usize) -> Result<ListPage, PortalError> {
        let mut seen = HashSet::new();
        let mut list = ListPage { items: Vec::new(), total: 0 };
        let size_text = size.to_string();
        // Pages are numbered from 1.
        for number in 1.. {
            let number_text = number.to_string();
            let mut query = query.to_vec();
            query.extend([("page.page", number_text.as_str()), ("page.size", size_text.as_str())]);
            let mut answer = self.get(path, &query)?;
            let count = |key: &str, answer: &Value| answer["page"][key].as_u64().and_then(|count| usize::try_from(count).ok());
            let pages = count("totalPages", &answer).unwrap_or(1);
            let Some(content) = answer.get_mut("content").and_then(Value::as_array_mut).map(std::mem::take) else {
                let message = format!("the answer of ReportPortal for `{path}` has no list `content`");
                let help = "check that `reportportal.url:` in asterisk.yaml is that of ReportPortal 5 or later";
                return Err(PortalError::Text(Diagnostic::error("reportportal/page", message).help(help)));
            };
            let before = list.items.len();
            list.items.extend(content.into_iter().filter(|item| item["id"].is_null() || seen.insert(item["id"].to_string())));
            list.total = count("totalElements", &answer).unwrap_or(0).max(list.items.len());
            // The number of pages is only a claim of the server: a page without new elements is the last.
            if list.items.len() == before || number >= pages || list.items.len() >= most {
                break;
            }
        }
        list.items.truncate(most);
        Ok(list)
    }
}
