//! The few words in which SQLite, PostgreSQL and MariaDB differ.

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    Mariadb,
}

impl Dialect {
    /// The kind that a URL names.
    pub(crate) fn of(url: &str) -> Option<Dialect> {
        match url.split_once(':')?.0 {
            "sqlite" => Some(Dialect::Sqlite),
            "postgres" | "postgresql" => Some(Dialect::Postgres),
            "mysql" | "mariadb" => Some(Dialect::Mariadb),
            _ => None,
        }
    }

    /// A statement as the database reads it: PostgreSQL numbers its placeholders. The others must not:
    /// SQLite looks named ones up one by one, which takes quadratic time in long statements.
    pub(crate) fn statement(self, text: &str) -> String {
        if self != Dialect::Postgres {
            return text.to_owned();
        }
        let mut parts = text.split('?');
        let mut numbered = parts.next().unwrap_or_default().to_owned();
        for (number, part) in (1..).zip(parts) {
            numbered.push_str(&format!("${number}{part}"));
        }
        numbered
    }

    /// Begins a transaction that writes. Every statement of it sees what was committed before the
    /// statement; SQLite has one writer at a time, who is it from the start.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::Postgres => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Dialect::Mariadb => "START TRANSACTION",
        }
    }

    /// What is run on every new connection.
    pub(crate) fn greeting(self) -> &'static [&'static str] {
        match self {
            // In WAL mode only FULL waits until a commit is on the disk.
            Dialect::Sqlite => &[
                "PRAGMA busy_timeout = 30000",
                // Only for a file that is new.
                "PRAGMA page_size = 8192",
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = FULL",
                "PRAGMA foreign_keys = OFF",
                "PRAGMA cache_size = -65536",
                "PRAGMA temp_store = MEMORY",
                // What was committed is moved into the database's file on a connection of its own. A
                // writer does it only if that cannot keep up.
                "PRAGMA wal_autocheckpoint = 32768",
                "PRAGMA journal_size_limit = 67108864",
            ],
            Dialect::Postgres => &["SET synchronous_commit = on"],
            Dialect::Mariadb => &["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"],
        }
    }

    /// Begins a transaction that reads, all of it from one moment.
    pub(crate) fn begin_reading(self) -> &'static [&'static str] {
        match self {
            Dialect::Sqlite => &["BEGIN"],
            Dialect::Postgres => &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
            Dialect::Mariadb => &[
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
            ],
        }
    }

    /// Ends a selection whose rows nobody else may touch until the transaction ends.
    pub(crate) fn lock(self) -> &'static str {
        if self == Dialect::Sqlite { "" } else { " FOR UPDATE" }
    }

    /// The same, leaving out rows that are locked.
    pub(crate) fn lock_free_ones(self) -> &'static str {
        if self == Dialect::Sqlite { "" } else { " FOR UPDATE SKIP LOCKED" }
    }

    /// Ends a selection whose rows nobody else may change until the transaction ends.
    pub(crate) fn lock_shared(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR SHARE",
            Dialect::Mariadb => " LOCK IN SHARE MODE",
        }
    }

    /// What an insertion ends with so that rows which are there already are overwritten.
    pub(crate) fn overwrite(self, key: &[&str], columns: &[&str]) -> String {
        let (head, value) = match self {
            Dialect::Mariadb => (" ON DUPLICATE KEY UPDATE ".to_owned(), ("VALUES(", ")")),
            _ => (format!(" ON CONFLICT ({}) DO UPDATE SET ", key.join(", ")), ("excluded.", "")),
        };
        // A row that is all key is written over itself, which locks it.
        let rest: Vec<&&str> = columns.iter().filter(|column| !key.contains(column)).collect();
        let rest = if rest.is_empty() { key.iter().collect() } else { rest };
        let set: Vec<String> = rest
            .iter()
            .map(|column| format!("{column} = {}{column}{}", value.0, value.1))
            .collect();
        head + &set.join(", ")
    }

    /// The words of migrations: a placeholder and what it stands for.
    pub(crate) fn words(self) -> [(&'static str, &'static str); 6] {
        let words = match self {
            Dialect::Sqlite => ["BLOB", "BLOB", "BLOB", "TEXT", "TEXT", ""],
            Dialect::Postgres => {
                ["BYTEA", "BYTEA", "BYTEA", r#"TEXT COLLATE "C""#, r#"TEXT COLLATE "C""#, ""]
            }
            Dialect::Mariadb => [
                "BINARY(16)",
                "BINARY(32)",
                "LONGBLOB",
                "VARCHAR(255)",
                "LONGTEXT",
                "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin",
            ],
        };
        let names = ["{id}", "{hash}", "{body}", "{word}", "{text}", "{table}"];
        std::array::from_fn(|at| (names[at], words[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_where_they_must_be() {
        let text = "SELECT a FROM t WHERE b = ? AND c IN (?, ?)";
        assert_eq!(Dialect::Sqlite.statement(text), text);
        assert_eq!(
            Dialect::Postgres.statement(text),
            "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3)"
        );
    }
}
