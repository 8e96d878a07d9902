//! The options for output formats.

use super::csv::Quote;
use super::text::Json;
use clap::{Args, ValueEnum};

/// Output formats of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// A JSON array of objects
    Json,
    /// A line for each row, with spaces between the values
    Value,
    /// A YAML sequence of mappings
    Yaml,
}

/// Output formats of single objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowFormat {
    /// A table
    Table,
    /// A JSON object
    Json,
    /// Shell variable assignments
    Shell,
    /// A line for each value
    Value,
    /// A YAML mapping
    Yaml,
}

/// Output options of lists.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub(crate) struct ListArgs {
    /// Output format: table, csv, json, value or yaml
    #[arg(short = 'f', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    pub(crate) form: ListFormat,

    #[command(flatten)]
    pub(crate) columns: Columns,
}

/// Columns and order of lists.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub(crate) struct Columns {
    /// Column to show; may be repeated
    #[arg(short = 'c', long = "column", value_name = "COLUMN")]
    pub(crate) names: Vec<String>,

    /// Values that csv quotes: all, minimal, none or nonnumeric
    #[arg(long, value_name = "MODE", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) quote: Quote,

    /// Column to sort by; may be repeated
    #[arg(long = "sort-column", value_name = "COLUMN")]
    pub(crate) sort_columns: Vec<String>,

    /// Sort in ascending order (the default)
    #[arg(long = "sort-ascending", overrides_with = "descending")]
    pub(crate) ascending: bool,

    /// Sort in descending order
    #[arg(long = "sort-descending", overrides_with = "ascending")]
    pub(crate) descending: bool,

    #[command(flatten)]
    pub(crate) layout: Layout,
}

/// Output options of single objects.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub(crate) struct ShowArgs {
    /// Output format: table, json, shell, value or yaml
    #[arg(short = 'f', long = "format", value_name = "FORMAT", value_enum)]
    #[arg(hide_possible_values = true)]
    pub(crate) form: Option<ShowFormat>,

    /// Field to show; may be repeated
    #[arg(short = 'c', long = "column", alias = "variable", value_name = "COLUMN")]
    pub(crate) columns: Vec<String>,

    /// Prefix of the names in shell format
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,

    #[command(flatten)]
    pub(crate) layout: Layout,
}

/// Layout options.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Layout {
    /// Print JSON on one line
    #[arg(long)]
    pub(crate) noindent: bool,

    /// Maximum width of tables in columns; 0 means no limit
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) max_width: Option<usize>,

    /// Fit tables to the width of the terminal
    #[arg(long)]
    pub(crate) fit_width: bool,

    /// Print a table even if it has no rows
    #[arg(long)]
    pub(crate) print_empty: bool,
}

/// The properties of the terminal that tables are printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Screen {
    /// The width of the terminal, if there is one.
    pub(crate) columns: Option<usize>,
    /// The default of `--max-width`; 0 means no limit.
    pub(crate) max_width: usize,
    /// The default of `--fit-width`.
    pub(crate) fit_width: bool,
}

impl Layout {
    /// The maximum width of a table.
    pub(super) fn width(&self, screen: &Screen) -> Option<usize> {
        match self.max_width.unwrap_or(screen.max_width) {
            0 if self.fit_width || screen.fit_width => screen.columns,
            0 => None,
            width => Some(width),
        }
    }

    /// The layout of JSON.
    pub(super) fn json(&self) -> Json {
        if self.noindent { Json::Line } else { Json::Indented }
    }
}
