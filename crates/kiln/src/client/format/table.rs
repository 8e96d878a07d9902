//! Tables with `+---+` borders and a space on each side of a cell.

use super::wrap::{width, wrap};

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Left.
    Left,
    /// Right.
    Right,
}

/// A table that is at most `width` columns wide, as far as its cells can be wrapped.
///
/// A table without rows is empty, unless `print_empty` is set. The text ends without a line feed.
pub(crate) fn table(
    columns: &[String],
    aligns: &[Align],
    rows: &[Vec<String>],
    max_width: Option<usize>,
    print_empty: bool,
) -> String {
    if rows.is_empty() && !print_empty || columns.is_empty() {
        return String::new();
    }
    let wanted = wanted(columns, rows);
    let limits = limits(columns, &wanted, max_width);
    // A wrapped column keeps its width, even if its lines are shorter.
    let widths: Vec<usize> = wanted
        .iter()
        .zip(&limits)
        .map(|(wanted, limit)| limit.map_or(*wanted, |limit| limit.min(*wanted)))
        .collect();
    let folded = |row: &Vec<String>| -> Vec<Vec<String>> {
        row.iter().zip(&limits).map(|(cell, limit)| lines(cell, *limit)).collect()
    };
    let rows: Vec<Vec<Vec<String>>> = rows.iter().map(folded).collect();
    let border: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect();
    let border = format!("{border}+\n");
    let heads: Vec<Vec<String>> = columns.iter().map(|name| vec![name.clone()]).collect();
    let mut out = border.clone();
    write_row(&mut out, &heads, &widths, aligns);
    out.push_str(&border);
    for row in &rows {
        write_row(&mut out, row, &widths, aligns);
    }
    out.push_str(border.trim_end());
    out
}

fn write_row(out: &mut String, cells: &[Vec<String>], widths: &[usize], aligns: &[Align]) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    for at in 0..height {
        for ((cell, room), align) in cells.iter().zip(widths).zip(aligns) {
            let line = cell.get(at).map_or("", String::as_str);
            let blanks = " ".repeat(room.saturating_sub(width(line)));
            out.push_str("| ");
            match align {
                Align::Left => out.extend([line, &blanks]),
                Align::Right => out.extend([&*blanks, line]),
            }
            out.push(' ');
        }
        out.push_str("|\n");
    }
}

/// The lines of a cell, wrapped at its width.
fn lines(cell: &str, limit: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in cell.split('\n') {
        match limit {
            Some(limit) if width(line) > limit => lines.extend(wrap(line, limit)),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// The width of every column without wrapping.
fn wanted(columns: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widest: Vec<usize> = columns.iter().map(|name| width(name)).collect();
    for row in rows {
        for (widest, cell) in widest.iter_mut().zip(row) {
            *widest = cell.split('\n').map(width).chain([*widest]).max().unwrap_or(0);
        }
    }
    widest
}

/// The wrapped columns and their widths: columns wider than an equal share of the table, which
/// share what the others leave. No column becomes narrower than its name.
fn limits(columns: &[String], wanted: &[usize], max_width: Option<usize>) -> Vec<Option<usize>> {
    let mut limits = vec![None; columns.len()];
    let Some(max_width) = max_width else { return limits };
    // Borders, and a space on each side of each cell.
    let usable = max_width.saturating_sub(3 * columns.len() + 1);
    let share = usable / columns.len();
    let wide: Vec<usize> = (0..columns.len()).filter(|at| wanted[*at] > share).collect();
    if wanted.iter().sum::<usize>() <= usable || wide.is_empty() {
        return limits;
    }
    let others: usize = wanted.iter().filter(|wanted| **wanted <= share).sum();
    let left = usable.saturating_sub(others);
    let each = left / wide.len();
    for at in &wide {
        let is_last = Some(at) == wide.last();
        let room = if is_last { left - each * (wide.len() - 1) } else { each };
        limits[*at] = Some(room.max(width(&columns[*at])));
    }
    limits
}
