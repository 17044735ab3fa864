//! Whether something may be sent to a contact now (spec A 4.8, 8; WhatsApp Business Platform, "Customer service windows").

use flowsdk_core::contact::OptInStatus;
use flowsdk_core::session::Channel;
use flowsdk_core::time::Timestamp;

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

/// What is to be sent, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendQuestion {
    /// The channel of the contact.
    pub channel: Channel,
    /// Who sends.
    pub by: SentBy,
    /// The template; `None` for free content.
    pub template: Option<TemplateFacts>,
    /// Whether anything may be sent from the number.
    pub is_number_active: bool,
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
    /// The contact has not agreed to be written to, or has taken it back.
    NoOptIn,
    /// The channel has no templates.
    NoTemplates,
    /// The contact has not written for too long, and the channel has no templates.
    WindowClosed,
}

/// Decides whether something may be sent at `now`. The reasons are looked at in the order of spec A 4.8: template, number,
/// opt-in; then the window.
pub fn decide(question: &SendQuestion, now: Timestamp) -> SendVerdict {
    use SendVerdict::{Allow, Deny, NeedsTemplate};
    let SendQuestion { channel, by, template, is_number_active, opt_in, window_ends_at } = *question;
    let has_templates = channel.capabilities().have_templates();
    if template.is_some() && !has_templates {
        return Deny(SendDenial::NoTemplates);
    }
    if template.is_some_and(|template| template.status != TemplateStatus::Approved) {
        return Deny(SendDenial::TemplateNotApproved);
    }
    if !is_number_active {
        return Deny(SendDenial::NumberInactive);
    }
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
    let is_open = channel.capabilities().window.is_none() || window_ends_at.is_some_and(|end| end > now);
    match (template, is_open) {
        (Some(_), _) | (None, true) => Allow,
        (None, false) if has_templates => NeedsTemplate,
        (None, false) => Deny(SendDenial::WindowClosed),
    }
}

#[cfg(test)]
mod tests {
    use super::SendDenial::{NoOptIn, NoTemplates, NumberInactive, TemplateNotApproved, WindowClosed};
    use super::SendVerdict::{Allow, Deny, NeedsTemplate};
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_700_000_000);
    const DISPATCH: SentBy = SentBy::Outreach { without_opt_in: false };

    const fn template(status: TemplateStatus, category: TemplateCategory) -> Option<TemplateFacts> {
        Some(TemplateFacts { status, category })
    }

    /// An answer by phone within the window.
    const ANSWER: SendQuestion = SendQuestion {
        channel: Channel::Phone,
        by: SentBy::Conversation,
        template: None,
        is_number_active: true,
        opt_in: None,
        window_ends_at: Some(Timestamp::from_millis(1_795_700_000_001)),
    };

    #[test]
    fn who_may_be_sent_what() {
        let offer = template(TemplateStatus::Approved, TemplateCategory::Marketing);
        let notice = template(TemplateStatus::Approved, TemplateCategory::Utility);
        let accepted = Some(OptInStatus::Accepted);
        let revoked = Some(OptInStatus::Revoked);
        let late = SendQuestion { window_ends_at: Some(NOW), ..ANSWER };
        let dispatch = SendQuestion { by: DISPATCH, template: offer, opt_in: accepted, ..late };
        let anyway = SentBy::Outreach { without_opt_in: true };
        for (question, expected) in [
            (ANSWER, Allow),
            (SendQuestion { opt_in: revoked, ..ANSWER }, Allow),
            (late, NeedsTemplate),
            (SendQuestion { window_ends_at: None, ..ANSWER }, NeedsTemplate),
            (SendQuestion { template: notice, opt_in: revoked, ..late }, Allow),
            (SendQuestion { template: offer, opt_in: revoked, ..late }, Deny(NoOptIn)),
            (SendQuestion { template: offer, ..late }, Allow),
            (SendQuestion { is_number_active: false, ..ANSWER }, Deny(NumberInactive)),
            (dispatch, Allow),
            (SendQuestion { opt_in: None, ..dispatch }, Deny(NoOptIn)),
            (SendQuestion { opt_in: revoked, ..dispatch }, Deny(NoOptIn)),
            (SendQuestion { opt_in: revoked, by: anyway, ..dispatch }, Allow),
            (SendQuestion { template: None, ..dispatch }, NeedsTemplate),
            (SendQuestion { template: None, window_ends_at: ANSWER.window_ends_at, ..dispatch }, Allow),
            (SendQuestion { is_number_active: false, opt_in: None, ..dispatch }, Deny(NumberInactive)),
            (
                SendQuestion {
                    template: template(TemplateStatus::Paused, TemplateCategory::Utility),
                    is_number_active: false,
                    ..dispatch
                },
                Deny(TemplateNotApproved),
            ),
            (SendQuestion { channel: Channel::Webchat, window_ends_at: None, ..ANSWER }, Allow),
            (SendQuestion { channel: Channel::Webchat, ..dispatch }, Deny(NoTemplates)),
            (SendQuestion { channel: Channel::Social, ..late }, Deny(WindowClosed)),
            (SendQuestion { channel: Channel::Social, ..ANSWER }, Allow),
        ] {
            assert_eq!(decide(&question, NOW), expected, "{question:?}");
        }
    }
}
