//! What values may be made of that scripts ask for.

use crate::problem::{Problem, Result};

/// Checks a value against a type.
pub(crate) fn check(kind: &str, value: &str) -> Result<()> {
    let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let fits = match kind {
        "raw" => true,
        "int" => !value.is_empty() && value.chars().all(|it| it.is_ascii_digit()),
        "default" => value.chars().all(word),
        "username" => value.chars().all(|it| word(it) || it == '-'),
        "netaddress" | "netdevice" => value.chars().all(|it| word(it) || "/.:-".contains(it)),
        "dsn" => {
            value.contains("://") && value.chars().all(|it| word(it) || "/:@.-?=&%+,".contains(it))
        }
        "swiftdevices" => value.chars().all(|it| word(it) || "/.:,-%+()[]".contains(it)),
        _ => return Err(Problem::new(format!("there is no type {kind:?}"))),
    };
    if fits {
        Ok(())
    } else {
        Err(Problem::new(format!("cannot interpret value {value:?} as type {kind}")))
    }
}
