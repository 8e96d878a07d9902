//! Any text is parsed as an environment, merged, resolved and described without a panic.
#![no_main]

use kiln_resources::environment::shipped;
use kiln_template::environment::Environment;
use kiln_template::{Sources, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.yaml", text);
    let (environment, findings) = Environment::read(file, text, &Limits::default());
    for label in findings.iter().flat_map(|finding| &finding.labels) {
        assert!(sources.locate(label.span).is_some());
    }
    let registry = environment.registry(shipped());
    let aliases = [("My::Type", "OS::Heat::Value"), ("OS::Quantum::Net", "My::Type"), ("a*", "b*")];
    let aliased =
        registry.clone().with_aliases(&aliases.map(|(name, meant)| (name.into(), meant.into())));
    for name in ["OS::Heat::Value", "My::Type", "child.yaml", "OS::Quantum::Net"] {
        for registry in [&registry, &aliased] {
            let found = registry.resolve(name, Some("web"), &|name| name.starts_with("OS::Heat"));
            let _ = found.map_err(|unresolved| unresolved.diagnostic(None));
        }
        let _ = (registry.hooks(name), registry.restricted_actions(name));
    }
    let child = registry.child("web", None);
    let _ = child.resolve("My::Type", None, &|_| false);
    let stored = environment.to_value();
    let (again, _) = Environment::from_value(&stored);
    let _ = environment.describe(&|_| false, &registry, ["child.yaml"]);
    let _ = again.patch(&[], &environment, &|_| true);
});
