//! Where a type, property or attribute stands in its life, written in the order it was lived:
//! `.since("2014.1").deprecated("9.0.0").hidden("11.0.0")`.

use kiln_template::schema::{Name, Status, Support};

/// What has a life: types, properties and attributes.
pub trait SupportStatus: Sized {
    /// The state it is in.
    fn support_mut(&mut self) -> &mut Support;

    /// It exists since this release.
    fn since(mut self, version: &'static str) -> Self {
        self.support_mut().version = Some(version.into());
        self
    }

    /// It has its present form since this release, and was known in another form before.
    fn changed(mut self, version: &'static str) -> Self {
        let support = self.support_mut();
        let previous = Some(Box::new(std::mem::take(support)));
        *support = Support { version: Some(version.into()), previous, ..Support::default() };
        self
    }

    /// It still works, and should not be used any more since this release.
    fn deprecated(self, version: &'static str) -> Self {
        enter(self, Status::Deprecated, Some(version))
    }

    /// It is kept for old stacks only since this release.
    fn hidden(self, version: &'static str) -> Self {
        enter(self, Status::Hidden, Some(version))
    }

    /// Nobody answers for it, since this release where one is given.
    fn unsupported(self, version: impl Into<Option<&'static str>>) -> Self {
        enter(self, Status::Unsupported, version.into())
    }

    /// Says of the state it is in what to use instead, or why.
    fn note(mut self, message: impl Into<Name>) -> Self {
        self.support_mut().message = Some(message.into());
        self
    }
}

/// Enters a state; the one before is remembered if anything had been said of it.
fn enter<T: SupportStatus>(mut living: T, status: Status, version: Option<&'static str>) -> T {
    let support = living.support_mut();
    let before = std::mem::take(support);
    let previous = (before != Support::default()).then(|| Box::new(before));
    *support = Support { status, version: version.map(Name::from), message: None, previous };
    living
}
