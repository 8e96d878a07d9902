//! Deployments whose configuration is metadata: each becomes a key of its own.

use crate::json;
use serde_json::Value;

/// Returns the collected metadata, followed by the keys of its deployments.
pub(crate) fn explode(name: &str, content: Value, keys: &[String]) -> Vec<(String, Value)> {
    let mut added = Vec::new();
    for key in keys {
        for deployment in content[key.as_str()].as_array().into_iter().flatten() {
            let group = json::text(deployment, "group").unwrap_or("Heat::Ungrouped");
            if !["os-apply-config", "Heat::Ungrouped"].contains(&group) {
                continue;
            }
            if let (Some(name), Some(config)) =
                (json::text(deployment, "name"), deployment.get("config"))
            {
                added.push((name.to_owned(), config.clone()));
            }
        }
    }
    let mut all = vec![(name.to_owned(), content)];
    all.extend(added);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn deployments_of_no_other_group_become_keys() {
        let content = json!({"deployments": [
            {"name": "one", "group": "os-apply-config", "config": {"a": 1}},
            {"name": "two", "group": "script", "config": "x"},
            {"name": "three", "config": {"b": 2}},
            {"config": {"c": 3}},
        ]});
        let names: Vec<String> =
            explode("cfn", content, &["deployments".into()]).into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["cfn", "one", "three"]);
    }
}
