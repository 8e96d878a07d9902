//! Parameters from a command line: `--parameter a=1` and `--parameter-file a=path`.

use super::url;
use crate::value::{Members, Value};
use std::fmt;
use std::sync::Arc;

/// An argument that is not of the form `name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Malformed parameter({}). Use the key=value format.", self.0)
    }
}

impl std::error::Error for Malformed {}

/// The values that arguments give to parameters.
///
/// If there is one argument, it may hold several pairs with `;` between them. A name given more
/// than once gets the list of its values.
pub fn parse_parameters(arguments: &[String]) -> Result<Members, Malformed> {
    let pairs: Vec<&str> = match arguments {
        [only] => only.split(';').collect(),
        several => several.iter().map(String::as_str).collect(),
    };
    let mut members = Members::new();
    for pair in pairs {
        let (name, value) = split(pair)?;
        match members.get_mut(name) {
            None => _ = members.insert(name.into(), value.into()),
            Some(Value::List(items)) => Arc::make_mut(items).push(value.into()),
            Some(first) => *first = Value::list([first.clone(), value.into()]),
        }
    }
    Ok(members)
}

/// The URLs of the files whose content arguments give to parameters, by parameter.
///
/// Paths are relative to the template's directory, as python-heatclient has it.
pub fn parse_parameter_files(
    arguments: &[String],
    template_url: &str,
) -> Result<Vec<(Arc<str>, String)>, Malformed> {
    let directory = url::directory(template_url);
    let file = |argument: &String| {
        let (name, path) = split(argument)?;
        Ok((name.into(), url::join(&directory, path)))
    };
    arguments.iter().map(file).collect()
}

fn split(pair: &str) -> Result<(&str, &str), Malformed> {
    pair.split_once('=').ok_or_else(|| Malformed(pair.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print;

    fn parsed(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        match parse_parameters(&arguments) {
            Ok(members) => print::repr(&Value::Map(Arc::new(members))),
            Err(malformed) => malformed.to_string(),
        }
    }

    #[test]
    fn arguments_are_split_as_the_client_splits_them() {
        let malformed =
            |text: &str| format!("Malformed parameter({text}). Use the key=value format.");
        for (arguments, expected) in [
            (&[][..], "{}".to_owned()),
            (&["a=1"], "{'a': '1'}".into()),
            (&["a=1;b=2"], "{'a': '1', 'b': '2'}".into()),
            (&["a=1", "a=2", "a=3"], "{'a': ['1', '2', '3']}".into()),
            (&["a=1;a=2"], "{'a': ['1', '2']}".into()),
            (&["a=1;b=2", "c=3;d=4"], "{'a': '1;b=2', 'c': '3;d=4'}".into()),
            (&["a=b=c"], "{'a': 'b=c'}".into()),
            (&[" a = 1 "], "{' a ': ' 1 '}".into()),
            (&["a="], "{'a': ''}".into()),
            (&["=1"], "{'': '1'}".into()),
            (&["a"], malformed("a")),
            (&[""], malformed("")),
            (&["a=1;"], malformed("")),
            (&["a=x;y"], malformed("y")),
            (&["a={\"x\": \"1;b=2\"}"], "{'a': '{\"x\": \"1', 'b': '2\"}'}".into()),
        ] {
            assert_eq!(parsed(arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn parameter_files_lie_beside_the_template() {
        let files = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
            parse_parameter_files(&arguments, "file:///d/t.yaml")
        };
        assert_eq!(
            files(&["a=p", "b=/q/r;s"]),
            Ok(vec![("a".into(), "file:///d/p".into()), ("b".into(), "file:///q/r;s".into())])
        );
        assert_eq!(files(&["a"]), Err(Malformed("a".into())));
    }
}
