//! From a line of the terminal to a command.

use flowsdk_helpdesk::agent::PresenceStatus;

/// What an agent asks the desk for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// The tickets that they have.
    List,
    /// The tickets that wait.
    Waiting,
    /// The ticket that waits longest, for themselves.
    Pickup,
    /// A ticket that is offered to them, for themselves.
    Accept { ticket: String },
    /// A ticket that is offered to them, for the next agent.
    Decline { ticket: String },
    /// The messages of a ticket's chat.
    Read { ticket: String },
    /// A text to the contact of a ticket.
    Reply { ticket: String, text: String },
    /// A ticket to somebody else.
    Transfer { ticket: String, to: Receiver },
    /// The end of a ticket.
    Close { ticket: String, reason: Option<String> },
    /// Whether they are there.
    Status(PresenceStatus),
    /// To whom a ticket can be transferred.
    Targets { ticket: String },
    /// The commands.
    Help,
    /// The end of the desk.
    Quit,
}

/// To whom a ticket is transferred, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Receiver {
    User(String),
    Queue(String),
}

/// The commands and what they do.
pub(super) const HELP: &str = "\
list                                your tickets
waiting                             the tickets that wait
pickup                              take the ticket that waits longest
accept TICKET                       take a ticket that is offered to you
decline TICKET                      leave it to the next agent
read TICKET                         the messages of a ticket
reply TICKET TEXT                   write to the contact
transfer TICKET user|queue ID       hand a ticket on
close TICKET [REASON]               end a ticket; its flow goes on
status online|away|busy|offline     say whether you are there
targets TICKET                      to whom a ticket can be transferred
help, quit
A ticket is named by its number, such as 1, or by its id.";

/// A line that is no command, and what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoCommand {
    #[error("unknown command: `help` lists the commands")]
    Unknown,
    #[error("expected `{0}`")]
    Usage(&'static str),
}

const ACCEPT: &str = "accept TICKET";
const DECLINE: &str = "decline TICKET";
const READ: &str = "read TICKET";
const TARGETS: &str = "targets TICKET";
const REPLY: &str = "reply TICKET TEXT";
const TRANSFER: &str = "transfer TICKET user|queue ID";
const CLOSE: &str = "close TICKET [REASON]";
const STATUS: &str = "status online|away|busy|offline";

/// Reads a line. An empty one is no command, and no error.
pub(super) fn read(line: &str) -> Result<Option<Command>, NoCommand> {
    let (name, rest) = word(line);
    let alone = |command, usage| if rest.is_empty() { Ok(command) } else { Err(NoCommand::Usage(usage)) };
    match name {
        "" => return Ok(None),
        "list" => alone(Command::List, "list"),
        "waiting" => alone(Command::Waiting, "waiting"),
        "pickup" => alone(Command::Pickup, "pickup"),
        "help" => alone(Command::Help, "help"),
        "quit" => alone(Command::Quit, "quit"),
        "accept" => one(rest).map(|ticket| Command::Accept { ticket }).ok_or(NoCommand::Usage(ACCEPT)),
        "decline" => one(rest).map(|ticket| Command::Decline { ticket }).ok_or(NoCommand::Usage(DECLINE)),
        "read" => one(rest).map(|ticket| Command::Read { ticket }).ok_or(NoCommand::Usage(READ)),
        "targets" => one(rest).map(|ticket| Command::Targets { ticket }).ok_or(NoCommand::Usage(TARGETS)),
        "reply" => match word(rest) {
            (_, "") => Err(NoCommand::Usage(REPLY)),
            (ticket, text) => Ok(Command::Reply { ticket: ticket.to_owned(), text: text.to_owned() }),
        },
        "transfer" => transfer(rest).ok_or(NoCommand::Usage(TRANSFER)),
        "close" => match word(rest) {
            ("", _) => Err(NoCommand::Usage(CLOSE)),
            (ticket, reason) => {
                let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
                Ok(Command::Close { ticket: ticket.to_owned(), reason })
            }
        },
        "status" => {
            let status = PresenceStatus::ALL.iter().find(|status| status.name() == rest);
            status.map(|status| Command::Status(*status)).ok_or(NoCommand::Usage(STATUS))
        }
        _ => Err(NoCommand::Unknown),
    }
    .map(Some)
}

/// Returns the one word that there is.
fn one(rest: &str) -> Option<String> {
    match word(rest) {
        (one, "") if !one.is_empty() => Some(one.to_owned()),
        _ => None,
    }
}

fn transfer(rest: &str) -> Option<Command> {
    let (ticket, rest) = word(rest);
    let (kind, id) = word(rest);
    if id.is_empty() || id.contains(char::is_whitespace) {
        return None;
    }
    let to = match kind {
        "user" => Receiver::User(id.to_owned()),
        "queue" => Receiver::Queue(id.to_owned()),
        _ => return None,
    };
    Some(Command::Transfer { ticket: ticket.to_owned(), to })
}

/// Returns the first word, and the rest without blanks around it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// Returns the first word of a line, by which its answer is named.
pub(super) fn name(line: &str) -> &str {
    word(line).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_commands() {
        let ticket = || "1".to_owned();
        let reply = |text: &str| Command::Reply { ticket: ticket(), text: text.to_owned() };
        let close =
            |reason: Option<&str>| Command::Close { ticket: ticket(), reason: reason.map(Into::into) };
        let transfer = |to| Command::Transfer { ticket: ticket(), to };
        for (line, expected) in [
            ("list", Command::List),
            ("  waiting ", Command::Waiting),
            ("pickup", Command::Pickup),
            ("accept 1", Command::Accept { ticket: ticket() }),
            (" decline  1 ", Command::Decline { ticket: ticket() }),
            ("targets 1", Command::Targets { ticket: ticket() }),
            ("help", Command::Help),
            ("quit", Command::Quit),
            ("read 1", Command::Read { ticket: ticket() }),
            ("reply 1 How can I help?", reply("How can I help?")),
            ("reply\t1   two  blanks stay ", reply("two  blanks stay")),
            ("transfer 1 user cana", transfer(Receiver::User("cana".to_owned()))),
            ("transfer 1 queue csales", transfer(Receiver::Queue("csales".to_owned()))),
            ("close 1", close(None)),
            ("close 1 all is well", close(Some("all is well"))),
            ("status online", Command::Status(PresenceStatus::Online)),
            ("status offline", Command::Status(PresenceStatus::Offline)),
        ] {
            assert_eq!(read(line), Ok(Some(expected)), "{line}");
        }
        assert_eq!([read(""), read("  ")], [Ok(None), Ok(None)]);
    }

    #[test]
    fn lines_that_are_none() {
        for (line, expected) in [
            ("dance", NoCommand::Unknown),
            ("List", NoCommand::Unknown),
            ("list all", NoCommand::Usage("list")),
            ("quit now", NoCommand::Usage("quit")),
            ("read", NoCommand::Usage(READ)),
            ("read 1 2", NoCommand::Usage(READ)),
            ("accept", NoCommand::Usage(ACCEPT)),
            ("decline 1 2", NoCommand::Usage(DECLINE)),
            ("targets", NoCommand::Usage(TARGETS)),
            ("targets 1 2", NoCommand::Usage(TARGETS)),
            ("reply", NoCommand::Usage(REPLY)),
            ("reply 1", NoCommand::Usage(REPLY)),
            ("transfer 1", NoCommand::Usage(TRANSFER)),
            ("transfer 1 user", NoCommand::Usage(TRANSFER)),
            ("transfer 1 team x", NoCommand::Usage(TRANSFER)),
            ("transfer 1 user a b", NoCommand::Usage(TRANSFER)),
            ("close", NoCommand::Usage(CLOSE)),
            ("status", NoCommand::Usage(STATUS)),
            ("status asleep", NoCommand::Usage(STATUS)),
        ] {
            assert_eq!(read(line), Err(expected), "{line}");
        }
    }

    #[test]
    fn every_command_is_in_the_help() {
        for name in
            "list waiting pickup accept decline read reply transfer close status targets help quit".split(' ')
        {
            assert!(HELP.contains(name), "{name}");
        }
    }
}
