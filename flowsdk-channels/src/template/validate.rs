//! Checks whether the provider would take the components of a template.

use flowsdk_core::message::FormOpening;
use flowsdk_core::text::Text;

use super::placeholder::has_placeholder_at_edge;
use super::{Button, Component, HeaderExample, HeaderFormat, count_placeholders};
use crate::channel_number::E164;

/// Most characters of a body.
pub const MAX_BODY: usize = 1_024;
/// Most characters of a header.
pub const MAX_HEADER: usize = 60;
/// Most characters of a footer.
pub const MAX_FOOTER: usize = 60;
/// Most buttons of one template.
pub const MAX_BUTTONS: usize = 10;
/// Most characters of a button.
pub const MAX_BUTTON_TEXT: usize = 25;
/// Most characters of an address behind a button.
const MAX_URL: usize = 2_000;
/// Longest id of a form, and of a screen of it.
const MAX_FORM_ID: usize = 100;

const BODY_ONCE: Text = Text::new("Deve haver exatamente um BODY", "There must be exactly one BODY");
const TWICE: Text = Text::new("Componente repetido", "Repeated component");
const PLACEHOLDERS: Text = Text::new(
    "Variáveis devem ser {{1}}, {{2}} … sem intervalos",
    "Placeholders must be {{1}}, {{2}} … without a gap",
);
const AT_EDGE: Text = Text::new(
    "Não pode começar nem terminar com uma variável",
    "May neither begin nor end with a placeholder",
);
const NO_PLACEHOLDERS: Text = Text::new("Não pode ter variáveis", "May not have placeholders");
const EXAMPLE: Text =
    Text::new("Deve ter um valor para cada variável", "Must have a value for each placeholder");
const EMPTY: Text = Text::new("Não pode ser vazio", "May not be empty");
const REQUIRED: Text = Text::new("Campo obrigatório", "Required field");
const TEXT_ONLY: Text = Text::new("Somente com o formato TEXT", "Only with the format TEXT");
const NAVIGATE_ONLY: Text =
    Text::new("Somente com `flow_action` `navigate`", "Only with the `flow_action` `navigate`");
const ONE_AT_END: Text = Text::new(
    "Pode ter uma única variável, {{1}}, no fim",
    "May have a single placeholder, {{1}}, at its end",
);
const PHONE: Text = Text::new(
    "Formato inválido: esperado um telefone de 8 a 15 dígitos com código do país",
    "Invalid format: expected a phone number of 8 to 15 digits with country code",
);
const OTP_TYPE: Text =
    Text::new("Deve ser um de: COPY_CODE, ONE_TAP, ZERO_TAP", "Must be one of: COPY_CODE, ONE_TAP, ZERO_TAP");
const ADDRESS: Text = Text::new(
    "Formato inválido: esperado um endereço http:// ou https://",
    "Invalid format: expected an address with http:// or https://",
);

/// The problems, each with its field as clients write it.
#[derive(Default)]
struct Findings(Vec<(String, Text)>);

impl Findings {
    fn add(&mut self, field: impl Into<String>, text: Text) {
        self.0.push((field.into(), text));
    }

    /// A text that has to be there and may have so many characters.
    fn text(&mut self, field: &str, text: &str, most: usize) {
        if text.trim().is_empty() {
            self.add(field, EMPTY);
        } else if text.chars().count() > most {
            let (portuguese, english) = (
                format!("Pode ter no máximo {most} caracteres"),
                format!("May have at most {most} characters"),
            );
            self.add(field, Text::of(portuguese, english));
        }
    }
}

/// Everything that the provider would refuse, each with its field, such as `components[1].text`.
pub fn validate(components: &[Component]) -> Vec<(String, Text)> {
    let mut findings = Findings::default();
    let mut seen: Vec<std::mem::Discriminant<Component>> = Vec::new();
    for (at, component) in components.iter().enumerate() {
        let field = format!("components[{at}]");
        if seen.contains(&std::mem::discriminant(component)) {
            findings.add(&field, TWICE);
        }
        seen.push(std::mem::discriminant(component));
        match component {
            Component::Header { format, text, example } => {
                header(&mut findings, &field, *format, text.as_deref(), example.as_ref());
            }
            Component::Body { text, example } => {
                let rows = example.as_ref().map(|example| example.body_text.as_slice());
                body(&mut findings, &field, text, rows);
            }
            Component::Footer { text } => {
                findings.text(&format!("{field}.text"), text, MAX_FOOTER);
                if count_placeholders(text) != Ok(0) {
                    findings.add(format!("{field}.text"), NO_PLACEHOLDERS);
                }
            }
            Component::Buttons { buttons } => all_buttons(&mut findings, &field, buttons),
        }
    }
    if !components.iter().any(|component| matches!(component, Component::Body { .. })) {
        findings.add("components", BODY_ONCE);
    }
    findings.0
}

fn header(
    findings: &mut Findings,
    field: &str,
    format: HeaderFormat,
    text: Option<&str>,
    example: Option<&HeaderExample>,
) {
    let at = format!("{field}.text");
    match (format, text) {
        (HeaderFormat::Text, None) => findings.add(at, REQUIRED),
        (HeaderFormat::Text, Some(text)) => {
            findings.text(&at, text, MAX_HEADER);
            match count_placeholders(text) {
                Err(_) => findings.add(at, PLACEHOLDERS),
                Ok(count) if count > 1 => findings.add(at, ONE_AT_END),
                Ok(count) => {
                    let values = example.map_or(count, |example| example.header_text.len());
                    if values != count {
                        findings.add(format!("{field}.example.header_text"), EXAMPLE);
                    }
                }
            }
        }
        (_, Some(_)) => findings.add(at, TEXT_ONLY),
        (_, None) => {}
    }
}

fn body(findings: &mut Findings, field: &str, text: &str, rows: Option<&[Vec<String>]>) {
    let at = format!("{field}.text");
    findings.text(&at, text, MAX_BODY);
    match count_placeholders(text) {
        Err(_) => findings.add(at, PLACEHOLDERS),
        Ok(count) => {
            if has_placeholder_at_edge(text) {
                findings.add(at, AT_EDGE);
            }
            for (row, values) in rows.unwrap_or_default().iter().enumerate() {
                if values.len() != count {
                    findings.add(format!("{field}.example.body_text[{row}]"), EXAMPLE);
                }
            }
        }
    }
}

fn all_buttons(findings: &mut Findings, field: &str, buttons: &[Button]) {
    let at = format!("{field}.buttons");
    if buttons.is_empty() {
        findings.add(&at, EMPTY);
    }
    if buttons.len() > MAX_BUTTONS {
        let (portuguese, english) = (
            format!("Pode ter no máximo {MAX_BUTTONS} itens"),
            format!("May have at most {MAX_BUTTONS} items"),
        );
        findings.add(&at, Text::of(portuguese, english));
    }
    for (index, button) in buttons.iter().enumerate() {
        let at = format!("{at}[{index}]");
        if let Some(text) = button.text() {
            findings.text(&format!("{at}.text"), text, MAX_BUTTON_TEXT);
            if count_placeholders(text) != Ok(0) {
                findings.add(format!("{at}.text"), NO_PLACEHOLDERS);
            }
        }
        match button {
            Button::Url { url, .. } => address(findings, &format!("{at}.url"), url),
            Button::PhoneNumber { phone_number, .. } if E164::parse(phone_number).is_err() => {
                findings.add(format!("{at}.phone_number"), PHONE);
            }
            Button::Otp { otp_type, .. }
                if !["COPY_CODE", "ONE_TAP", "ZERO_TAP"].contains(&otp_type.as_str()) =>
            {
                findings.add(format!("{at}.otp_type"), OTP_TYPE);
            }
            Button::Flow { flow_id, flow_action, navigate_screen, .. } => {
                findings.text(&format!("{at}.flow_id"), flow_id, MAX_FORM_ID);
                if let Some(screen) = navigate_screen {
                    let at = format!("{at}.navigate_screen");
                    findings.text(&at, screen, MAX_FORM_ID);
                    if *flow_action == Some(FormOpening::DataExchange) {
                        findings.add(at, NAVIGATE_ONLY);
                    }
                }
            }
            _ => {}
        }
    }
}

fn address(findings: &mut Findings, at: &str, url: &str) {
    findings.text(at, url, MAX_URL);
    let fixed = url.strip_suffix("{{1}}").unwrap_or(url);
    if fixed.contains("{{") || fixed.contains("}}") {
        findings.add(at, ONE_AT_END);
    } else if !(fixed.starts_with("https://") || fixed.starts_with("http://"))
        || fixed.contains(char::is_whitespace)
    {
        findings.add(at, ADDRESS);
    }
}

#[cfg(test)]
mod tests;
