//! The configuration files: whether they are valid, and what becomes of the options that set nothing.

use super::Subject;
use super::finding::Finding;
use crate::config::{ConfigFile, Notices, Settings};
use crate::load::plugins;
use crate::stdio::CommandError;

const SUBJECT: &str = "configuration";

/// The findings about the files, and the settings if they are valid.
pub(super) fn check(subject: &Subject) -> (Vec<Finding>, Option<Settings>) {
    let read = ConfigFile::load_all(&subject.config)
        .and_then(|file| Ok((file.path(), file.count(), Settings::from_file(&file)?)));
    let (path, count, mut settings) = match read {
        Ok(read) => read,
        Err(error) => return (vec![invalid(error)], None),
    };
    settings.restrict(&subject.roles);
    if let Some(url) = &subject.database {
        settings.database.clone_from(url);
    }
    if let Some(keys) = &subject.keys {
        settings.keys.clone_from(keys);
    }
    let mut findings = match subject.config.is_empty() {
        true => vec![Finding::warning(
            SUBJECT,
            "no file was named, so every option has its default",
            "name the file of the server with --config",
        )],
        false => {
            let options = crate::render::counted(count, "option");
            vec![Finding::ok(SUBJECT, format!("{path} is valid and has {options}"))]
        }
    };
    findings.extend(options(&settings.notices));
    findings.extend(plugins::warnings(&settings.plugin_dirs).into_iter().map(lost));
    (findings, Some(settings))
}

fn invalid(error: CommandError) -> Finding {
    let text = match error {
        CommandError::Usage(message) => message,
        other => format!("the files cannot be read: {other:?}"),
    };
    Finding::problem(
        SUBJECT,
        text,
        "correct this; `kiln config list` describes every option. Nothing else was checked",
    )
}

/// The options that set nothing: what is lost, and what is always on or not needed.
fn options(notices: &Notices) -> Vec<Finding> {
    let lost = notices.warnings.iter().cloned().map(lost);
    lost.chain(notices.details.iter().map(|it| Finding::ok(SUBJECT, without_stop(it)))).collect()
}

/// A warning. The sentence behind the first one says what to do.
fn lost(warning: String) -> Finding {
    let (text, next) = match warning.split_once(". ").or_else(|| warning.split_once("; ")) {
        Some((text, next)) => (text, without_stop(next)),
        None => (warning.as_str(), "correct it, or remove it".to_owned()),
    };
    Finding::warning(SUBJECT, text, next)
}

fn without_stop(text: &str) -> String {
    text.trim_end_matches('.').to_owned()
}
