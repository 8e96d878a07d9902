//! Recipes and their records.

use super::v1::{ContractBody, CreatedByBody, RecipeBody, TemplateBody};
use super::value::{Stored, StoredMembers};
use super::{Record, Unreadable};
use crate::blueprint::{Recipe, Source};
use crate::ids::StackId;
use crate::preview::{Allowed, Contract};
use crate::store::{Content, Hash, RecipeRow, StoreError};
use indexmap::IndexMap;
use kiln_cloud::CreatedBy;
use kiln_template::Files;
use kiln_template::environment::Environment;
use std::sync::Arc;

impl Recipe {
    /// The row of a recipe; the texts that it names go into `contents`.
    pub fn row(&self, root: StackId, contents: &mut IndexMap<Hash, Content>) -> RecipeRow {
        let mut named = Vec::new();
        let mut keep = |text: &str| {
            let hash = Hash::of(text.as_bytes());
            contents.entry(hash).or_insert_with(|| Content { hash, bytes: text.as_bytes().into() });
            named.push(hash);
            hash.to_string()
        };
        let template = match &self.template {
            Source::Text(text) => TemplateBody::Text(keep(text)),
            Source::File(url, text) => TemplateBody::File { url: url.clone(), hash: keep(text) },
            Source::Made(value) => TemplateBody::Made(Stored(value.clone())),
            Source::Nothing => TemplateBody::Nothing,
        };
        let body = RecipeBody {
            template,
            files: self.files.iter().map(|(name, text)| (name.clone(), keep(text))).collect(),
            environment: Stored(self.environment.to_value()),
            parameters: StoredMembers(self.parameters.clone()),
            aliases: self.aliases.clone(),
            forbidden: (*self.forbidden).clone(),
            created_by: write_created_by(&self.created_by),
            contract: self.contract.as_deref().map(ContractBody::from),
        };
        RecipeRow { id: self.id, root, contents: named, body: body.encode() }
    }

    /// The recipe of a row; `text` gives the texts that it names.
    pub(crate) fn of_row(
        row: &RecipeRow,
        text: &dyn Fn(Hash) -> Option<Arc<str>>,
    ) -> Result<Recipe, StoreError> {
        let body = RecipeBody::read(&row.body, row.id)?;
        let recipe = body.into_recipe(row, text);
        recipe.map_err(|error| error.of(RecipeBody::NAME, row.id))
    }
}

impl RecipeBody {
    fn into_recipe(
        self,
        row: &RecipeRow,
        text: &dyn Fn(Hash) -> Option<Arc<str>>,
    ) -> Result<Recipe, Unreadable> {
        let named = |hash: &str| {
            let found = Hash::parse(hash).and_then(text);
            found.ok_or_else(|| Unreadable::malformed("a text that it names is not there"))
        };
        let template = match self.template {
            TemplateBody::Text(hash) => Source::Text(named(&hash)?),
            TemplateBody::File { url, hash } => Source::File(url, named(&hash)?),
            TemplateBody::Made(value) => Source::Made(value.0),
            TemplateBody::Nothing => Source::Nothing,
        };
        let files = self.files.into_iter().map(|(name, hash)| Ok((name, named(&hash)?)));
        Ok(Recipe {
            id: row.id,
            template,
            files: Arc::new(files.collect::<Result<Files, Unreadable>>()?),
            environment: Arc::new(environment(&self.environment)?),
            parameters: self.parameters.0,
            contract: read_contract(self.contract)?,
            forbidden: Arc::new(self.forbidden),
            created_by: Arc::new(read_created_by(self.created_by)),
            aliases: self.aliases,
        })
    }
}

/// An environment as it was accepted.
pub(super) fn environment(stored: &Stored) -> Result<Environment, Unreadable> {
    let (environment, findings) = Environment::from_value(&stored.0);
    match findings.iter().find(|finding| finding.is_error()) {
        None => Ok(environment),
        Some(error) => Err(Unreadable::malformed(error.text()).within("environment")),
    }
}

/// Writes the user who created a recipe; a recipe without one has no record of it.
pub(super) fn write_created_by(created_by: &CreatedBy) -> Option<CreatedByBody> {
    (*created_by != CreatedBy::default()).then(|| CreatedByBody {
        user_id: created_by.user_id.clone(),
        user_name: created_by.user_name.clone(),
        user_domain: created_by.user_domain.clone(),
        project_name: created_by.project_name.clone(),
        project_domain: created_by.project_domain.clone(),
        roles: created_by.roles.clone(),
        admin_project: created_by.is_admin_project,
    })
}

pub(super) fn read_created_by(body: Option<CreatedByBody>) -> CreatedBy {
    let Some(body) = body else { return CreatedBy::default() };
    CreatedBy {
        user_id: body.user_id,
        user_name: body.user_name,
        user_domain: body.user_domain,
        project_name: body.project_name,
        project_domain: body.project_domain,
        roles: body.roles,
        is_admin_project: body.admin_project,
    }
}

/// What may be done, and its letter in records.
const LETTERS: [(Allowed, char); 5] = [
    (Allowed::Create, 'c'),
    (Allowed::Update, 'u'),
    (Allowed::Replace, 'r'),
    (Allowed::Delete, 'd'),
    (Allowed::Inside, 'i'),
];

impl From<&Contract> for ContractBody {
    fn from(contract: &Contract) -> ContractBody {
        let letter = |it: &Allowed| LETTERS.iter().find(|(known, _)| known == it).map(|it| it.1);
        let allowed = contract.allowed.iter();
        ContractBody {
            base: contract.base.to_string(),
            allowed: allowed
                .map(|(path, known)| (path.clone(), known.iter().filter_map(letter).collect()))
                .collect(),
            replace: contract.allows_replacement,
        }
    }
}

/// The contract of a record.
pub(super) fn read_contract(
    body: Option<ContractBody>,
) -> Result<Option<Arc<Contract>>, Unreadable> {
    let Some(body) = body else { return Ok(None) };
    let wrong = || Unreadable::malformed("its contract is none");
    let known = |letter: char| {
        LETTERS.iter().find(|(_, it)| *it == letter).map(|it| it.0).ok_or_else(wrong)
    };
    let mut allowed = std::collections::BTreeMap::new();
    for (path, letters) in body.allowed {
        allowed.insert(path, letters.chars().map(known).collect::<Result<_, _>>()?);
    }
    let base = Hash::parse(&body.base).ok_or_else(wrong)?;
    Ok(Some(Arc::new(Contract { base, allowed, allows_replacement: body.replace })))
}
