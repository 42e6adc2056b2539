//! Names of jobs, from the names of the files of their logs.

use super::super::attributes;
use super::super::part::InputPart;
use super::JOB;

/// Names the jobs of logs that do not name them: a case of one of several logs has to be distinguished from those of the others.
pub(in super::super) fn name_jobs(logs: &mut [InputPart]) {
    let are_several = logs.len() > 1;
    for part in logs {
        let (name, is_numbered) = job_of_file(&part.name);
        if !is_numbered && !are_several {
            continue;
        }
        for case in &mut part.launch.cases {
            if !case.attributes.contains_key(JOB) {
                attributes::add(&mut case.attributes, JOB, name);
            }
        }
    }
}

/// The job that a file is named after, and whether it is numbered as GitHub does: `3_test (3.12, ubuntu).txt`.
fn job_of_file(path: &str) -> (&str, bool) {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match stem.split_once('_') {
        Some((number, name)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => (name, true),
        _ => (stem, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_job() {
        for (path, job) in [
            ("logs.zip/3_test (3.12, ubuntu).txt", ("test (3.12, ubuntu)", true)),
            ("logs/unit_tests.log", ("unit_tests", false)),
            ("job", ("job", false)),
            ("", ("", false)),
        ] {
            assert_eq!(job_of_file(path), job);
        }
    }
}
