//! An inspection of a database and its keys that changes neither.

use crate::cipher::{BodyKind, Cipher};
use crate::database::{KEY_CHECK, OpenError, SqlStore, check_directory, check_server, setting};
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::file_mode;
use crate::keys::KeyError;
use crate::migrate;
use crate::sql::{Reader, Statement};
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, Connection};
use std::path::Path;
use std::str::FromStr;

/// The state of a database.
#[derive(Debug)]
pub struct Inspection {
    /// The number of the schema, if the database holds a store.
    pub schema: Option<i64>,
    /// The newest schema that this program knows.
    pub known_schema: i64,
    /// Whether the key file has the keys of the store, if there is a store.
    pub keys: Option<Result<(), KeyError>>,
}

impl SqlStore {
    /// Inspects a database and its keys. Neither is created or changed.
    pub async fn inspect(url: &str, key_file: &Path) -> Result<Inspection, OpenError> {
        let dialect = Dialect::of(url).ok_or(OpenError::Url)?;
        let known_schema = migrate::newest();
        check_directory(url)?;
        if file_mode::path_of(url).is_some_and(|path| !path.exists()) {
            return Ok(Inspection { schema: None, known_schema, keys: None });
        }
        check_server(dialect, url).await?;
        sqlx::any::install_default_drivers();
        let options = AnyConnectOptions::from_str(url).map_err(DbError::from)?;
        let connected = AnyConnection::connect_with(&options).await;
        let mut connection = connected.map_err(DbError::from)?;
        let schema = schema(dialect, &mut connection).await;
        let keys = match schema {
            Some(_) => check_keys(dialect, &mut connection, key_file).await?,
            None => None,
        };
        // The connection has changed nothing, so it does not matter how it ends.
        _ = connection.close().await;
        Ok(Inspection { schema, known_schema, keys })
    }
}

/// The number of the schema. A database without the table of migrations has none.
async fn schema(dialect: Dialect, connection: &mut AnyConnection) -> Option<i64> {
    let newest = Statement::new(dialect, "SELECT COALESCE(MAX(number), 0) FROM migrations");
    let row = newest.first(connection).await.ok()??;
    Reader::new(&row).int().ok().filter(|number| *number > 0)
}

/// Whether the key file has the keys of the store; nothing if the store has never had any.
async fn check_keys(
    dialect: Dialect,
    connection: &mut AnyConnection,
    path: &Path,
) -> Result<Option<Result<(), KeyError>>, OpenError> {
    let Some(check) = setting(dialect, connection, KEY_CHECK).await? else { return Ok(None) };
    if !path.exists() {
        return Ok(Some(Err(KeyError::Missing(path.to_owned()))));
    }
    let cipher = match Cipher::load(path) {
        Ok(cipher) => cipher,
        Err(error) => return Ok(Some(Err(error))),
    };
    let opened = cipher.open(BodyKind::Setting, KEY_CHECK.as_bytes(), &check);
    Ok(Some(opened.map(drop).map_err(|_| KeyError::Wrong(path.to_owned()))))
}
