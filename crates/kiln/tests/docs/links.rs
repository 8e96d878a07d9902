//! Links: every relative link of a page leads to a file, and every anchor to a heading.

use super::pages::{Page, all};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in all() {
        for (line, target) in links(&page.text) {
            if let Err(why) = check(&page, &target) {
                broken.push(format!("{}:{line}: {target}: {why}", page.name()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// The targets of the links of a text, with their lines; code is passed over.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code {
            continue;
        }
        // Every second part is code.
        let prose: Vec<&str> = line.split('`').step_by(2).collect();
        let prose = prose.join("");
        let mut rest = prose.as_str();
        while let Some((_, target)) = rest.split_once("](") {
            let (target, after) = target.split_once(')').unwrap_or((target, ""));
            found.push((at + 1, target.to_owned()));
            rest = after;
        }
    }
    found
}

fn check(page: &Page, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.path.clone(),
        file => page.path.parent().unwrap_or(Path::new("")).join(file),
    };
    if !path.exists() {
        return Err("there is no such file".to_owned());
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let text = fs::read_to_string(&path).map_err(|e| e.to_string())?;
    match anchors(&text).contains(anchor) {
        true => Ok(()),
        false => Err("there is no such heading".to_owned()),
    }
}

/// The anchors of the headings of a text, as GitHub and the site make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let Some((level, title)) = line.split_once(' ') else { continue };
        if is_code || level.is_empty() || !level.chars().all(|it| it == '#') {
            continue;
        }
        let kept = title.to_lowercase().chars().collect::<Vec<_>>();
        let kept = kept.into_iter().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        let slug: String = kept.map(|it| if it == ' ' { '-' } else { it }).collect();
        let repeated = (1..).map(|n| format!("{slug}-{n}"));
        let mut names = std::iter::once(slug.clone()).chain(repeated);
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# A page\n## `kiln dev`: first steps\n```\n# no heading\n```\n## A page\n";
    let expected = ["a-page", "a-page-1", "kiln-dev-first-steps"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
}
