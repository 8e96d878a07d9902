//! Templates in files, sent as a client sends them: with all that they name, and with values for what they ask for.

use super::given;
use super::kiln_process::{KilnProcess, Who};
use super::life;
use super::side::side_by_side;
use kiln_template::files::{FileLimits, FileReader, Gatherer, ReadError};
use kiln_template::print::{self, Keys};
use kiln_template::{Sources, Value};
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// Minutes until a stack is given up: some of them wait for a minute on purpose.
const TIMEOUT: u64 = 3;

/// The URL of the folder of templates, as the templates see it.
const ROOT: &str = "file:///corpus/heat-templates/";

/// A folder of templates.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// Files that should be there beside those that are: their paths and texts.
    pub(crate) beside: Vec<(String, String)>,
}

impl FileReader for Folder {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        let missing = || ReadError { reason: "no such file".into() };
        let path = url.strip_prefix(ROOT).ok_or_else(missing)?;
        match self.beside.iter().find(|(name, _)| name == path) {
            Some((_, text)) => Ok(text.clone().into_bytes()),
            None => std::fs::read(self.path.join(path)).map_err(|_| missing()),
        }
    }
}

/// A template in a folder, perhaps with an environment.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) number: usize,
    pub(crate) template: String,
    pub(crate) environment: Option<String>,
    /// Values that parameters must have.
    pub(crate) told: Json,
    /// Objects of this collection are kept on purpose.
    pub(crate) kept: Option<&'static str>,
}

impl Folder {
    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8_lossy(&self.read(&format!("{ROOT}{path}")).unwrap_or_default()).into()
    }

    /// The body of the request that a client sends for a template.
    fn request(&self, case: &Case) -> Result<Json, String> {
        let mut sources = Sources::new();
        let limits = FileLimits::default();
        let mut gathering = Gatherer::new(self, &mut sources, &limits);
        let template = gathering.template(&format!("{ROOT}{}", case.template));
        let environment = case.environment.as_ref();
        let environment = environment.and_then(|it| gathering.environment(&format!("{ROOT}{it}")));
        let gathered = gathering.finish();
        let template = template.ok_or("the template cannot be read")?;
        let mut files: Map<String, Json> = self.elsewhere(case);
        let found = gathered.files.iter();
        files.extend(found.map(|(name, text)| (name.to_string(), Json::from(&**text))));
        let environment = environment.map(|it| print::json(&Value::from(&it), Keys::Ordered));
        Ok(json!({
            "template": print::json(&Value::from(&template), Keys::Ordered),
            "files": files,
            "environment": environment.unwrap_or_default(),
            "timeout_mins": TIMEOUT,
        }))
    }

    /// Templates that are fetched by their address: whatever has the same name beside the template is sent along.
    fn elsewhere(&self, case: &Case) -> Map<String, Json> {
        let text = self.text(&case.template);
        let folder = Path::new(&case.template).parent().unwrap_or(Path::new(""));
        let mut files = Map::new();
        let named = text.lines().filter_map(|line| line.split_once("TemplateURL"));
        let named = named.map(|(_, url)| url.trim_matches(|it: char| "\"':, \t".contains(it)));
        let told =
            case.told.as_object().into_iter().flatten().filter_map(|(_, told)| told.as_str());
        for url in named.chain(told.filter(|told| told.starts_with("http://"))) {
            let name = url.rsplit('/').next().unwrap_or(url);
            let path = folder.join(name).display().to_string();
            files.insert(url.to_owned(), self.text(&path).into());
        }
        files
    }
}

/// Has a template live.
pub(crate) async fn live(kiln: &KilnProcess, folder: &Folder, case: &Case) -> Result<(), String> {
    let mut body = folder.request(case)?;
    let reply = kiln.ask(Who::Demo, "POST", "/validate", Some(body.clone())).await;
    let valid = life::expect(reply, "validate")?;
    let text = folder.text(&case.template);
    body["parameters"] = given::parameters(kiln, &text, &valid["Parameters"]).await;
    for (name, value) in case.told.as_object().into_iter().flatten() {
        body["parameters"][name] = value.clone();
    }
    let who = life::who_may(kiln, &body).await;
    life::live_and_die(kiln, who, &format!("case-{}", case.number), &body, case.kept).await
}

/// Templates of our own that use what public ones do.
#[tokio::test]
async fn our_templates_live_and_leave_nothing_behind() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cloud/templates");
    let folder = Folder { path, beside: Vec::new() };
    let names = std::fs::read_dir(&folder.path).expect("a folder").flatten();
    let names = names.map(|entry| entry.file_name().display().to_string());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yaml")).collect();
    names.sort();
    let case = |(number, template): (usize, String)| {
        let environment = format!("{}.env", template.trim_end_matches(".yaml"));
        let environment = folder.path.join(&environment).exists().then_some(environment);
        Case { number, template, environment, told: Json::Null, kept: None }
    };
    let cases: Vec<Case> = names.into_iter().enumerate().map(case).collect();
    let ends = side_by_side(cases, async |kiln, case| {
        let end = live(kiln, &folder, &case).await;
        end.map_err(|why| format!("{}: {why}", case.template))
    });
    let wrong: Vec<String> = ends.await.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
