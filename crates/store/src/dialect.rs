//! The differences between the SQL of SQLite, PostgreSQL and MariaDB.

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

    /// The statements that are run on every new connection.
    pub(crate) fn session_setup(self) -> &'static [&'static str] {
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
                // The journal is checkpointed on a connection of its own, once a process has written much. A writer does
                // it if that cannot keep up, or if many processes write a little each: at 64 MiB.
                "PRAGMA wal_autocheckpoint = 8192",
                "PRAGMA journal_size_limit = 67108864",
            ],
            Dialect::Postgres => &["SET synchronous_commit = on"],
            Dialect::Mariadb => &["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"],
        }
    }

    /// Reads the clock: microseconds since 1970-01-01 UTC.
    pub(crate) fn time(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
            Dialect::Postgres => {
                "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
            }
            Dialect::Mariadb => "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)",
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

    /// Ends a selection whose rows are locked until the transaction ends.
    pub(crate) fn lock(self) -> &'static str {
        if self == Dialect::Sqlite { "" } else { " FOR UPDATE" }
    }

    /// The same, leaving out rows that are locked.
    pub(crate) fn lock_skip_locked(self) -> &'static str {
        if self == Dialect::Sqlite { "" } else { " FOR UPDATE SKIP LOCKED" }
    }

    /// Ends a selection whose rows cannot be changed by others until the transaction ends.
    pub(crate) fn lock_shared(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR SHARE",
            Dialect::Mariadb => " LOCK IN SHARE MODE",
        }
    }

    /// The end of an insertion that overwrites rows with the same key.
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

    /// The words that replace the placeholders of migrations.
    pub(crate) fn ddl(self) -> Ddl {
        match self {
            Dialect::Sqlite => Ddl {
                id: "BLOB",
                hash: "BLOB",
                body: "BLOB",
                word: "TEXT",
                text: "TEXT",
                table_options: "",
                if_not_exists: "",
                if_exists: "",
            },
            Dialect::Postgres => Ddl {
                id: "BYTEA",
                hash: "BYTEA",
                body: "BYTEA",
                word: r#"TEXT COLLATE "C""#,
                text: r#"TEXT COLLATE "C""#,
                table_options: "",
                if_not_exists: "IF NOT EXISTS",
                if_exists: "IF EXISTS",
            },
            Dialect::Mariadb => Ddl {
                id: "BINARY(16)",
                hash: "BINARY(32)",
                body: "LONGBLOB",
                word: "VARCHAR(255)",
                text: "LONGTEXT",
                table_options: "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin",
                if_not_exists: "IF NOT EXISTS",
                if_exists: "IF EXISTS",
            },
        }
    }
}

/// The types of columns and the options of tables in a dialect.
pub(crate) struct Ddl {
    id: &'static str,
    hash: &'static str,
    body: &'static str,
    /// A text that an index can hold.
    word: &'static str,
    /// A text of any length.
    text: &'static str,
    pub(crate) table_options: &'static str,
    /// Makes the addition of a column repeatable, where a migration is no transaction.
    if_not_exists: &'static str,
    /// The same for the removal of a column.
    if_exists: &'static str,
}

impl Ddl {
    /// A migration with its placeholders replaced.
    pub(crate) fn fill(&self, migration: &str) -> String {
        let placeholders = [
            ("{id}", self.id),
            ("{hash}", self.hash),
            ("{body}", self.body),
            ("{word}", self.word),
            ("{text}", self.text),
            ("{table}", self.table_options),
            ("{if_not_exists}", self.if_not_exists),
            ("{if_exists}", self.if_exists),
        ];
        let fill = |text: String, (name, value): (&str, &str)| text.replace(name, value);
        placeholders.into_iter().fold(migration.to_owned(), fill)
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
