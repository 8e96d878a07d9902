//! The orchestration service of the simulated cloud: its stacks are things whose value is their template.
//!
//! Names are unique, snapshots go with their stack, and an action takes a few looks.

use super::cloud::{Cloud, Copy, Thing, missing, refused};
use kiln_cloud::{Call, Method, Reply};
use serde_json::{Value as Json, json};

impl Cloud {
    /// Answers a call to `/stacks` and below.
    pub fn act_on_stacks(&mut self, call: &Call, path: &str) -> Reply {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let nothing = Json::Null;
        let body = call.request.body.as_ref().unwrap_or(&nothing);
        let Some(id) = parts.get(1).map(|id| (*id).to_owned()) else {
            return match call.request.method {
                Method::Post => self.create_stack(body),
                _ => self.list_stacks(call),
            };
        };
        // Whoever knows the id has to know the name as well.
        if self.things.get(&id).is_none_or(|stack| stack.name != parts[0]) {
            return missing();
        }
        match (call.request.method, parts.get(2).copied()) {
            (Method::Get, None) => self.show_stack(&id),
            (Method::Put, None) => self.change_stack(&id, body),
            (Method::Delete, None) => self.delete_stack(&id),
            (_, Some("actions")) => self.act_on_stack(&id, body),
            (_, Some("snapshots")) => {
                let copy = parts.get(3).copied().unwrap_or_default().to_owned();
                self.act_on_snapshots(call.request.method, &id, &copy, body)
            }
            _ => Reply::new(405, Json::Null),
        }
    }

    fn create_stack(&mut self, body: &Json) -> Reply {
        let name = body["stack_name"].as_str().unwrap().to_owned();
        if self.things.values().any(|it| it.name == name) {
            return Reply::new(409, json!({ "message": "it exists" }));
        }
        let value = template(&body["template"]);
        if value == "refused" {
            return refused(400);
        }
        self.deeds.push(format!("make {value}"));
        let id = self.next_id("t");
        let looks = if value == "slow" { 20 } else { 1 };
        let action = "CREATE".to_owned();
        self.names.insert(name.clone());
        let stack = Thing { name, value, size: 1, looks, action, ..Thing::default() };
        self.things.insert(id.clone(), stack);
        Reply::new(201, json!({ "stack": { "id": id } }))
    }

    fn list_stacks(&self, call: &Call) -> Reply {
        let name = call.request.query.iter().find(|(key, _)| key == "name").map(|(_, name)| name);
        let stacks = self.things.iter().filter(|(_, stack)| Some(&stack.name) == name);
        let stacks: Vec<Json> =
            stacks.map(|(id, it)| json!({ "id": id, "stack_name": it.name })).collect();
        Reply::new(200, json!({ "stacks": stacks }))
    }

    fn show_stack(&mut self, id: &str) -> Reply {
        let Some(stack) = self.things.get_mut(id) else { return missing() };
        stack.looks = stack.looks.saturating_sub(1);
        let status = match stack.looks {
            _ if stack.value == "broken" => "FAILED",
            0 => "COMPLETE",
            _ => "IN_PROGRESS",
        };
        let body = json!({ "stack": {
            "id": id,
            "stack_name": stack.name,
            "stack_status": format!("{}_{status}", stack.action),
            "stack_status_reason": "so it is",
            "updated_time": stack.acts.to_string(),
            "outputs": [],
        }});
        Reply::new(200, body)
    }

    fn change_stack(&mut self, id: &str, body: &Json) -> Reply {
        let value = template(&body["template"]);
        if value == "refused" {
            return refused(400);
        }
        let Some(stack) = self.things.get_mut(id) else { return missing() };
        self.deeds.push(format!("change {} to {value}", stack.value));
        stack.value = value;
        begin(stack, "UPDATE");
        Reply::new(202, Json::Null)
    }

    fn delete_stack(&mut self, id: &str) -> Reply {
        let reply = self.delete(id);
        if reply.status == 204 {
            self.copies.retain(|_, copy| copy.of != id);
        }
        reply
    }

    fn act_on_stack(&mut self, id: &str, body: &Json) -> Reply {
        let Some(stack) = self.things.get_mut(id) else { return missing() };
        let Some(action) = body.as_object().and_then(|it| it.keys().next()) else {
            return refused(400);
        };
        if action != "check" {
            stack.rests = action == "suspend";
        }
        begin(stack, &action.to_uppercase());
        Reply::new(200, Json::Null)
    }

    fn act_on_snapshots(&mut self, method: Method, id: &str, copy: &str, body: &Json) -> Reply {
        let ok = |body| Reply::new(200, body);
        match (method, copy) {
            (Method::Post, _) => {
                let Some(stack) = self.things.get(id) else { return missing() };
                let (value, of) = (stack.value.clone(), id.to_owned());
                self.deeds.push(format!("copy {value}"));
                let name = body["name"].as_str().unwrap().to_owned();
                let copy = self.next_id("c");
                self.copies.insert(copy.clone(), Copy { name, value, of, ..Copy::default() });
                ok(json!({ "id": copy }))
            }
            (Method::Get, "") => {
                let own = self.copies.iter().filter(|(_, copy)| copy.of == id);
                let own: Vec<Json> =
                    own.map(|(id, copy)| json!({ "id": id, "name": copy.name })).collect();
                ok(json!({ "snapshots": own }))
            }
            (Method::Get, copy) => match self.copies.get(copy) {
                Some(copy) => ok(json!({ "snapshot": {
                    "status": "COMPLETE",
                    "data": { "template": copy.value, "environment": { "parameters": {} } },
                }})),
                None => missing(),
            },
            (Method::Delete, copy) => match self.copies.remove(copy) {
                Some(_) => Reply::new(204, Json::Null),
                None => missing(),
            },
            _ => Reply::new(405, Json::Null),
        }
    }
}

fn begin(stack: &mut Thing, action: &str) {
    stack.action = action.to_owned();
    stack.acts += 1;
    stack.looks = 1;
}

/// A template: a text, be it written as one or as JSON.
fn template(given: &Json) -> String {
    let text = given.as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
}
