//! OS::Heat::RandomString: a random string, for passwords and unique names.

use crate::declare::*;

const CLASSES: [&str; 7] =
    ["lettersdigits", "letters", "lowercase", "uppercase", "digits", "hexdigits", "octdigits"];

pub(super) fn random_string() -> ResourceType {
    ResourceType::new("OS::Heat::RandomString")
        .about("A random string, for passwords and unique names.")
        .since("2014.1")
        .props([
            prop("character_classes", List)
                .default(list([map([
                    ("class", Value::from("lettersdigits")),
                    ("min", Value::from(1)),
                ])]))
                .adds_as("sequence", "class", [("min", 1)])
                .each(record([
                    prop("class", Str).default("lettersdigits").one_of(CLASSES),
                    prop("min", Int).default(1).range(1, 512),
                ])),
            prop("character_sequences", List).each(record([
                prop("min", Int).default(1).range(1, 512),
                prop("sequence", Str).required(),
            ])),
            prop("length", Int).default(32).range(1, 512),
            prop("salt", Str),
            prop("sequence", Str)
                .one_of(CLASSES)
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `character_classes`."),
        ])
        .attrs([attr("value", Str).uncached()])
        .check(minimums_fit)
}

/// The minimums of all classes and sequences must fit into the length.
fn minimums_fit(properties: &Members) -> Result<(), Refusal> {
    let number = |value: Option<&Value>| match value {
        Some(Value::Int(number)) => number.as_i64(),
        _ => None,
    };
    let Some(length) = number(properties.get("length")) else { return Ok(()) };
    let minimums = ["character_classes", "character_sequences"].map(|name| {
        let members = properties.get(name).and_then(Value::as_list).unwrap_or_default();
        let each = members.iter().filter_map(|member| number(member.as_map()?.get("min")));
        each.fold(0_i64, i64::saturating_add)
    });
    if length < minimums[0].saturating_add(minimums[1]) {
        return Err(Refusal::new(
            "Length property cannot be smaller than combined character class and character \
             sequence minimums",
        ));
    }
    Ok(())
}
