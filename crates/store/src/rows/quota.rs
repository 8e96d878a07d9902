//! Quotas: a row for each project and kind of object whose number is limited.

use super::column::column;
use crate::table::{Column, TableRow};
use std::sync::Arc;

/// A row that is locked while the objects of a project are counted and one is added. There is nothing in it.
pub(crate) struct QuotaRow {
    pub(crate) project: Arc<str>,
    pub(crate) kind: Arc<str>,
}

impl QuotaRow {
    pub(crate) fn new(project: &str, kind: &str) -> QuotaRow {
        QuotaRow { project: project.into(), kind: kind.into() }
    }
}

impl TableRow for QuotaRow {
    const TABLE: &'static str = "quotas";
    const KEY: &'static [&'static str] = &["project", "kind"];
    const COLUMNS: &'static [Column<QuotaRow>] = &[column!(project), column!(kind)];

    fn blank() -> QuotaRow {
        QuotaRow::new("", "")
    }

    fn key(&self) -> Vec<u8> {
        [self.project.as_bytes(), b" ", self.kind.as_bytes()].concat()
    }

    fn weight(&self) -> usize {
        0
    }
}
