//! `{{session.*}}`: a JSON path over the public session state (spec A 2.6, 9).

use serde_json::{Value, json};

use super::Path;
use super::path::walk;
use super::value::size_of;
use super::view::{View, write_found, write_json, write_value};
use crate::session::Stop;

/// Appends the value of `path`. Scalars are written straight from the session; only lists and objects are built as
/// JSON.
pub(super) fn write(view: &View<'_>, path: &Path, out: &mut String) {
    let session = view.session;
    let rest = path.rest();
    if rest.is_empty() {
        let scalar = match path.root() {
            "mode" => Some(session.mode.name()),
            "routerId" => Some(session.router_id.as_str()),
            "flowId" => Some(view.here.flow_id.as_str()),
            "contactId" => Some(session.contact_id.as_str()),
            "chatId" => Some(session.chat_id.as_str()),
            "blockId" | "currentBlockId" => Some(view.here.block_id.map_or("", |id| id.as_str())),
            "source" => Some(session.id.channel().name()),
            "contactIdentity" => Some(session.id.as_str()),
            _ => None,
        };
        if let Some(text) = scalar {
            return out.push_str(text);
        }
        let number = match path.root() {
            "expiryTimeout" => i64::try_from(session.expiry_timeout.as_millis()).ok(),
            "startedAt" => Some(session.started_at.as_millis()),
            "lastInteractionAt" => Some(session.last_interaction_at.as_millis()),
            _ => None,
        };
        if let Some(number) = number {
            return write_value(&number.into(), out);
        }
    }
    if path.root() == "variables" {
        return match rest {
            [] => write_json(&session.variables, out),
            [root, below @ ..] => {
                write_found(session.variables.get(&**root).and_then(|v| walk(v, below)), out);
            }
        };
    }
    if let Some(value) = object(view, path.root()) {
        // It is built whole, however little of it is read.
        view.work.bytes(size_of(&value).saturating_mul(4));
        write_found(walk(&value, rest), out);
    }
}

fn object(view: &View<'_>, field: &str) -> Option<Value> {
    let session = view.session;
    let here = view.here;
    match field {
        "currentFlow" => Some(json!({ "id": here.flow_id, "name": here.flow_name })),
        "currentBlock" => {
            let block = here.block_id?;
            Some(json!({ "id": block, "name": view.names.block(here.flow_id, block) }))
        }
        "previousBlock" => {
            let stop = previous_stop(view)?;
            Some(json!({ "id": stop.block_id, "name": view.names.block(&stop.flow_id, &stop.block_id) }))
        }
        "sessionHistory" => Some(session.history.iter().map(|stop| history_item(view, stop)).collect()),
        "redirectHistory" => Some(
            session
                .redirects
                .iter()
                .map(|stop| json!({ "flowId": stop.flow_id, "blockId": stop.block_id }))
                .collect(),
        ),
        _ => None,
    }
}

fn history_item(view: &View<'_>, stop: &Stop) -> Value {
    json!({
        "flow": { "id": stop.flow_id, "name": view.names.flow(&stop.flow_id) },
        "block": { "id": stop.block_id, "name": view.names.block(&stop.flow_id, &stop.block_id) },
    })
}

/// Returns the stop before the current block. While the session waits, the last one is the current block.
fn previous_stop<'a>(view: &View<'a>) -> Option<&'a Stop> {
    let waits = view.session.is_at_stop();
    let before = view.session.history.len().checked_sub(1 + usize::from(waits))?;
    view.session.history.get(before)
}
