//! The tools that come with the executor.

use flowsdk_core::cell::Named;
use flowsdk_core::message::{Capabilities, ContentKind};
use serde::{Deserialize, Serialize};

/// A tool of the executor, by its name on the wire (spec B 4.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "their descriptions for models say it")]
pub enum NativeTool {
    SendTextMessage,
    SendButtonMessage,
    SendListMessage,
    SendImageMessage,
    SendAudioMessage,
    SendVideoMessage,
    SendDocumentMessage,
    SendCarouselMessage,
    TransferToAgent,
    EndAgentSession,
    TransferToHuman,
    ExtendInactivityTimeout,
    SetVariable,
    DeleteVariable,
    SetContactVariable,
    RagSearch,
    UpdateSentiment,
}

/// Why a tool is among those of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// It writes to the contact. Every agent has it where the channel carries what it sends.
    Response,
    /// It acts. An agent can be left without it.
    Action,
    /// It looks into the knowledge of an agent that has some.
    Knowledge,
    /// It notes the sentiment of the contact, where that is wanted in each turn.
    Sentiment,
}

use NativeTool as T;

impl NativeTool {
    /// Returns its kind.
    pub const fn kind(self) -> ToolKind {
        match self {
            T::SendTextMessage
            | T::SendButtonMessage
            | T::SendListMessage
            | T::SendImageMessage
            | T::SendAudioMessage
            | T::SendVideoMessage
            | T::SendDocumentMessage
            | T::SendCarouselMessage => ToolKind::Response,
            T::TransferToAgent
            | T::EndAgentSession
            | T::TransferToHuman
            | T::ExtendInactivityTimeout
            | T::SetVariable
            | T::DeleteVariable
            | T::SetContactVariable => ToolKind::Action,
            T::RagSearch => ToolKind::Knowledge,
            T::UpdateSentiment => ToolKind::Sentiment,
        }
    }

    /// Returns whether a channel carries what it sends. Channels with quick replies take buttons as those.
    pub fn fits(self, channel: &Capabilities) -> bool {
        let kind = match self {
            T::SendTextMessage => ContentKind::Text,
            T::SendButtonMessage => ContentKind::Buttons,
            T::SendListMessage => ContentKind::List,
            T::SendImageMessage => ContentKind::Image,
            T::SendAudioMessage => ContentKind::Audio,
            T::SendVideoMessage => ContentKind::Video,
            T::SendDocumentMessage => ContentKind::Document,
            T::SendCarouselMessage => ContentKind::Carousel,
            _ => return true,
        };
        channel.carry(kind)
    }

    /// Returns what models are told of it, unless the agent has words of its own.
    pub const fn description(self) -> &'static str {
        match self {
            T::SendTextMessage => {
                "Sends a text to the customer. Everything that the customer is to read goes through a send tool."
            }
            T::SendButtonMessage => "Sends a text with buttons, of which the customer taps one.",
            T::SendListMessage => "Sends a text with a list, of which the customer chooses one row.",
            T::SendImageMessage => "Sends an image at a public address to the customer.",
            T::SendAudioMessage => "Sends a sound at a public address to the customer.",
            T::SendVideoMessage => "Sends a video at a public address to the customer.",
            T::SendDocumentMessage => "Sends a file at a public address to the customer.",
            T::SendCarouselMessage => "Sends cards side by side to the customer.",
            T::TransferToAgent => {
                "Hands the conversation to another agent. Not after a message was sent. Use returnToOrchestrator: true, \
                 so that the conversation comes back to you."
            }
            T::EndAgentSession => {
                "Ends your part. Only when the customer has confirmed that all is resolved, asks to end, or is silent \
                 after several attempts. Give completionContext when the conversation returns to another agent."
            }
            T::TransferToHuman => {
                "Hands the conversation to a human, when the customer asks for one or you cannot help."
            }
            T::ExtendInactivityTimeout => {
                "Gives the customer so many minutes to answer, when they ask for time."
            }
            T::SetVariable => "Remembers a value for the rest of this conversation.",
            T::DeleteVariable => "Forgets a value of this conversation.",
            T::SetContactVariable => "Remembers a value of the customer for good.",
            T::RagSearch => {
                "Searches the knowledge base. Search before you answer a question about the business."
            }
            T::UpdateSentiment => {
                "Notes how the customer feels. Call it once in each turn, beside other tools."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::session::Channel;

    use super::*;

    #[test]
    fn a_channel_has_the_tools_of_what_it_carries() {
        let sends = |channel: Channel| -> Vec<&str> {
            let all = NativeTool::ALL.iter().filter(|tool| tool.kind() == ToolKind::Response);
            all.filter(|tool| tool.fits(channel.capabilities())).map(|tool| tool.name()).collect()
        };
        let files = ["sendImageMessage", "sendAudioMessage", "sendVideoMessage", "sendDocumentMessage"];
        let texts = ["sendTextMessage", "sendButtonMessage"];
        let with_list = [&texts[..], &["sendListMessage"], &files].concat();
        assert_eq!(sends(Channel::Phone), with_list);
        assert_eq!(sends(Channel::Webchat), with_list);
        assert_eq!(sends(Channel::Social), [&texts[..], &files, &["sendCarouselMessage"]].concat());
    }
}
