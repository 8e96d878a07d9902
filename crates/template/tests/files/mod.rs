//! Gathering of files against what python-heatclient resolves for a corpus of templates.

mod corpus;
