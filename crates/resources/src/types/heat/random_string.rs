//! OS::Heat::RandomString: a random string, for passwords and unique names.

use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{count, items, text};
use crate::random::RandomPool;
use kiln_template::functions::step_into_attribute;

const CLASSES: [&str; 7] =
    ["lettersdigits", "letters", "lowercase", "uppercase", "digits", "hexdigits", "octdigits"];

pub(super) fn random_string() -> ResourceType {
    ResourceType::new("OS::Heat::RandomString")
        .plain_data([VALUE])
        .about("A random string, for passwords and unique names.")
        .since("2014.1")
        .props([
            prop("character_classes", List, "Classes of characters that the string is drawn from, with minimum numbers of each.")
                .default(list([map([
                    ("class", Value::from("lettersdigits")),
                    ("min", Value::from(1)),
                ])]))
                .adds_as("sequence", "class", [("min", 1)])
                .each(record([
                    prop("class", Str, "Name of the character class, such as `lowercase` or `hexdigits`.").default("lettersdigits").one_of(CLASSES),
                    prop("min", Int, "Fewest characters of this class in the string.").default(1).range(1, 512),
                ])),
            prop("character_sequences", List, "Sets of characters that the string is drawn from, with minimum numbers of each.").each(record([
                prop("min", Int, "Fewest characters of this set in the string.").default(1).range(1, 512),
                prop("sequence", Str, "Characters that make up the set, written one after the other.").required(),
            ])),
            prop("length", Int, "Number of characters in the string.").default(32).range(1, 512),
            prop("salt", Str, "Any text; another one causes a new string to be drawn."),
            prop("sequence", Str, "Name of the character class that the whole string is drawn from.")
                .one_of(CLASSES)
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `character_classes`."),
        ])
        .attrs([attr("value", Str, "Random string that was drawn, the same until it is replaced.").uncached()])
        .check(minimums_fit)
        .creates(|op| Box::pin(create(op)))
        .reference(|view| view.data.get(VALUE).cloned().unwrap_or_else(|| view.name.into()))
        .attributes(|view, name, path| {
            let value = view.data.get(VALUE).unwrap_or(&Value::Null);
            Ok((name == "value").then(|| step_into_attribute(value, path)))
        })
}

/// The entry of the resource's data with the string.
const VALUE: &str = "value";

/// Draws the string: the minimum from each class and sequence, and the rest from all of them.
async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.data(VALUE).is_none() {
        let value = draw(op).await?;
        op.set_data(VALUE, value);
    }
    let name = op.context().physical_name.clone();
    op.set_id(name);
    Ok(())
}

async fn draw(op: &mut Op) -> Result<String, OpError> {
    let properties = op.context().properties.clone();
    let length = count(&properties, "length").unwrap_or(32);
    let pools = pools(&properties);
    let mut all: Vec<char> = pools.iter().flat_map(|(characters, _)| characters).copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut dice = RandomPool::default();
    let mut drawn = Vec::with_capacity(length);
    for (characters, minimum) in &pools {
        for _ in 0..*minimum {
            drawn.push(dice.one_of(op, characters).await?);
        }
    }
    while drawn.len() < length {
        drawn.push(dice.one_of(op, &all).await?);
    }
    dice.shuffle(op, &mut drawn).await?;
    Ok(drawn.into_iter().collect())
}

/// The characters of each class and sequence, with their minimums.
fn pools(properties: &Members) -> Vec<(Vec<char>, usize)> {
    let members = |name| items(properties, name).iter().filter_map(Value::as_map);
    let minimum = |member| count(member, "min").unwrap_or(1);
    let classes = members("character_classes").map(|member| {
        (characters(text(member, "class").unwrap_or("lettersdigits")), minimum(member))
    });
    let sequences = members("character_sequences")
        .map(|member| (text(member, "sequence").unwrap_or("").chars().collect(), minimum(member)));
    classes.chain(sequences).collect()
}

/// The characters of a class.
fn characters(class: &str) -> Vec<char> {
    let (upper, lower, digits) = ('A'..='Z', 'a'..='z', '0'..='9');
    match class {
        "letters" => upper.chain(lower).collect(),
        "lowercase" => lower.collect(),
        "uppercase" => upper.collect(),
        "digits" => digits.collect(),
        "hexdigits" => digits.chain('A'..='F').collect(),
        "octdigits" => ('0'..='7').collect(),
        _ => upper.chain(lower).chain(digits).collect(),
    }
}

/// Checks that the sum of all minimums does not exceed the length.
fn minimums_fit(properties: &Members) -> Result<(), PropertyError> {
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
        return Err(PropertyError::new(
            "Length property cannot be smaller than combined character class and character \
             sequence minimums",
        ));
    }
    Ok(())
}
