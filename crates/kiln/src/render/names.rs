//! The names of files in messages.
//!
//! Internally, a file is identified by its absolute URL. Messages show what the user typed, or a path
//! relative to the working directory.

use kiln_template::files::url;
use std::collections::BTreeMap;

/// The names of files in messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The typed names, by URL.
    typed: BTreeMap<String, String>,
    /// The URL of the working directory, with a slash at its end; empty if it is not known.
    here: String,
}

impl Names {
    /// Names relative to a directory, given as a URL that ends with a slash.
    pub(crate) fn seen_from(here: String) -> Names {
        Names { typed: BTreeMap::new(), here }
    }

    /// Records the typed name of a URL.
    pub(crate) fn typed(&mut self, url: &str, typed: &str) {
        self.typed.insert(url.to_owned(), typed.to_owned());
    }

    /// The name of a file in messages.
    pub(crate) fn shown(&self, url: &str) -> String {
        if let Some(typed) = self.typed.get(url) {
            return typed.clone();
        }
        let Some(path) = url::to_path(url) else { return url.to_owned() };
        let here = url::to_path(&self.here).unwrap_or_default();
        let inside = path.strip_prefix(&*here).filter(|_| !here.is_empty());
        inside.map_or_else(|| path.clone(), str::to_owned)
    }

    /// Shortens the URLs in a sentence.
    pub(crate) fn shorten(&self, sentence: &str) -> String {
        let mut sentence = sentence.to_owned();
        for (url, typed) in &self.typed {
            if sentence.contains(&**url) {
                sentence = sentence.replace(&**url, typed);
            }
        }
        if !self.here.is_empty() && sentence.contains(&*self.here) {
            sentence = sentence.replace(&*self.here, "");
        }
        sentence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_what_they_typed_or_a_short_path() {
        let mut names = Names::seen_from("file:///home/me/".into());
        names.typed("file:///srv/t.yaml", "../../srv/t.yaml");
        assert_eq!(names.shown("file:///srv/t.yaml"), "../../srv/t.yaml");
        assert_eq!(names.shown("file:///home/me/a/b.yaml"), "a/b.yaml");
        assert_eq!(names.shown("file:///home/me/a%20b.yaml"), "a b.yaml");
        assert_eq!(names.shown("file:///etc/x"), "/etc/x");
        assert_eq!(names.shown("http://h/x"), "http://h/x");
        let sentence = "resources.a<file:///home/me/n.yaml>.b: not in file:///srv/t.yaml";
        assert_eq!(names.shorten(sentence), "resources.a<n.yaml>.b: not in ../../srv/t.yaml");
    }
}
