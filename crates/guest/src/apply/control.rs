//! The control file beside a template: mode, owner, and whether an empty file is wanted.

use crate::error::{GuestError, Result};

/// The attributes of a rendered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) allow_empty: bool,
    pub(crate) mode: Option<u32>,
    pub(crate) owner: Option<String>,
    pub(crate) group: Option<String>,
}

impl Default for Control {
    fn default() -> Control {
        Control { allow_empty: true, mode: None, owner: None, group: None }
    }
}

/// Parses the control file, a small YAML map.
pub(crate) fn read(text: &str) -> Result<Control> {
    let mut control = Control::default();
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        if line.is_empty() || line.starts_with('#') || line == "---" || line == "{}" {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            return Err(GuestError::new(format!("{line:?} does not have the form key: value")));
        };
        let value = value.trim().trim_matches(['"', '\'']);
        match key.trim() {
            "allow_empty" => control.allow_empty = flag(value)?,
            "mode" => control.mode = Some(mode(value)?),
            "owner" => control.owner = Some(value.to_owned()),
            "group" => control.group = Some(value.to_owned()),
            key => return Err(GuestError::new(format!("unknown key {key:?}"))),
        }
    }
    Ok(control)
}

fn flag(value: &str) -> Result<bool> {
    match value.to_lowercase().as_str() {
        "true" | "yes" | "on" => Ok(true),
        "false" | "no" | "off" => Ok(false),
        _ => Err(GuestError::new(format!("allow_empty must be true or false, not {value:?}"))),
    }
}

/// Parses a number in YAML's notation: octal with a leading zero.
fn mode(value: &str) -> Result<u32> {
    let number = match value.strip_prefix("0o").or_else(|| value.strip_prefix('0')) {
        Some(octal) => u32::from_str_radix(octal, 8),
        None => value.parse(),
    };
    let mode = number.ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| GuestError::new(format!("mode must be a number up to 0777, not {value:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_map() {
        let control = read("---\nmode: 0600\nowner: root # him\nallow_empty: false\n").unwrap();
        assert_eq!((control.mode, control.owner.as_deref()), (Some(0o600), Some("root")));
        assert!(!control.allow_empty);
        assert_eq!(read("mode: 384").unwrap().mode, Some(0o600));
        for bad in ["mode: 01000", "mode: x", "color: red", "nothing"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
