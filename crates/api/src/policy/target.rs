//! The target of a request, for rules.

/// The target of a request: the project of the path, and further fields for rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target<'a> {
    /// The project that it belongs to; the caller's own for administrators. Empty if there is none.
    pub project_id: &'a str,
    /// More fields by name, for rules of operators.
    pub more: &'a [(&'a str, &'a str)],
}

impl<'a> Target<'a> {
    /// An object in a project.
    pub fn project(project_id: &'a str) -> Target<'a> {
        Target { project_id, more: &[] }
    }

    /// A field by its name; nothing if it is not there or empty.
    pub(super) fn field(&self, name: &str) -> Option<&'a str> {
        let value = match name {
            "project_id" => Some(self.project_id),
            _ => self.more.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
        };
        value.filter(|value| !value.is_empty())
    }
}
