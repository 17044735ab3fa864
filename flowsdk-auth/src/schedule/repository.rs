//! Storage of schedules.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;

use super::AgentSchedule;

/// Schedules of one transaction.
#[async_trait]
pub trait LoginScheduleRepository: Send {
    /// Returns the schedules of a user in every router of which they are an agent; none when they are not an agent.
    async fn of_user(&mut self, user: &UserId) -> Result<Vec<AgentSchedule>, StorageError>;
}

/// A transaction with login schedules of agents.
pub trait HasLoginSchedules: Send {
    /// Returns the repository of this transaction.
    fn login_schedules(&mut self) -> &mut dyn LoginScheduleRepository;
}
