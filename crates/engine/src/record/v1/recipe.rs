//! Recipes.

use super::is_false;
use crate::record::value::{Id, Stored, StoredMembers};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a recipe has besides its columns. Its texts are stored under their hashes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecipeBody {
    pub(crate) template: TemplateBody,
    /// The hashes of files, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<Arc<str>, String>,
    pub(crate) environment: Stored,
    #[serde(default, skip_serializing_if = "StoredMembers::is_empty")]
    pub(crate) parameters: StoredMembers,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<(Arc<str>, Arc<str>)>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) forbidden: BTreeSet<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created_by: Option<CreatedByBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contract: Option<ContractBody>,
}

/// Where a template comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum TemplateBody {
    /// The hash of a text that was sent.
    Text(String),
    /// One of the files.
    File {
        url: Arc<str>,
        hash: String,
    },
    /// A template that a resource type generated.
    Made(Stored),
    Nothing,
}

/// The user who created a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreatedByBody {
    pub(crate) user_id: Arc<str>,
    pub(crate) user_name: Arc<str>,
    pub(crate) user_domain: Arc<str>,
    pub(crate) project_name: Arc<str>,
    pub(crate) project_domain: Arc<str>,
    pub(crate) roles: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) admin_project: bool,
}

/// What an update that was planned may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContractBody {
    /// The hash of the record that it was made for.
    pub(crate) base: String,
    /// What may be done by the paths of resources, one letter each.
    pub(crate) allowed: BTreeMap<Arc<str>, String>,
    /// Whether what may be updated may be replaced, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) replace: bool,
}

/// A recipe that waits in a command, with its texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentRecipeBody {
    pub(crate) id: Id,
    pub(crate) template: Arc<str>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<Arc<str>, Arc<str>>,
    pub(crate) environment: Stored,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) forbidden: BTreeSet<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created_by: Option<CreatedByBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contract: Option<ContractBody>,
}
