"""Builds a flow, publishes it, talks to it and reads the session: SERVER_URL, ADMIN_EMAIL, ADMIN_PASSWORD."""

import os
from typing import TypeVar

from flowsdk_client import AuthenticatedClient, Client
from flowsdk_client.api.auth import login
from flowsdk_client.api.flows import create_flow, publish_flow
from flowsdk_client.api.routers import create_router
from flowsdk_client.api.sessions import get_session
from flowsdk_client.api.webchat import get_test_channel, post_test_message, publish_test
from flowsdk_client.models import (
    CreateFlow,
    CreateRouter,
    Error,
    ErrorCode,
    FlowDraft,
    Credentials,
    NewTestMessage,
)

DEFINITION = {
    "schemaVersion": 1,
    "startBlockId": "ask",
    "blocks": [
        {
            "id": "ask",
            "type": "content",
            "contents": [{"type": "text", "text": {"body": "How old are you?"}}],
            "input": {"variable": "age", "validation": {"kind": "number", "retryText": "A number, please."}},
            "defaultOutput": {"blockId": "tell"},
        },
        {
            "id": "tell",
            "type": "content",
            "contents": [{"type": "text", "text": {"body": "{{age}}, then."}}],
            "input": {"variable": "again"},
            "defaultOutput": {"blockId": "tell"},
        },
    ],
}

T = TypeVar("T")


def good(answer: T | Error | None) -> T:
    """Returns the body of a success."""
    assert answer is not None and not isinstance(answer, Error), answer
    return answer


URL = os.environ["SERVER_URL"] + "/api"
anonymous = Client(base_url=URL)
credentials = Credentials(email=os.environ["ADMIN_EMAIL"], password=os.environ["ADMIN_PASSWORD"])
token = good(login.sync(client=anonymous, body=credentials)).access_token
api = AuthenticatedClient(base_url=URL, token=token).with_headers({"Accept-Language": "en"})

router = good(create_router.sync(client=api, body=CreateRouter(name="From Python")))
new = CreateFlow(router_id=router.id, name="Age", definition=FlowDraft.from_dict(DEFINITION))
flow = good(create_flow.sync(client=api, body=new))
assert good(publish_flow.sync(flow.id, client=api)).number == 1
good(publish_test.sync(flow.id, client=api))
channel = good(get_test_channel.sync(router.id, client=api))

hi = NewTestMessage(text="hi")
first = good(post_test_message.sync(client=anonymous, body=hi, x_channel_id=channel.id))
assert len(first.messages) == 1 and isinstance(first.session_key, str)
answer = good(
    post_test_message.sync(
        client=anonymous,
        body=NewTestMessage(text="41"),
        x_channel_id=channel.id,
        x_user_id=first.user_id,
        x_session_key=first.session_key,
    )
)
assert [message["text"] for message in answer.messages] == [{"body": "41, then."}]

session = good(get_session.sync(first.session_id, client=api))
assert session.variables["age"] == "41"

refused = create_flow.sync(client=api, body=CreateFlow(router_id=router.id, name=""))
assert isinstance(refused, Error) and refused.code == ErrorCode.VALIDATION_FAILED
print("built")
