//! The dashboard of a server: who gets it, and what it passes on. What it shows is tested in a browser (`ui/tests`).

use crate::client_fake::{Fake, ok, told, with};
use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use reqwest::{Client, Response};
use serde_json::{Value, json};

/// A Keystone whose catalogue has one service, which is itself.
fn keystone() -> Fake {
    Fake::new(|asked| {
        let host = asked.header("host").unwrap_or_default();
        let endpoint = json!({"interface": "public", "url": format!("http://{host}/images")});
        let catalogue =
            json!({"catalog": [{"type": "image", "name": "glance", "endpoints": [endpoint]}]});
        let is_known = asked.header("x-auth-token") == Some("good");
        match (&*asked.method, &*asked.path) {
            ("POST", "/v3/auth/tokens") => {
                with(told(201, asked.body.clone()), "x-subject-token", "t")
            }
            ("GET", "/v3/auth/catalog") if is_known => ok(catalogue),
            ("GET", "/images/v2/images") if is_known => ok(json!({"images": [{"name": "cirros"}]})),
            _ => told(401, json!({"error": {"message": "who are you?"}})),
        }
    })
}

/// A server with its Keystone.
struct Site {
    api: String,
    keystone: Fake,
    _served: Served,
    _directory: TestDirectory,
}

fn start(options: &str) -> Site {
    let keystone = keystone();
    let config = format!(
        "[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n\
         [keystone_authtoken]\nauth_url = {}\nusername = kiln\npassword = secret\n[kiln]\n{options}\n",
        keystone.url("")
    );
    let directory = TestDirectory::with(&[("kiln.conf", &config)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    Site { api, keystone, _served: served, _directory: directory }
}

fn client() -> Client {
    kiln_cloud::client_builder().build().expect("a client")
}

async fn get(url: String, token: &str) -> Response {
    client().get(url).header("x-auth-token", token).send().await.expect("an answer")
}

#[test]
fn a_server_without_the_option_serves_nothing_of_it() {
    let site = start("");
    let api = &site.api;
    wait(async {
        for path in ["", "/", "/config.json", "/kiln.svg", "/identity/v3/auth/projects"] {
            let response = get(format!("{api}/dashboard{path}"), "good").await;
            assert!(!response.status().is_success(), "{path}");
            let text = response.text().await.expect("text");
            assert!(!text.contains("<script"), "{path}: {text}");
        }
    });
    assert!(!site.keystone.lines().iter().any(|line| line.contains("projects")));
}

#[test]
fn the_page_is_restricted_and_names_where_the_services_are() {
    let site = start("dashboard = true\ndashboard_websso = openid=Company login");
    let api = &site.api;
    wait(async {
        let page = get(format!("{api}/dashboard"), "").await;
        assert_eq!(page.url().path(), "/dashboard/");
        let policy = page.headers()["content-security-policy"].to_str().expect("text").to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.headers()["x-content-type-options"], "nosniff");
        let config = get(format!("{api}/dashboard/config.json"), "").await;
        let config: Value = config.json().await.expect("JSON");
        assert_eq!(config["users"], json!([]), "only kiln dev offers users");
        assert_eq!(config["websso"], json!([{"id": "openid", "label": "Company login"}]));
    });
}

#[test]
fn only_what_the_page_needs_is_passed_on() {
    let site = start("dashboard = true");
    let api = &site.api;
    wait(async {
        let body = json!({"auth": {}});
        let url = format!("{api}/dashboard/identity/v3/auth/tokens");
        let login = client().post(url).json(&body).send().await.expect("an answer");
        assert_eq!(
            (login.status().as_u16(), &login.headers()["x-subject-token"]),
            (201, &"t".parse().expect("a header"))
        );
        assert!(
            login.headers()["content-security-policy"].to_str().expect("text").contains("sandbox")
        );
        assert_eq!(login.json::<Value>().await.expect("JSON"), body);

        let images = get(format!("{api}/dashboard/services/image/v2/images?limit=3"), "good").await;
        assert_eq!(images.json::<Value>().await.expect("JSON")["images"][0]["name"], "cirros");
        let refused = get(format!("{api}/dashboard/services/image/v2/images"), "bad").await;
        assert_eq!(refused.status(), 401);

        for path in [
            "identity/v3/users",
            "identity/v3/auth/tokens/OS-PKI/revoked",
            "services/object-store/v1/c/evil.html",
            "services/network/v2.0/networks",
            "services/image/..%2F..%2Fv3%2Fusers",
        ] {
            let response = get(format!("{api}/dashboard/{path}"), "good").await;
            assert_eq!(response.status(), 404, "{path}");
        }
        let asked = site.keystone.lines();
        let is_passed = |line: &String| {
            ["users", "OS-PKI", "evil", "networks"].iter().any(|it| line.contains(it))
        };
        assert!(!asked.iter().any(is_passed), "{asked:?}");
    });
}

#[test]
fn single_sign_on_ends_in_the_page_with_the_token_and_nothing_else() {
    let site = start("dashboard = true");
    let api = &site.api;
    wait(async {
        for (token, shown) in [("gAAA-b_c=", "gAAA-b_c="), ("\"><script>alert(1)</script>", "")] {
            let form = client().post(format!("{api}/dashboard/websso")).form(&[("token", token)]);
            let response = form.send().await.expect("an answer");
            assert_eq!(response.headers()["cache-control"], "no-store");
            let text = response.text().await.expect("text");
            assert!(text.contains(&format!("<meta name=\"kiln-token\" content=\"{shown}\" />")));
            assert!(!text.contains("alert"), "{text}");
        }
    });
}

#[test]
fn it_needs_a_keystone() {
    let config = "[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n[paste_deploy]\nflavor = noauth\n[kiln]\ndashboard = true\n";
    let directory = TestDirectory::with(&[("kiln.conf", config)]);
    let run = directory.run(&["server", "--config", "kiln.conf"]);
    assert_eq!(run.status, 2);
    assert!(
        run.err.contains("[kiln] dashboard needs [paste_deploy] flavor = keystone"),
        "{}",
        run.err
    );
}
