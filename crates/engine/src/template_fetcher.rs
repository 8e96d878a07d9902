//! Templates at URLs: who fetches them.

use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// Fetches templates that requests name by URL.
#[async_trait]
pub trait TemplateFetcher: fmt::Debug + Send + Sync {
    /// Fetches a template of at most so many bytes; the error says why not, in Heat's words. It takes a bounded time.
    async fn fetch(&self, url: &str, max_bytes: usize) -> Result<Arc<str>, String>;
}

/// A fetcher that fetches nothing.
#[derive(Debug)]
pub(crate) struct NoFetcher;

#[async_trait]
impl TemplateFetcher for NoFetcher {
    async fn fetch(&self, url: &str, _: usize) -> Result<Arc<str>, String> {
        Err(format!("Failed to retrieve template from {url}"))
    }
}
