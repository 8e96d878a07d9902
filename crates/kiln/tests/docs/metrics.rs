//! The dashboard for Grafana shows metrics that there are.

use super::root;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn the_dashboard_has_metrics_that_exist() {
    let text =
        fs::read_to_string(root().join("docs/data/grafana-dashboard.json")).expect("the file");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|it| it.len() > 5), "panels");
    let page = fs::read_to_string(root().join("docs/operating.md")).expect("the page of metrics");
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let words = text.split(|it| !is_name(it)).filter(|word| word.starts_with("kiln_"));
    let used: BTreeSet<&str> = words.collect();
    assert!(used.len() > 10, "{used:?}");
    for name in used {
        // The table names a histogram without the endings of its series.
        let ends = ["", "_total", "_bucket", "_sum", "_count"];
        let is_known = ends.iter().any(|end| {
            name.strip_suffix(end).is_some_and(|stem| page.contains(&format!("`{stem}")))
        });
        assert!(is_known, "docs/operating.md has no metric {name}");
    }
}
