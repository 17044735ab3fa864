//! Whether something may be sent to a contact now (spec A 4.8, 8; WhatsApp Business Platform, "Customer service windows").

use flowsdk_core::contact::OptInStatus;
use flowsdk_core::session::Channel;
use flowsdk_core::time::Timestamp;

use crate::channel_number::HealthStatus;
use crate::template::{TemplateCategory, TemplateStatus};

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentBy {
    /// A flow, an AI agent or a human in a conversation.
    Conversation,
    /// Somebody who writes first: a dispatch or a campaign.
    Outreach {
        /// An administrator takes it upon themselves that the contact has not agreed.
        without_opt_in: bool,
    },
}

/// A template, as far as it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateFacts {
    /// What the provider thinks of it.
    pub status: TemplateStatus,
    /// What it is for.
    pub category: TemplateCategory,
}

/// What is to be sent, whoever it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendRequest {
    /// The channel.
    pub channel: Channel,
    /// The template; `None` for free content.
    pub template: Option<TemplateFacts>,
    /// Who sends.
    pub by: SentBy,
    /// Whether the number sends that it is to be sent from; [`HealthStatus::Ok`] on a channel without numbers.
    pub number: HealthStatus,
}

/// What is to be sent, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendQuestion {
    /// What is to be sent.
    pub request: SendRequest,
    /// The newest opt-in of the contact for the router.
    pub opt_in: Option<OptInStatus>,
    /// Until when the contact can be answered freely.
    pub window_ends_at: Option<Timestamp>,
}

/// Whether it may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendVerdict {
    /// It may.
    Allow,
    /// The window of the contact is closed: a template may.
    NeedsTemplate,
    /// It may not.
    Deny(SendDenial),
}

/// The reason why something may not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendDenial {
    /// The provider has not approved the template.
    TemplateNotApproved,
    /// The number is switched off.
    NumberInactive,
    /// The number has no access token, and the business would write first.
    NumberWithoutToken,
    /// The provider refuses the number's account, and the business would write first.
    NumberPaused,
    /// The contact has not agreed to be written to, or has taken it back.
    NoOptIn,
    /// The channel has no templates.
    NoTemplates,
    /// The contact has not written for too long, and the channel has no templates.
    WindowClosed,
}

impl SendRequest {
    /// Checks what can be known before the contact is: the template, then the number (the order of spec A 4.8).
    ///
    /// # Errors
    /// The reason why it may be sent to nobody.
    pub fn check(&self) -> Result<(), SendDenial> {
        if let Some(template) = self.template {
            check_template(self.channel, template)?;
        }
        match (self.number, self.by) {
            (HealthStatus::Inactive, _) => Err(SendDenial::NumberInactive),
            // An answer waits until the number is mended. What nobody waits for is not begun.
            (HealthStatus::Ok, _) | (_, SentBy::Conversation) => Ok(()),
            (HealthStatus::NoAccessToken, SentBy::Outreach { .. }) => Err(SendDenial::NumberWithoutToken),
            (HealthStatus::Paused, SentBy::Outreach { .. }) => Err(SendDenial::NumberPaused),
        }
    }
}

/// Checks what can be known of a template before the number is.
///
/// # Errors
/// The reason why it may be sent over the channel from no number.
pub fn check_template(channel: Channel, template: TemplateFacts) -> Result<(), SendDenial> {
    if !channel.capabilities().have_templates() {
        return Err(SendDenial::NoTemplates);
    }
    if template.status != TemplateStatus::Approved {
        return Err(SendDenial::TemplateNotApproved);
    }
    Ok(())
}

/// Decides whether something may be sent at `now`: what is sent is [checked](SendRequest::check) first, then the opt-in of
/// the contact, then the window.
pub fn decide(question: &SendQuestion, now: Timestamp) -> SendVerdict {
    use SendVerdict::{Allow, Deny, NeedsTemplate};
    let SendQuestion { request, opt_in, window_ends_at } = *question;
    if let Err(denial) = request.check() {
        return Deny(denial);
    }
    let SendRequest { channel, template, by, .. } = request;
    let has_agreed = match by {
        SentBy::Outreach { without_opt_in } => without_opt_in || opt_in == Some(OptInStatus::Accepted),
        // Whoever writes is answered. Offers are for those who want them.
        SentBy::Conversation => {
            let is_offer = template.is_some_and(|one| one.category == TemplateCategory::Marketing);
            !is_offer || opt_in != Some(OptInStatus::Revoked)
        }
    };
    if !has_agreed {
        return Deny(SendDenial::NoOptIn);
    }
    let capabilities = channel.capabilities();
    let is_open = capabilities.window.is_none() || window_ends_at.is_some_and(|end| end > now);
    match (template, is_open) {
        (Some(_), _) | (None, true) => Allow,
        (None, false) if capabilities.have_templates() => NeedsTemplate,
        (None, false) => Deny(SendDenial::WindowClosed),
    }
}

#[cfg(test)]
mod tests {
    use super::SendDenial::{
        NoOptIn, NoTemplates, NumberInactive, NumberPaused, NumberWithoutToken, TemplateNotApproved,
        WindowClosed,
    };
    use super::SendVerdict::{Allow, Deny, NeedsTemplate};
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_700_000_000);
    const DISPATCH: SentBy = SentBy::Outreach { without_opt_in: false };

    const fn template(status: TemplateStatus, category: TemplateCategory) -> Option<TemplateFacts> {
        Some(TemplateFacts { status, category })
    }

    /// An answer by phone within the window.
    const ANSWER: SendQuestion = SendQuestion {
        request: SendRequest {
            channel: Channel::Phone,
            template: None,
            by: SentBy::Conversation,
            number: HealthStatus::Ok,
        },
        opt_in: None,
        window_ends_at: Some(Timestamp::from_millis(1_795_700_000_001)),
    };

    const fn with(template: Option<TemplateFacts>, question: SendQuestion) -> SendQuestion {
        SendQuestion { request: SendRequest { template, ..question.request }, ..question }
    }

    const fn over(channel: Channel, question: SendQuestion) -> SendQuestion {
        SendQuestion { request: SendRequest { channel, ..question.request }, ..question }
    }

    const fn by(by: SentBy, question: SendQuestion) -> SendQuestion {
        SendQuestion { request: SendRequest { by, ..question.request }, ..question }
    }

    const fn from(number: HealthStatus, question: SendQuestion) -> SendQuestion {
        SendQuestion { request: SendRequest { number, ..question.request }, ..question }
    }

    #[test]
    fn who_may_be_sent_what() {
        let offer = template(TemplateStatus::Approved, TemplateCategory::Marketing);
        let notice = template(TemplateStatus::Approved, TemplateCategory::Utility);
        let paused = template(TemplateStatus::Paused, TemplateCategory::Utility);
        let accepted = Some(OptInStatus::Accepted);
        let revoked = Some(OptInStatus::Revoked);
        let late = SendQuestion { window_ends_at: Some(NOW), ..ANSWER };
        let dispatch = by(DISPATCH, with(offer, SendQuestion { opt_in: accepted, ..late }));
        let anyway = SentBy::Outreach { without_opt_in: true };
        let refused = SendQuestion { opt_in: revoked, ..late };
        for (question, expected) in [
            (ANSWER, Allow),
            (SendQuestion { opt_in: revoked, ..ANSWER }, Allow),
            (late, NeedsTemplate),
            (SendQuestion { window_ends_at: None, ..ANSWER }, NeedsTemplate),
            (with(notice, refused), Allow),
            (with(offer, refused), Deny(NoOptIn)),
            (with(offer, late), Allow),
            (from(HealthStatus::Inactive, ANSWER), Deny(NumberInactive)),
            (from(HealthStatus::Paused, ANSWER), Allow),
            (from(HealthStatus::NoAccessToken, ANSWER), Allow),
            (dispatch, Allow),
            (SendQuestion { opt_in: None, ..dispatch }, Deny(NoOptIn)),
            (SendQuestion { opt_in: revoked, ..dispatch }, Deny(NoOptIn)),
            (by(anyway, SendQuestion { opt_in: revoked, ..dispatch }), Allow),
            (with(None, dispatch), NeedsTemplate),
            (with(None, SendQuestion { window_ends_at: ANSWER.window_ends_at, ..dispatch }), Allow),
            (from(HealthStatus::Inactive, SendQuestion { opt_in: None, ..dispatch }), Deny(NumberInactive)),
            (from(HealthStatus::Paused, dispatch), Deny(NumberPaused)),
            (from(HealthStatus::NoAccessToken, dispatch), Deny(NumberWithoutToken)),
            (from(HealthStatus::Inactive, with(paused, dispatch)), Deny(TemplateNotApproved)),
            (over(Channel::Webchat, SendQuestion { window_ends_at: None, ..ANSWER }), Allow),
            (over(Channel::Webchat, dispatch), Deny(NoTemplates)),
            (over(Channel::Social, late), Deny(WindowClosed)),
            (over(Channel::Social, ANSWER), Allow),
        ] {
            assert_eq!(decide(&question, NOW), expected, "{question:?}");
        }
        assert_eq!(dispatch.request.check(), Ok(()), "of a contact it knows nothing");
        assert_eq!(from(HealthStatus::Inactive, dispatch).request.check(), Err(NumberInactive));
    }
}
