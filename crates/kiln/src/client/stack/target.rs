//! Arguments that many commands have in common: the stack, and the part of a list.

use clap::Args;

/// The stack that a command is about.
#[derive(Debug, Args)]
pub(crate) struct StackTarget {
    /// Name or id of the stack
    #[arg(value_name = "STACK")]
    pub(crate) stack: String,
}

/// The part of a list that is shown.
#[derive(Debug, Args)]
pub(crate) struct Page {
    /// Maximum number of rows
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Show only rows after the one with this id
    #[arg(long, value_name = "ID")]
    pub(crate) marker: Option<String>,
}
