//! The types of values that scripts can request.

use crate::error::{GuestError, Result};

/// Checks a value against a type.
pub(crate) fn check(type_name: &str, value: &str) -> Result<()> {
    let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let fits = match type_name {
        "raw" => true,
        "int" => !value.is_empty() && value.chars().all(|it| it.is_ascii_digit()),
        "default" => value.chars().all(word),
        "username" => value.chars().all(|it| word(it) || it == '-'),
        "netaddress" | "netdevice" => value.chars().all(|it| word(it) || "/.:-".contains(it)),
        "dsn" => {
            value.contains("://") && value.chars().all(|it| word(it) || "/:@.-?=&%+,".contains(it))
        }
        "swiftdevices" => value.chars().all(|it| word(it) || "/.:,-%+()[]".contains(it)),
        _ => return Err(GuestError::new(format!("unknown type {type_name:?}"))),
    };
    if fits {
        Ok(())
    } else {
        Err(GuestError::new(format!("cannot interpret value {value:?} as type {type_name}")))
    }
}
