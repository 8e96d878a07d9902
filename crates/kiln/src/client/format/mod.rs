//! Answers as text: rows and columns in, text out. Nothing here asks anybody anything.

mod csv;
pub(crate) mod options;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod wrap;
pub(crate) mod yaml;

use crate::client::problem::{Problem, Result};
use crate::render::printable;
use options::{Columns, ListForm, Screen, ShowForm, Shown};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use table::Align;
use text::Json;
use yaml::Top;

/// A value, and how people see it if that is not how it prints.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    value: Value,
    shown: Option<String>,
}

impl Cell {
    /// A value that people see in words of its own.
    pub(crate) fn shown(value: Value, shown: String) -> Cell {
        Cell { value, shown: Some(shown) }
    }

    /// A value that people see as a block of YAML.
    pub(crate) fn yaml(value: Value) -> Cell {
        let shown = yaml::yaml(&value, Top::Sorted);
        // A bare word needs no end here.
        let shown = shown.strip_suffix("...\n").map(str::to_owned).unwrap_or(shown);
        Cell::shown(value, shown)
    }

    /// A value that people see as indented JSON.
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
        // Answers may hold anything; a table goes to a terminal.
        let line = |line| printable(&wrap::without_tabs(line)).into_owned();
        lines.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// The text for programs that take values: maps and lists as JSON, which they can read.
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

/// Things of one kind, with the same columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listing {
    /// What the columns are called.
    pub(crate) columns: Vec<String>,
    /// The things.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Listing {
    /// The members of some objects, under column names of their own.
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

    /// The listing as its options want it.
    pub(crate) fn render(
        mut self,
        form: ListForm,
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

    fn written(&self, form: ListForm, options: &Columns, screen: &Screen) -> String {
        match form {
            ListForm::Table => {
                let rows: Vec<Vec<String>> =
                    self.rows.iter().map(|row| row.iter().map(Cell::in_table).collect()).collect();
                let first = self.rows.first();
                let align = |at: usize| align(first.and_then(|row| row.get(at)));
                let aligns: Vec<Align> = (0..self.columns.len()).map(align).collect();
                let width = options.layout.width(screen);
                table::table(&self.columns, &aligns, &rows, width, options.layout.print_empty)
                    + "\n"
            }
            ListForm::Csv => csv::csv(&self.columns, &self.rows, options.quote),
            ListForm::Json => text::json(&self.objects(), options.layout.json()) + "\n",
            ListForm::Value => {
                let line = |row: &Vec<Cell>| {
                    let words: Vec<String> = row.iter().map(Cell::as_word).collect();
                    words.join(" ") + "\n"
                };
                self.rows.iter().map(line).collect()
            }
            ListForm::Yaml => yaml::yaml(&self.objects(), Top::Sorted),
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

    /// Sorts the rows by the columns that the options name, the first of them first.
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

/// One thing, as names and values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    /// The names and values.
    pub(crate) fields: Vec<(String, Cell)>,
}

impl Details {
    /// The members of an object as they stand.
    pub(crate) fn of(object: &Value) -> Details {
        let members = object.as_object().into_iter().flatten();
        let fields = members.map(|(key, value)| (key.clone(), value.clone().into()));
        Details { fields: fields.collect() }
    }

    /// Some members of an object, in this order; those it does not have are null.
    pub(crate) fn members(keys: &[&str], object: &Value) -> Details {
        let member = |key: &&str| {
            let value = object.get(*key).cloned().unwrap_or_default();
            ((*key).to_owned(), value.into())
        };
        Details { fields: keys.iter().map(member).collect() }
    }

    /// The thing as its options want it.
    pub(crate) fn render(
        mut self,
        options: &Shown,
        default: ShowForm,
        screen: &Screen,
    ) -> Result<String> {
        let names: Vec<String> = self.fields.iter().map(|(name, _)| name.clone()).collect();
        let picked = pick(&names, &options.columns)?;
        if picked.len() < names.len() {
            self.fields = picked.iter().map(|at| self.fields[*at].clone()).collect();
        }
        Ok(self.written(options, default, screen))
    }

    fn written(&self, options: &Shown, default: ShowForm, screen: &Screen) -> String {
        let object = || -> Value {
            let members = self.fields.iter().map(|(name, cell)| (name.clone(), cell.value.clone()));
            Value::Object(members.collect::<Map<_, _>>())
        };
        let lines =
            |line: &dyn Fn(&(String, Cell)) -> String| self.fields.iter().map(line).collect();
        match options.form.unwrap_or(default) {
            ShowForm::Table => {
                let heads = ["Field".to_owned(), "Value".to_owned()];
                let row = |(name, cell): &(String, Cell)| vec![name.clone(), cell.in_table()];
                let rows: Vec<Vec<String>> = self.fields.iter().map(row).collect();
                let width = options.layout.width(screen);
                table::table(&heads, &[Align::Left; 2], &rows, width, options.layout.print_empty)
                    + "\n"
            }
            ShowForm::Json => text::json(&object(), options.layout.json()) + "\n",
            ShowForm::Shell => lines(&|(name, cell)| {
                let value = for_shell(&cell.as_word());
                format!("{}{}=\"{value}\"\n", options.prefix, shell_name(name))
            }),
            ShowForm::Value => lines(&|(_, cell)| cell.as_word() + "\n"),
            ShowForm::Yaml => yaml::yaml(&object(), Top::Ordered),
        }
    }
}

/// A document as it came: all of it, whatever columns were named.
pub(crate) fn raw(document: &Value, options: &Shown, default: ShowForm, screen: &Screen) -> String {
    match (options.form.unwrap_or(default), document) {
        (ShowForm::Json, _) => text::json(document, options.layout.json()) + "\n",
        (ShowForm::Yaml, Value::Object(members)) if members.is_empty() => String::new(),
        (ShowForm::Yaml, _) => yaml::yaml(document, Top::Ordered),
        (_, Value::Object(_)) => Details::of(document).written(options, default, screen),
        _ => Details::of(&json!({ "value": document })).written(options, default, screen),
    }
}

/// The places of the named columns, in the order in which the columns stand; all if none is named.
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
        return Err(Problem::new(problem));
    }
    Ok(picked)
}

/// Numbers stand at the right, if the first one of their column is a number.
fn align(first: Option<&Cell>) -> Align {
    match first {
        Some(Cell { value: Value::Number(_), shown: None }) => Align::Right,
        _ => Align::Left,
    }
}

/// The order of values in a column: what has none comes first; what cannot be compared is equal.
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

/// Text between double quotes of a shell: nothing in it is expanded or run.
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

/// A name as a shell can have it.
fn shell_name(name: &str) -> String {
    let name = name.to_lowercase();
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
