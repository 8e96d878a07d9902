//! Any bytes are parsed, or rejected with a span: YAML, JSON, and their printed form.
#![no_main]

use kiln_template::document::{Node, SecretHandling};
use kiln_template::print::{self, Keys};
use kiln_template::{Limits, Sources, Value, json, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut sources = Sources::new();
    let file = sources.add("fuzz.yaml", &*text);
    let limits = Limits::default();
    let (node, findings) = read::read_bytes(file, bytes, &limits);
    for label in findings.iter().flat_map(|finding| &finding.labels) {
        assert!(sources.locate(label.span).is_some());
    }
    let Some(node) = node else {
        assert!(findings.iter().any(|finding| finding.is_error()));
        return;
    };
    let value = Value::from(&node);
    let made = Node::from_value(&value, node.span, SecretHandling::Mask);
    assert_eq!(Value::from(&made), value);
    let printed = print::json(&value, Keys::Ordered);
    let limits = Limits { max_bytes: usize::MAX, ..limits };
    let (again, _) = json::read(file, &printed, &limits);
    assert_eq!(again.as_ref().map(Value::from), Some(value));
});
