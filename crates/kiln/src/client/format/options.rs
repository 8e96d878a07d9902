//! The words with which users say how an answer is to look.

use super::csv::Quote;
use super::text::Json;
use clap::{Args, ValueEnum};

/// How a list is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListForm {
    /// A table for people
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// An array of objects
    Json,
    /// A line for each row, with blanks between the values
    Value,
    /// A sequence of mappings
    Yaml,
}

/// How one thing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowForm {
    /// A table for people
    Table,
    /// An object
    Json,
    /// Assignments that a shell can read
    Shell,
    /// A line for each value
    Value,
    /// A mapping
    Yaml,
}

/// How a list is to look.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub(crate) struct Listed {
    /// How the list is shown: table, csv, json, value or yaml
    #[arg(short = 'f', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    pub(crate) form: ListForm,

    #[command(flatten)]
    pub(crate) columns: Columns,
}

/// What of a list is shown, and in which order.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub(crate) struct Columns {
    /// Show only this column; may be given several times
    #[arg(short = 'c', long = "column", value_name = "COLUMN")]
    pub(crate) names: Vec<String>,

    /// What csv puts in quotes: all, minimal, none or nonnumeric
    #[arg(long, value_name = "MODE", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) quote: Quote,

    /// Sort the rows by this column; may be given several times
    #[arg(long = "sort-column", value_name = "COLUMN")]
    pub(crate) sort_columns: Vec<String>,

    /// Sort from the smallest to the largest, which is usual
    #[arg(long = "sort-ascending", overrides_with = "descending")]
    pub(crate) ascending: bool,

    /// Sort from the largest to the smallest
    #[arg(long = "sort-descending", overrides_with = "ascending")]
    pub(crate) descending: bool,

    #[command(flatten)]
    pub(crate) layout: Layout,
}

/// How one thing is to look.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub(crate) struct Shown {
    /// How the answer is shown: table, json, shell, value or yaml
    #[arg(short = 'f', long = "format", value_name = "FORMAT", value_enum)]
    #[arg(hide_possible_values = true)]
    pub(crate) form: Option<ShowForm>,

    /// Show only this field; may be given several times
    #[arg(short = 'c', long = "column", alias = "variable", value_name = "COLUMN")]
    pub(crate) columns: Vec<String>,

    /// What shell puts before every name
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,

    #[command(flatten)]
    pub(crate) layout: Layout,
}

/// How much room an answer may take.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Layout {
    /// Write JSON on one line
    #[arg(long)]
    pub(crate) noindent: bool,

    /// Fold a table into so many columns; 0 means no limit
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) max_width: Option<usize>,

    /// Fold a table into the width of the terminal
    #[arg(long)]
    pub(crate) fit_width: bool,

    /// Draw a table even if it has no rows
    #[arg(long)]
    pub(crate) print_empty: bool,
}

/// What is known of the screen that tables go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Screen {
    /// How many columns the terminal has, if there is one.
    pub(crate) columns: Option<usize>,
    /// How many columns a table may take if the command does not say; 0 means no limit.
    pub(crate) max_width: usize,
    /// Whether tables are folded into the terminal even if the command does not say so.
    pub(crate) fit_width: bool,
}

impl Layout {
    /// The width that a table must not exceed.
    pub(super) fn width(&self, screen: &Screen) -> Option<usize> {
        match self.max_width.unwrap_or(screen.max_width) {
            0 if self.fit_width || screen.fit_width => screen.columns,
            0 => None,
            width => Some(width),
        }
    }

    /// How JSON is laid out.
    pub(super) fn json(&self) -> Json {
        if self.noindent { Json::Line } else { Json::Indented }
    }
}
