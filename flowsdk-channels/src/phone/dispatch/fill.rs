//! Fills a template in (WhatsApp Cloud API, "Send message templates").

use flowsdk_core::message::{TemplateLocale, TemplateMessage};
use flowsdk_core::text::Text;
use serde_json::{Map, Value, json};

use crate::template::{Button, Component, HeaderFormat, MAX_BODY, Template, count_placeholders, render_body};

/// Parameters that do not fit a template, each with the field that is at fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the parameters do not fit the template")]
pub struct InvalidParameters(Vec<(String, Text)>);

impl InvalidParameters {
    /// Problems by the field of the request.
    pub fn of(details: Vec<(String, Text)>) -> Self {
        Self(details)
    }

    pub(super) fn details(&self) -> Vec<(String, Text)> {
        self.0.clone()
    }
}

/// What the parameters of a part of a template have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// So many texts.
    Texts(usize),
    /// One file of this kind.
    Media(&'static str),
    /// One place.
    Location,
    /// A value for the address of the button at this place.
    Url(usize),
    /// A code for the button at this place.
    Code(usize),
    /// The products that the button at this place shows.
    Products(usize),
}

/// Returns the message of a template with these values: `variables` of the body, `components` of header and buttons. Some
/// buttons need no component: a quick reply brings its text back unless it is given a payload, a catalogue has a thumbnail of
/// its own, and a form may be given data to begin with.
///
/// # Errors
/// Values that are missing, are too many, or are none.
pub fn filled(
    template: &Template,
    variables: &[String],
    components: &[Value],
) -> Result<TemplateMessage, InvalidParameters> {
    let mut problems = Vec::new();
    let mut parts = Vec::new();
    let text = match render_body(template.body(), variables) {
        Ok(text) if text.chars().count() > MAX_BODY => {
            problems.push((
                "variables".to_owned(),
                Text::of(
                    format!("O texto com os valores tem mais de {MAX_BODY} caracteres"),
                    format!("The text with its values has more than {MAX_BODY} characters"),
                ),
            ));
            String::new()
        }
        Ok(text) => text,
        Err(wrong) => {
            problems.push((
                "variables".to_owned(),
                Text::of(
                    format!("{} valores para {} variáveis", wrong.found, wrong.expected),
                    format!("{} values for {} placeholders", wrong.found, wrong.expected),
                ),
            ));
            String::new()
        }
    };
    let unsendable = variables.iter().enumerate().filter(|(_, value)| !is_parameter(value));
    problems.extend(unsendable.map(|(place, _)| (format!("variables[{place}]"), UNSENDABLE)));
    let mut given: Vec<(usize, &Value)> = components.iter().enumerate().collect();
    for wanted in wanted_of(&template.components) {
        let fits = |(_, value): &(usize, &Value)| is_of(value, wanted);
        match given.iter().position(fits) {
            Some(at) => {
                let (place, value) = given.remove(at);
                if !holds(value, wanted) {
                    problems.push((format!("components[{place}]"), PARAMETERS));
                }
                parts.push(value.clone());
            }
            None => problems.push(("components".to_owned(), missing(wanted))),
        }
    }
    for (place, value) in given {
        let field = format!("components[{place}]");
        match button_at(&template.components, value).and_then(|button| check_of_choice(button, value)) {
            Some(Ok(())) => parts.push(value.clone()),
            Some(Err(problem)) => problems.push((field, problem)),
            None => problems.push((field, UNWANTED)),
        }
    }
    // Without a component for its button the provider sends no form.
    let opened: Vec<Value> = forms_of(&template.components)
        .filter(|at| !parts.iter().any(|part| is_of_button(part, *at)))
        .map(|at| {
            json!({ "type": "button", "sub_type": "flow", "index": at.to_string(),
                "parameters": [{ "type": "action", "action": {} }] })
        })
        .collect();
    parts.extend(opened);
    if !problems.is_empty() {
        return Err(InvalidParameters(problems));
    }
    if !variables.is_empty() {
        let texts: Vec<Value> =
            variables.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        parts.push(json!({ "type": "body", "parameters": texts }));
    }
    Ok(TemplateMessage {
        name: template.name.as_str().to_owned(),
        language: TemplateLocale { code: template.language.as_str().to_owned() },
        components: parts,
        text: Some(text),
    })
}

/// Returns what header and buttons of a template want.
fn wanted_of(components: &[Component]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for component in components {
        match component {
            Component::Header { format, text, .. } => wanted.extend(match format {
                HeaderFormat::Text => {
                    let count = count_placeholders(text.as_deref().unwrap_or_default()).unwrap_or(0);
                    (count > 0).then_some(Wanted::Texts(count))
                }
                HeaderFormat::Image => Some(Wanted::Media("image")),
                HeaderFormat::Video | HeaderFormat::Gif => Some(Wanted::Media("video")),
                HeaderFormat::Document => Some(Wanted::Media("document")),
                HeaderFormat::Location => Some(Wanted::Location),
            }),
            Component::Buttons { buttons } => {
                wanted.extend(buttons.iter().enumerate().filter_map(|(at, button)| match button {
                    Button::Url { url, .. } if url.contains("{{") => Some(Wanted::Url(at)),
                    Button::CopyCode { .. } => Some(Wanted::Code(at)),
                    Button::Otp { .. } => Some(Wanted::Url(at)),
                    Button::Mpm { .. } => Some(Wanted::Products(at)),
                    _ => None,
                }));
            }
            Component::Body { .. } | Component::Footer { .. } => {}
        }
    }
    wanted
}

/// Whether a component is for this part of the template.
fn is_of(value: &Value, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Texts(_) | Wanted::Media(_) | Wanted::Location => value["type"] == "header",
        Wanted::Url(at) | Wanted::Code(at) | Wanted::Products(at) => is_of_button(value, at),
    }
}

/// Returns the place of the button that a component is for.
fn place_of(value: &Value) -> Option<usize> {
    let index = value["index"].as_u64().or_else(|| value["index"].as_str()?.parse().ok());
    usize::try_from(index.filter(|_| value["type"] == "button")?).ok()
}

/// Whether a component is for the button at this place.
fn is_of_button(value: &Value, at: usize) -> bool {
    place_of(value) == Some(at)
}

fn buttons_of(components: &[Component]) -> &[Button] {
    let buttons = components.iter().find_map(|component| match component {
        Component::Buttons { buttons } => Some(buttons.as_slice()),
        _ => None,
    });
    buttons.unwrap_or_default()
}

/// Returns the button of a template that a component is for.
fn button_at<'a>(components: &'a [Component], value: &Value) -> Option<&'a Button> {
    buttons_of(components).get(place_of(value)?)
}

/// Returns the places of the buttons that open a form.
fn forms_of(components: &[Component]) -> impl Iterator<Item = usize> {
    let buttons = buttons_of(components).iter().enumerate();
    buttons.filter_map(|(at, button)| matches!(button, Button::Flow { .. }).then_some(at))
}

/// Checks the parameters of a component that a button can do without. `None` if the button takes no such component.
fn check_of_choice(button: &Button, value: &Value) -> Option<Result<(), Text>> {
    let is_kind =
        |kind: &str| value["sub_type"].as_str().is_some_and(|given| given.eq_ignore_ascii_case(kind));
    let only = match value["parameters"].as_array().map(Vec::as_slice) {
        Some([one]) => one,
        _ => &Value::Null,
    };
    let action = action_of(only);
    match button {
        Button::QuickReply { .. } if is_kind("quick_reply") => {
            let payload = only["payload"].as_str().filter(|_| only["type"] == "payload");
            Some(fitting(payload.is_some_and(|payload| (1..=MAX_PAYLOAD).contains(&payload.chars().count()))))
        }
        Button::Catalog { .. } if is_kind("catalog") => {
            let product = action.and_then(|action| action.get("thumbnail_product_retailer_id"));
            Some(fitting(product.is_some_and(is_id)))
        }
        // The token is ours: by it the form and its answer are told apart from others.
        Button::Flow { .. } if is_kind("flow") => {
            let is_data = |(name, data): (&String, &Value)| name == "flow_action_data" && data.is_object();
            if action.is_some_and(|action| action.contains_key("flow_token")) {
                return Some(Err(TOKEN));
            }
            Some(fitting(action.is_some_and(|action| action.iter().all(is_data))))
        }
        _ => None,
    }
}

fn fitting(fits: bool) -> Result<(), Text> {
    if fits { Ok(()) } else { Err(PARAMETERS) }
}

/// Returns the action of a parameter.
fn action_of(parameter: &Value) -> Option<&Map<String, Value>> {
    parameter["action"].as_object().filter(|_| parameter["type"] == "action")
}

/// Whether it names a product of a catalogue.
fn is_id(value: &Value) -> bool {
    value.as_str().is_some_and(|id| !id.is_empty())
}

/// Whether a parameter names the products that are shown: sections with products, and the one of the picture.
fn are_products(parameter: &Value) -> bool {
    let Some(action) = action_of(parameter) else { return false };
    let list = |value: &Value, fits: &dyn Fn(&Value) -> bool| {
        value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(fits))
    };
    let is_section = |section: &Value| {
        section["title"].is_string()
            && list(&section["product_items"], &|item| is_id(&item["product_retailer_id"]))
    };
    action.get("thumbnail_product_retailer_id").is_some_and(is_id)
        && action.get("sections").is_some_and(|sections| list(sections, &is_section))
}

/// Whether the provider takes a text as a parameter: it is not empty, and has no line break, no tab and no more than four
/// blanks in a row.
fn is_parameter(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['\n', '\r', '\t']) && !text.contains("     ")
}

/// Whether the parameters of a component are what the part wants.
fn holds(value: &Value, wanted: Wanted) -> bool {
    let Some(parameters) = value["parameters"].as_array() else { return false };
    let text = |one: &Value| one["type"] == "text" && one["text"].as_str().is_some_and(is_parameter);
    let only = |fits: &dyn Fn(&Value) -> bool| matches!(parameters.as_slice(), [one] if fits(one));
    match wanted {
        Wanted::Texts(count) => parameters.len() == count && parameters.iter().all(text),
        Wanted::Media(kind) => only(&|one| {
            let source = &one[kind];
            let is_address = |link: &str| link.starts_with("https://") || link.starts_with("http://");
            one["type"] == kind
                && (source["link"].as_str().is_some_and(is_address) || source["id"].is_string())
        }),
        Wanted::Location => only(&|one| one["type"] == "location" && one["location"].is_object()),
        Wanted::Url(_) => value["sub_type"] == "url" && only(&text),
        Wanted::Code(_) => {
            value["sub_type"] == "copy_code"
                && only(&|one| one["type"] == "coupon_code" && one["coupon_code"].is_string())
        }
        Wanted::Products(_) => {
            value["sub_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("mpm"))
                && only(&are_products)
        }
    }
}

/// Most characters of the payload of a quick reply.
const MAX_PAYLOAD: usize = 256;
const PARAMETERS: Text =
    Text::new("Os parâmetros não são os desta parte", "The parameters are not those of this part");
const TOKEN: Text = Text::new(
    "O flow_token é o id da mensagem e não é informado",
    "The flow_token is the id of the message, and is not given",
);
const UNSENDABLE: Text = Text::new(
    "O valor não pode ser vazio nem ter quebra de linha, tabulação ou mais de quatro espaços seguidos",
    "The value must not be empty, and must have no line break, no tab and no more than four blanks in a row",
);
const UNWANTED: Text = Text::new("O template não tem esta parte", "The template has no such part");

fn missing(wanted: Wanted) -> Text {
    match wanted {
        Wanted::Texts(_) | Wanted::Media(_) | Wanted::Location => {
            Text::new("Faltam os parâmetros do cabeçalho", "The parameters of the header are missing")
        }
        Wanted::Url(at) | Wanted::Code(at) | Wanted::Products(at) => Text::of(
            format!("Faltam os parâmetros do botão {at}"),
            format!("The parameters of button {at} are missing"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::time::Timestamp;

    use super::*;
    use crate::channel_number::ProviderId;
    use crate::template::{TemplateCategory, TemplateStatus};

    fn template(components: Value) -> Template {
        Template {
            id: "t1".parse().expect("an id"),
            router_id: "r1".parse().expect("an id"),
            business_account_id: ProviderId::parse("77").expect("an id"),
            name: "order".to_owned().try_into().expect("a name"),
            language: "pt_BR".to_owned().try_into().expect("a language"),
            category: TemplateCategory::Utility,
            status: TemplateStatus::Approved,
            components: serde_json::from_value(components).expect("components"),
            provider_id: None,
            quality: None,
            rejected_reason: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_quick_reply_may_be_given_what_it_brings_back() {
        let template = template(
            json!([{ "type": "BODY", "text": "Confirma?" }, { "type": "BUTTONS", "buttons": [
            { "type": "QUICK_REPLY", "text": "Sim" }, { "type": "PHONE_NUMBER", "text": "Ligar", "phone_number": "5511987654321" }] }]),
        );
        let button = |kind: &str, index: Value, payload: Value| {
            json!({ "type": "button", "sub_type": kind, "index": index,
                "parameters": [{ "type": "payload", "payload": payload }] })
        };
        let long = "x".repeat(257);
        for (given, fits) in [
            (vec![], true),
            (vec![button("quick_reply", json!("0"), json!("yes"))], true),
            (vec![button("quick_reply", json!(0), json!("yes"))], true),
            (vec![button("quick_reply", json!(0), json!(""))], false),
            (vec![button("quick_reply", json!(0), json!(long))], false),
            (vec![button("quick_reply", json!(0), json!(7))], false),
            (vec![button("url", json!(0), json!("yes"))], false),
            (vec![button("quick_reply", json!(1), json!("yes"))], false),
            (vec![button("quick_reply", json!(2), json!("yes"))], false),
            (vec![button("quick_reply", json!(-1), json!("yes"))], false),
        ] {
            let made = filled(&template, &[], &given);
            assert_eq!(made.as_ref().map(|made| &made.components).ok(), fits.then_some(&given), "{given:?}");
        }
    }

    #[test]
    fn buttons_of_forms_and_products_are_given_what_they_open() {
        let of = |button: &str| {
            let button = match button {
                "FLOW" => json!({ "type": "FLOW", "text": "Abrir", "flow_id": "7" }),
                other => json!({ "type": other, "text": "Ver" }),
            };
            template(json!([{ "type": "BODY", "text": "Veja" }, { "type": "BUTTONS", "buttons": [
                { "type": "QUICK_REPLY", "text": "Não" }, button] }]))
        };
        let part = |kind: &str, action: Value| {
            json!({ "type": "button", "sub_type": kind, "index": "1",
                "parameters": [{ "type": "action", "action": action }] })
        };
        let thumbnail = json!({ "thumbnail_product_retailer_id": "p1" });
        let products =
            |sections: Value| json!({ "thumbnail_product_retailer_id": "p1", "sections": sections });
        let section = |items: Value| json!([{ "title": "Novos", "product_items": items }]);
        let item = json!([{ "product_retailer_id": "p1" }]);
        let data = json!({ "flow_action_data": { "size": 2 } });
        for (button, given, expected) in [
            ("FLOW", vec![], Some(vec![part("flow", json!({}))])),
            ("FLOW", vec![part("flow", data.clone())], Some(vec![part("flow", data)])),
            ("FLOW", vec![part("flow", json!({ "flow_action_data": 7 }))], None),
            ("FLOW", vec![part("flow", json!({ "flow_token": "mine" }))], None),
            ("FLOW", vec![part("url", json!({}))], None),
            ("CATALOG", vec![], Some(vec![])),
            ("CATALOG", vec![part("CATALOG", thumbnail.clone())], Some(vec![part("CATALOG", thumbnail)])),
            ("CATALOG", vec![part("catalog", json!({}))], None),
            ("MPM", vec![], None),
            ("MPM", vec![part("mpm", products(section(json!([]))))], None),
            ("MPM", vec![part("mpm", products(json!([])))], None),
            (
                "MPM",
                vec![part("mpm", products(section(item.clone())))],
                Some(vec![part("mpm", products(section(item)))]),
            ),
        ] {
            let made = filled(&of(button), &[], &given);
            assert_eq!(
                made.as_ref().map(|made| &made.components).ok(),
                expected.as_ref(),
                "{button} {given:?}"
            );
        }
    }

    #[test]
    fn a_body_with_its_values_has_an_end() {
        let template = template(json!([{ "type": "BODY", "text": "Olá {{1}}!" }]));
        let rest = "Olá !".chars().count();
        for (length, fits) in [(MAX_BODY - rest, true), (MAX_BODY - rest + 1, false)] {
            assert_eq!(filled(&template, &["x".repeat(length)], &[]).is_ok(), fits, "{length}");
        }
    }
}
