//! Output formats: rows and columns in, text out. No input or output happens here.

mod csv;
pub(crate) mod options;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod wrap;

use crate::client::error::{ClientError, Result};
use crate::render::printable;
use kiln_template::print::Keys;
use kiln_template::yaml::{self, Emitter};
use options::{Columns, ListFormat, Screen, ShowArgs, ShowFormat};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use table::Align;
use text::Json;

/// A value, and its text in tables if that differs from how it prints.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    value: Value,
    shown: Option<String>,
}

impl Cell {
    /// A value with its own text in tables.
    pub(crate) fn shown(value: Value, shown: String) -> Cell {
        Cell { value, shown: Some(shown) }
    }

    /// A value that tables show as YAML.
    pub(crate) fn yaml(value: Value) -> Cell {
        let shown = yaml(&value, Keys::Sorted);
        // The document end marker is only needed in files.
        let shown = shown.strip_suffix("...\n").map(str::to_owned).unwrap_or(shown);
        Cell::shown(value, shown)
    }

    /// A value that tables show as indented JSON.
    pub(crate) fn json(value: Value) -> Cell {
        let shown = text::json(&value, Json::InCell);
        Cell::shown(value, shown)
    }

    /// The value.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// The text in a table.
    fn in_table(&self) -> String {
        let text = self.shown.clone().unwrap_or_else(|| text::plain(&self.value));
        let lines = text.replace("\r\n", "\n").replace('\r', " ");
        if !lines.contains(|c: char| c.is_control()) {
            return lines;
        }
        // Responses may contain control characters; tables go to terminals.
        let line = |line| printable(&wrap::without_tabs(line)).into_owned();
        lines.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// The text for machine-readable formats: maps and lists as JSON.
    fn as_word(&self) -> String {
        match &self.value {
            Value::Array(_) | Value::Object(_) => text::json(&self.value, Json::Line),
            value => text::plain(value),
        }
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        Cell { value, shown: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Value::from(text).into()
    }
}

/// A list of objects with the same columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listing {
    /// The column names.
    pub(crate) columns: Vec<String>,
    /// The rows.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Listing {
    /// Members of objects, under the given column names.
    pub(crate) fn of<'a>(
        columns: &[(&str, &str)],
        objects: impl IntoIterator<Item = &'a Value>,
    ) -> Listing {
        let member =
            |object: &Value, key: &str| object.get(key).cloned().unwrap_or_default().into();
        let row = |object: &Value| columns.iter().map(|(_, key)| member(object, key)).collect();
        Listing {
            columns: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: objects.into_iter().map(row).collect(),
        }
    }

    /// The list in the requested format.
    pub(crate) fn render(
        mut self,
        form: ListFormat,
        options: &Columns,
        screen: &Screen,
    ) -> Result<String> {
        self.sort(options);
        let picked = pick(&self.columns, &options.names)?;
        if picked.len() < self.columns.len() {
            self.columns = picked.iter().map(|at| self.columns[*at].clone()).collect();
            for row in &mut self.rows {
                *row = picked.iter().map(|at| row[*at].clone()).collect();
            }
        }
        Ok(self.written(form, options, screen))
    }

    fn written(&self, form: ListFormat, options: &Columns, screen: &Screen) -> String {
        match form {
            ListFormat::Table => {
                let rows: Vec<Vec<String>> =
                    self.rows.iter().map(|row| row.iter().map(Cell::in_table).collect()).collect();
                let first = self.rows.first();
                let align = |at: usize| align(first.and_then(|row| row.get(at)));
                let aligns: Vec<Align> = (0..self.columns.len()).map(align).collect();
                let width = options.layout.width(screen);
                table::table(&self.columns, &aligns, &rows, width, options.layout.print_empty)
                    + "\n"
            }
            ListFormat::Csv => csv::csv(&self.columns, &self.rows, options.quote),
            ListFormat::Json => text::json(&self.objects(), options.layout.json()) + "\n",
            ListFormat::Value => {
                let line = |row: &Vec<Cell>| {
                    let words: Vec<String> = row.iter().map(Cell::as_word).collect();
                    words.join(" ") + "\n"
                };
                self.rows.iter().map(line).collect()
            }
            ListFormat::Yaml => yaml(&self.objects(), Keys::Sorted),
        }
    }

    /// Every row as an object.
    fn objects(&self) -> Value {
        let object = |row: &Vec<Cell>| -> Value {
            let members =
                self.columns.iter().cloned().zip(row.iter().map(|cell| cell.value.clone()));
            Value::Object(members.collect())
        };
        self.rows.iter().map(object).collect()
    }

    /// Sorts the rows by the requested columns; the first one is the primary key.
    fn sort(&mut self, options: &Columns) {
        for name in options.sort_columns.iter().rev() {
            let Some(at) = self.columns.iter().position(|column| column == name) else { continue };
            self.rows.sort_by(|a, b| {
                let order = compare(&a[at].value, &b[at].value);
                if options.descending { order.reverse() } else { order }
            });
        }
    }
}

/// One object, as names and values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    /// The names and values.
    pub(crate) fields: Vec<(String, Cell)>,
}

impl Details {
    /// All members of an object, in order.
    pub(crate) fn of(object: &Value) -> Details {
        let members = object.as_object().into_iter().flatten();
        let fields = members.map(|(key, value)| (key.clone(), value.clone().into()));
        Details { fields: fields.collect() }
    }

    /// Some members of an object, in this order; missing ones are null.
    pub(crate) fn members(keys: &[&str], object: &Value) -> Details {
        let member = |key: &&str| {
            let value = object.get(*key).cloned().unwrap_or_default();
            ((*key).to_owned(), value.into())
        };
        Details { fields: keys.iter().map(member).collect() }
    }

    /// The object in the requested format.
    pub(crate) fn render(
        mut self,
        options: &ShowArgs,
        default: ShowFormat,
        screen: &Screen,
    ) -> Result<String> {
        let names: Vec<String> = self.fields.iter().map(|(name, _)| name.clone()).collect();
        let picked = pick(&names, &options.columns)?;
        if picked.len() < names.len() {
            self.fields = picked.iter().map(|at| self.fields[*at].clone()).collect();
        }
        Ok(self.written(options, default, screen))
    }

    fn written(&self, options: &ShowArgs, default: ShowFormat, screen: &Screen) -> String {
        let object = || -> Value {
            let members = self.fields.iter().map(|(name, cell)| (name.clone(), cell.value.clone()));
            Value::Object(members.collect::<Map<_, _>>())
        };
        let lines =
            |line: &dyn Fn(&(String, Cell)) -> String| self.fields.iter().map(line).collect();
        match options.form.unwrap_or(default) {
            ShowFormat::Table => {
                let heads = ["Field".to_owned(), "Value".to_owned()];
                let row = |(name, cell): &(String, Cell)| vec![name.clone(), cell.in_table()];
                let rows: Vec<Vec<String>> = self.fields.iter().map(row).collect();
                let width = options.layout.width(screen);
                table::table(&heads, &[Align::Left; 2], &rows, width, options.layout.print_empty)
                    + "\n"
            }
            ShowFormat::Json => text::json(&object(), options.layout.json()) + "\n",
            ShowFormat::Shell => lines(&|(name, cell)| {
                let value = for_shell(&cell.as_word());
                format!("{}{}=\"{value}\"\n", options.prefix, shell_name(name))
            }),
            ShowFormat::Value => lines(&|(_, cell)| cell.as_word() + "\n"),
            ShowFormat::Yaml => yaml(&object(), Keys::Ordered),
        }
    }
}

/// Renders a document in the layout of PyYAML, which the OpenStack clients use; `top` is the order of its outermost
/// keys.
pub(crate) fn yaml(document: &Value, top: Keys) -> String {
    yaml::write(&document.into(), Emitter::PyYaml, top)
}

/// A document as the service sent it, whatever columns were requested.
pub(crate) fn raw(
    document: &Value,
    options: &ShowArgs,
    default: ShowFormat,
    screen: &Screen,
) -> String {
    match (options.form.unwrap_or(default), document) {
        (ShowFormat::Json, _) => text::json(document, options.layout.json()) + "\n",
        (ShowFormat::Yaml, Value::Object(members)) if members.is_empty() => String::new(),
        (ShowFormat::Yaml, _) => yaml(document, Keys::Ordered),
        (_, Value::Object(_)) => Details::of(document).written(options, default, screen),
        _ => Details::of(&json!({ "value": document })).written(options, default, screen),
    }
}

/// The indices of the requested columns, in the order of the columns; all if none was requested.
fn pick(columns: &[String], names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..columns.len()).collect());
    }
    let picked: Vec<usize> =
        (0..columns.len()).filter(|at| names.contains(&columns[*at])).collect();
    if picked.is_empty() {
        let named = text::quoted_list(names.iter().map(String::as_str));
        let known = text::quoted_list(columns.iter().map(String::as_str));
        let problem =
            format!("No recognized column names in {named}. Recognized columns are {known}.");
        return Err(ClientError::new(problem));
    }
    Ok(picked)
}

/// A column is right-aligned if its first value is a number.
fn align(first: Option<&Cell>) -> Align {
    match first {
        Some(Cell { value: Value::Number(_), shown: None }) => Align::Right,
        _ => Align::Left,
    }
}

/// The order of values in a column: nulls come first; values that cannot be compared are equal.
fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal)
        }
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

/// Text for use between double quotes in a shell: nothing in it is expanded.
fn for_shell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A valid name of a shell variable.
fn shell_name(name: &str) -> String {
    let name = name.to_lowercase();
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
