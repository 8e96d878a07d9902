//! Gathering of files against what the stock client resolves for a corpus of templates.

mod corpus;
