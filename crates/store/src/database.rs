//! The connections of a store, its keys, and its transactions.

use crate::cipher::{BodyKind, Cipher};
use crate::dialect::Dialect;
use crate::error::{DbError, is_unreachable};
use crate::file_mode;
use crate::keys::{KeyError, Ring};
use crate::mask_texts::mask_texts;
use crate::migrate;
use crate::sql::{Reader, Statement};
use crate::table::Tables;
use crate::turns::Turns;
use kiln_engine::store::StoreError;
use kiln_engine::{CarriedWakeups, SiteMark};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::pool::PoolConnection;
use sqlx::{
    Any, AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection, Executor, Transaction,
};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many connections a store has to a database server, and to read from SQLite.
const CONNECTIONS: u32 = 8;
/// How many requests of a project write to a database server at the same time.
const WRITES_OF_PROJECT: usize = 2;
/// The most pages that SQLite can count.
const MAX_PAGES: u64 = 4_294_967_294;
/// How many bytes are written before they are moved from SQLite's journal into its file.
const CHECKPOINT_BYTES: u64 = 16 << 20;
/// What a statement takes beyond its large values.
const STATEMENT_BYTES: usize = 256 << 10;
/// How long a piece of work waits for a connection: to a server, no longer than a client waits for an answer; to SQLite, whose
/// one writer is always there, until it is its turn.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);
const SQLITE_TIMEOUT: Duration = Duration::from_secs(60);

/// A store in SQLite, PostgreSQL or MariaDB.
#[derive(Debug)]
pub struct SqlStore {
    pub(crate) dialect: Dialect,
    pub(crate) tables: Tables,
    pub(crate) cipher: Cipher,
    /// Whether the database is a cluster whose nodes all write (Galera). A lock holds on its own node alone there: transactions
    /// of two nodes are in each other's way only if they change the same row.
    pub(crate) is_cluster: bool,
    /// Whose requests may write now.
    pub(crate) turns: Turns,
    /// SQLite has one writer; waiting for it here is fairer than waiting for its lock.
    writers: AnyPool,
    readers: AnyPool,
    /// SQLite's connection that checkpoints the journal.
    checkpointer: Option<AnyPool>,
    commits: AtomicU64,
    /// The bound of a SQLite file, for every connection that writes.
    max_pages: Arc<AtomicU64>,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is of no known form.
    #[error(
        "the URL of the store must begin with sqlite:///PATH, postgres://HOST/NAME or mysql://HOST/NAME"
    )]
    Url,
    /// The database cannot be reached, or does not do what it is told.
    #[error("the database cannot be used: {0}")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database server cannot be reached.
    #[error("the database server at {server} cannot be reached: {why}")]
    Unreachable {
        /// Its host and port.
        server: String,
        /// The reason.
        why: String,
    },
    /// The directory of a SQLite file does not exist.
    #[error("the database {path} cannot be created: there is no directory {directory}")]
    Directory {
        /// The file.
        path: String,
        /// The directory.
        directory: String,
    },
    /// The database was made by a later version.
    #[error("the database has schema {found}, this Kiln knows {known}: upgrade Kiln")]
    Newer {
        /// The schema of the database.
        found: i64,
        /// The last schema that is known here.
        known: i64,
    },
    /// There is no store where it was looked for, and none is to be created.
    #[error("{0}: check where it is, or start `kiln server` once, which creates it")]
    Absent(String),
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
}

impl From<DbError> for OpenError {
    fn from(error: DbError) -> OpenError {
        match error {
            DbError::Keys(error) => OpenError::Keys(error),
            error => OpenError::Database(Box::new(error)),
        }
    }
}

impl SqlStore {
    /// Opens a store: `sqlite:///path`, `postgres://…` or `mysql://…`.
    ///
    /// Tables that are missing are made, and so is the key file if the store is new.
    pub async fn open(url: &str, key_file: &Path) -> Result<SqlStore, OpenError> {
        let dialect = Dialect::of(url).ok_or(OpenError::Url)?;
        check_directory(url)?;
        check_server(dialect, url).await?;
        let opened = SqlStore::open_checked(dialect, url, key_file).await;
        opened.map_err(|error| unreachable_later(error, url))
    }

    async fn open_checked(
        dialect: Dialect,
        url: &str,
        key_file: &Path,
    ) -> Result<SqlStore, OpenError> {
        let max_pages = Arc::new(AtomicU64::new(MAX_PAGES));
        let connected = connect(dialect, url, &max_pages).await;
        let Pools { writers, readers, checkpointer } = connected.map_err(DbError::from)?;
        let mut connection = writers.acquire().await.map_err(DbError::from)?;
        migrate::run(dialect, &mut connection, key_file).await?;
        let cipher = load_keys(dialect, &mut connection, key_file).await?;
        mask_texts(dialect, &mut connection, &cipher).await?;
        let max_bytes = max_statement_bytes(dialect, &mut connection).await?;
        let is_cluster = is_cluster(dialect, &mut connection).await.map_err(DbError::from)?;
        drop(connection);
        let tables = Tables::new(dialect, max_bytes);
        let turns = Turns::new(if dialect == Dialect::Sqlite { 1 } else { WRITES_OF_PROJECT });
        let commits = AtomicU64::new(0);
        Ok(SqlStore {
            dialect,
            tables,
            cipher,
            is_cluster,
            turns,
            writers,
            readers,
            checkpointer,
            commits,
            max_pages,
        })
    }

    /// Whether this kind of database can carry wake-ups between processes.
    pub fn carries_wakeups(url: &str) -> bool {
        Dialect::of(url) == Some(Dialect::Postgres)
    }

    /// Carries wake-ups between the processes on a database, if it is of a kind that can do that. It ends when the channel is gone.
    pub async fn carry_wakeups(url: String, wakeups: CarriedWakeups) {
        if SqlStore::carries_wakeups(&url)
            && let Err(error) = crate::wakeup::carry(&url, wakeups).await
        {
            tracing::error!(%error, "cannot send wake-ups through this database: processes poll it");
        }
    }

    /// Opens a store that exists. Neither a database nor a key file is created.
    pub async fn open_existing(url: &str, key_file: &Path) -> Result<SqlStore, OpenError> {
        let dialect = Dialect::of(url).ok_or(OpenError::Url)?;
        if let Some(path) = file_mode::path_of(url).filter(|path| !path.exists()) {
            return Err(OpenError::Absent(format!("there is no database {}", path.display())));
        }
        let connected = connect(dialect, url, &Arc::new(AtomicU64::new(MAX_PAGES))).await;
        let Pools { writers, readers, checkpointer } = connected.map_err(DbError::from)?;
        let mut connection = writers.acquire().await.map_err(DbError::from)?;
        let check = setting(dialect, &mut connection, KEY_CHECK).await;
        drop(connection);
        for pool in [Some(writers), Some(readers), checkpointer].into_iter().flatten() {
            pool.close().await;
        }
        match check {
            Ok(Some(_)) => SqlStore::open(url, key_file).await,
            Ok(None) => Err(OpenError::Absent("the database holds no store of Kiln".to_owned())),
            Err(error) => {
                Err(OpenError::Absent(format!("the database holds no store of Kiln ({error})")))
            }
        }
    }

    /// The mark of this store's site in the names of its objects: it stays as long as the key file does.
    pub fn site_mark(&self) -> SiteMark {
        SiteMark::new(self.cipher.derived("kiln: mark of the site in names"))
    }

    /// How many transactions this process has made durable.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::SeqCst)
    }

    /// Bounds the size of a SQLite file, for a disk that it shares with others; nothing sets no bound.
    /// A commit that does not fit is refused, and repeated later if there is room again. Database servers
    /// have their own limits.
    pub async fn limit_size(&self, bytes: Option<u64>) -> Result<(), StoreError> {
        if self.dialect != Dialect::Sqlite {
            return Ok(());
        }
        let mut connection = self.writers.acquire().await.map_err(DbError::from)?;
        let size = Statement::new(self.dialect, "SELECT page_size FROM pragma_page_size");
        let size = size.first(&mut connection).await?;
        let size = size.map(|row| Reader::new(&row).count()).transpose()?.unwrap_or(4096).max(1);
        let pages = bytes.map_or(MAX_PAGES, |bytes| (bytes / size).clamp(1, MAX_PAGES));
        self.max_pages.store(pages, Ordering::SeqCst);
        execute(&mut connection, max_pages(pages)).await?;
        Ok(())
    }

    /// Ends all connections.
    pub async fn close(&self) {
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.close().await;
        }
        self.readers.close().await;
        self.writers.close().await;
    }

    /// Begins a transaction that writes, with the newest keys. They are looked for after the wait for a
    /// place to write: a rotation may have ended in the meantime.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, DbError> {
        let transaction = match self.writers.begin_with(self.dialect.begin()).await {
            // SQLite rolls back by itself when the disk is full, and the driver does not notice: that
            // connection is of no use any more.
            Err(sqlx::Error::InvalidSavePointStatement) => {
                self.writers.acquire().await?.close().await?;
                self.writers.begin_with(self.dialect.begin()).await?
            }
            begun => begun?,
        };
        self.cipher.refresh()?;
        Ok(transaction)
    }

    /// Begins a transaction that reads everything from one moment.
    pub(crate) async fn begin_reading(&self) -> Result<Transaction<'static, Any>, DbError> {
        let [before @ .., begin] = self.dialect.begin_reading() else {
            return Ok(self.readers.begin().await?);
        };
        let mut connection = self.reader().await?;
        for statement in before {
            connection.execute(*statement).await?;
        }
        Ok(Transaction::begin(connection, Some(sqlx::SqlSafeStr::into_sql_str(*begin))).await?)
    }

    /// Makes a transaction durable.
    pub(crate) async fn finish(&self, transaction: Transaction<'_, Any>) -> Result<(), DbError> {
        transaction.commit().await?;
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.checkpoint();
        Ok(())
    }

    /// Has SQLite checkpoint the journal, if much was committed, while others read
    /// and write.
    fn checkpoint(&self) {
        let Some(checkpointer) = &self.checkpointer else { return };
        if !self.tables.has_written(CHECKPOINT_BYTES) {
            return;
        }
        let checkpointer = checkpointer.clone();
        #[allow(
            clippy::disallowed_methods,
            reason = "a commit does not wait for it, and it ends by itself"
        )]
        tokio::spawn(async move {
            // If it fails, it is done with the next, or by a writer.
            if let Ok(mut connection) = checkpointer.acquire().await {
                let moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").await;
                if let Err(error) = moved {
                    tracing::debug!(%error, "SQLite's journal is not checkpointed now");
                }
            }
        });
    }

    pub(crate) async fn reader(&self) -> Result<PoolConnection<Any>, DbError> {
        Ok(self.readers.acquire().await?)
    }

    pub(crate) fn statement(&self, text: &str) -> Statement {
        Statement::new(self.dialect, text)
    }
}

/// The connections of a store.
struct Pools {
    writers: AnyPool,
    readers: AnyPool,
    checkpointer: Option<AnyPool>,
}

/// Refuses a SQLite file in a directory that does not exist, with both names: SQLite itself names neither.
pub(crate) fn check_directory(url: &str) -> Result<(), OpenError> {
    let Some(path) = file_mode::path_of(url) else { return Ok(()) };
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir());
    match directory {
        None => Ok(()),
        Some(directory) => Err(OpenError::Directory {
            path: path.display().to_string(),
            directory: directory.display().to_string(),
        }),
    }
}

/// The host and the port of a server, without the login.
fn server_of(options: &AnyConnectOptions) -> String {
    let url = &options.database_url;
    let socket = url.query_pairs().find(|(name, _)| name == "host" || name == "socket");
    match (socket, url.host_str(), url.port()) {
        (Some((_, socket)), _, _) => socket.into_owned(),
        (None, Some(host), Some(port)) => format!("{host}:{port}"),
        (None, host, _) => host.unwrap_or("localhost").to_owned(),
    }
}

/// A server that could be reached may go while the store is opened.
fn unreachable_later(error: OpenError, url: &str) -> OpenError {
    let OpenError::Database(cause) = &error else { return error };
    let Some(DbError::Sql(cause)) = cause.downcast_ref() else { return error };
    let is_gone = is_unreachable(cause) || matches!(cause, sqlx::Error::PoolTimedOut);
    match AnyConnectOptions::from_str(url) {
        Ok(parsed) if is_gone && Dialect::of(url) != Some(Dialect::Sqlite) => {
            OpenError::Unreachable { server: server_of(&parsed), why: cause.to_string() }
        }
        _ => error,
    }
}

/// Tries the connection to a server once: a pool would only say that it took too long.
pub(crate) async fn check_server(dialect: Dialect, url: &str) -> Result<(), OpenError> {
    if dialect == Dialect::Sqlite {
        return Ok(());
    }
    sqlx::any::install_default_drivers();
    let parsed = AnyConnectOptions::from_str(url).map_err(DbError::from)?;
    let unreachable = |why: String| OpenError::Unreachable { server: server_of(&parsed), why };
    match tokio::time::timeout(SERVER_TIMEOUT, AnyConnection::connect_with(&parsed)).await {
        Err(_) => Err(unreachable("it does not answer".to_owned())),
        Ok(Err(error)) if is_unreachable(&error) => Err(unreachable(error.to_string())),
        Ok(connected) => {
            // Other errors of the connection are reported when the store is opened.
            _ = connected.map_err(DbError::from)?.close().await;
            Ok(())
        }
    }
}

async fn connect(
    dialect: Dialect,
    url: &str,
    pages: &Arc<AtomicU64>,
) -> Result<Pools, sqlx::Error> {
    sqlx::any::install_default_drivers();
    if let Some(path) = file_mode::path_of(url).filter(|_| !url.contains("mode=ro")) {
        file_mode::protect(&path);
    }
    let mut url = url.to_owned();
    if dialect == Dialect::Sqlite && !url.contains('?') {
        url.push_str("?mode=rwc");
    }
    let options = AnyConnectOptions::from_str(&url)?.disable_statement_logging();
    let pool = |size: u32| {
        AnyPoolOptions::new()
            .max_connections(size)
            .acquire_timeout(match dialect {
                Dialect::Sqlite => SQLITE_TIMEOUT,
                Dialect::Postgres | Dialect::Mariadb => SERVER_TIMEOUT,
            })
            .test_before_acquire(dialect != Dialect::Sqlite)
            .after_connect({
                let pages = pages.clone();
                move |connection, _| {
                    let pages = pages.load(Ordering::SeqCst);
                    Box::pin(async move {
                        for statement in dialect.session_setup() {
                            connection.execute(*statement).await?;
                        }
                        if is_cluster(dialect, connection).await? {
                            connection.execute(CAUSAL).await?;
                        }
                        if dialect == Dialect::Sqlite && pages != MAX_PAGES {
                            connection.execute(AssertSqlSafe(max_pages(pages))).await?;
                        }
                        Ok(())
                    })
                }
            })
    };
    if dialect == Dialect::Sqlite {
        // The writer first: it makes the file and its journal.
        let writers = pool(1).connect_with(options.clone()).await?;
        let readers = pool(CONNECTIONS).connect_lazy_with(options.clone());
        let checkpointer = Some(pool(1).connect_lazy_with(options));
        Ok(Pools { writers, readers, checkpointer })
    } else {
        let both = pool(CONNECTIONS).connect_with(options).await?;
        Ok(Pools { writers: both.clone(), readers: both, checkpointer: None })
    }
}

/// Has the statements of a session wait until its node has what others have committed: reads, and changes of what was read.
const CAUSAL: &str = "SET SESSION wsrep_sync_wait = 7";

/// Whether the server is a node of a Galera cluster.
async fn is_cluster(dialect: Dialect, connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    if dialect != Dialect::Mariadb {
        return Ok(false);
    }
    let nodes = "SELECT COUNT(*) FROM information_schema.SESSION_VARIABLES \
                 WHERE VARIABLE_NAME = 'WSREP_ON' AND VARIABLE_VALUE = 'ON'";
    let count: i64 = sqlx::query_scalar(nodes).fetch_one(connection).await?;
    Ok(count > 0)
}

/// How many bytes the values of a statement may have: MariaDB closes the connection if there are more in one.
async fn max_statement_bytes(
    dialect: Dialect,
    connection: &mut AnyConnection,
) -> Result<Option<usize>, DbError> {
    if dialect != Dialect::Mariadb {
        return Ok(None);
    }
    let select = Statement::new(dialect, "SELECT CAST(@@max_allowed_packet AS SIGNED)");
    let row = select.first(connection).await?;
    let bytes = row.as_ref().map(|row| Reader::new(row).int()).transpose()?;
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    // The statement itself and the small values have room as well.
    Ok(bytes.map(|bytes| bytes.saturating_sub(STATEMENT_BYTES)))
}

fn max_pages(pages: u64) -> String {
    format!("PRAGMA max_page_count = {pages}")
}

/// The setting that tells whether a ring has the store's keys.
pub(crate) const KEY_CHECK: &str = "key_check";

/// Loads the keys, and makes some if the store has never had any.
pub(crate) async fn load_keys(
    dialect: Dialect,
    connection: &mut sqlx::AnyConnection,
    path: &Path,
) -> Result<Cipher, OpenError> {
    let check = setting(dialect, connection, KEY_CHECK).await?;
    match (path.exists(), &check) {
        (false, Some(_)) => return Err(KeyError::Missing(path.to_owned()).into()),
        (false, None) => _ = Ring::create(path)?,
        (true, _) => {}
    }
    let cipher = Cipher::load(path)?;
    let check = match check {
        Some(check) => check,
        None => {
            let sealed = cipher.seal(BodyKind::Setting, KEY_CHECK.as_bytes(), b"kiln")?;
            let newest = cipher.newest().to_be_bytes();
            add_setting(dialect, connection, crate::rotate::ROTATED, &newest).await?;
            add_setting(dialect, connection, KEY_CHECK, &sealed).await?;
            // Another process may have been faster, perhaps with other keys.
            setting(dialect, connection, KEY_CHECK).await?.unwrap_or(sealed)
        }
    };
    let opened = cipher.open(BodyKind::Setting, KEY_CHECK.as_bytes(), &check);
    opened.map_err(|_| KeyError::Wrong(path.to_owned()))?;
    Ok(cipher)
}

/// Reads a setting.
pub(crate) async fn setting(
    dialect: Dialect,
    connection: &mut sqlx::AnyConnection,
    name: &str,
) -> Result<Option<Vec<u8>>, DbError> {
    let select = Statement::new(dialect, "SELECT body FROM settings WHERE name = ?");
    let row = select.with(|values| values.text(name)).first(connection).await?;
    row.map(|row| Ok(Reader::new(&row).bytes()?.to_vec())).transpose()
}

/// Adds a setting, unless it is there.
pub(crate) async fn add_setting(
    dialect: Dialect,
    connection: &mut sqlx::AnyConnection,
    name: &str,
    body: &[u8],
) -> Result<(), DbError> {
    let insert = Statement::new(dialect, "INSERT INTO settings (name, body) VALUES (?, ?)");
    let insert = insert.with(|values| {
        values.text(name);
        values.bytes(body);
    });
    match insert.run(connection).await {
        Err(error) if error.is_duplicate() => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// Runs a statement that has no values and no place in the cache.
pub(crate) async fn execute(
    connection: &mut sqlx::AnyConnection,
    text: String,
) -> Result<(), DbError> {
    connection.execute(AssertSqlSafe(text)).await?;
    Ok(())
}
