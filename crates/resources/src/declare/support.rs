//! The support status of a type, property or attribute, with its history, oldest first:
//! `.since("2014.1").deprecated("9.0.0").hidden("11.0.0")`.

use kiln_template::schema::{Name, Status, Support};

/// Types, properties and attributes, which have a support status.
pub trait SupportStatus: Sized {
    /// The current status.
    fn support_mut(&mut self) -> &mut Support;

    /// Available since this release.
    fn since(mut self, version: &'static str) -> Self {
        self.support_mut().version = Some(version.into());
        self
    }

    /// In its present form since this release, and in another form before.
    fn changed(mut self, version: &'static str) -> Self {
        let support = self.support_mut();
        let previous = Some(Box::new(std::mem::take(support)));
        *support = Support { version: Some(version.into()), previous, ..Support::default() };
        self
    }

    /// Deprecated since this release; it still works.
    fn deprecated(self, version: &'static str) -> Self {
        enter(self, Status::Deprecated, Some(version))
    }

    /// Hidden since this release: it is kept for old stacks only.
    fn hidden(self, version: &'static str) -> Self {
        enter(self, Status::Hidden, Some(version))
    }

    /// Unsupported, since this release if there is one.
    fn unsupported(self, version: impl Into<Option<&'static str>>) -> Self {
        enter(self, Status::Unsupported, version.into())
    }

    /// Adds a message to the current status: what to use instead, or why.
    fn note(mut self, message: impl Into<Name>) -> Self {
        self.support_mut().message = Some(message.into());
        self
    }
}

/// Sets a new status; the previous one is kept unless it is empty.
fn enter<T: SupportStatus>(mut living: T, status: Status, version: Option<&'static str>) -> T {
    let support = living.support_mut();
    let before = std::mem::take(support);
    let previous = (before != Support::default()).then(|| Box::new(before));
    *support = Support { status, version: version.map(Name::from), message: None, previous };
    living
}
