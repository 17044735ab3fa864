// Builds a flow, publishes it, talks to it and reads the session: SERVER_URL, ADMIN_EMAIL, ADMIN_PASSWORD.
import assert from "node:assert/strict";
import { ApiError, good, login, type FlowDefinition } from "../src/index.js";

const text = (name: string): string => process.env[name] ?? assert.fail(`${name} is not set`);
const url = text("SERVER_URL");
const api = await login({ url, email: text("ADMIN_EMAIL"), password: text("ADMIN_PASSWORD"), language: "en" });

const definition: FlowDefinition = {
  schemaVersion: 1,
  startBlockId: "ask",
  blocks: [
    {
      id: "ask",
      type: "content",
      contents: [{ type: "text", text: { body: "How old are you?" } }],
      input: { variable: "age", validation: { kind: "number", retryText: "A number, please." } },
      defaultOutput: { blockId: "tell" },
    },
    {
      id: "tell",
      type: "content",
      contents: [{ type: "text", text: { body: "{{age}}, then." } }],
      input: { variable: "again" },
      defaultOutput: { blockId: "tell" },
    },
  ],
};

const router = good(await api.POST("/routers", { body: { name: "From TypeScript" } }));
const flow = good(await api.POST("/flows", { body: { routerId: router.id, name: "Age", definition } }));
const path = { id: flow.id };
assert.equal(good(await api.POST("/flows/{id}/publish", { params: { path } })).number, 1);
const version = good(await api.GET("/flows/{id}/versions/{number}", { params: { path: { ...path, number: 1 } } }));
assert.deepEqual(version.definition.blocks.map((block) => block.id), ["ask", "tell"]);
good(await api.POST("/flows/{id}/publish-test", { params: { path } }));
const channel = good(await api.GET("/routers/{id}/webchat/test", { params: { path: { id: router.id } } }));

const header = { "x-channel-id": channel.id };
const first = good(await api.POST("/webchat/test/messages", { params: { header }, body: { text: "hi" } }));
assert.equal(first.messages.length, 1);
const visitor = { ...header, "x-user-id": first.userId, "x-session-key": first.sessionKey ?? assert.fail() };
const answer = good(await api.POST("/webchat/test/messages", { params: { header: visitor }, body: { text: "41" } }));
const said = answer.messages.map((message) => (message.type === "text" ? message.text.body : message.type));
assert.deepEqual(said, ["41, then."]);

const session = good(await api.GET("/sessions/{sessionId}", { params: { path: { sessionId: first.sessionId } } }));
assert.equal(session.currentBlock?.id, "tell");
assert.equal(session.variables["age"], "41");

const refused = await api.POST("/flows", { body: { routerId: router.id, name: "" } });
assert.throws(() => good(refused), (error) => error instanceof ApiError && error.code === "validation_failed" && error.status === 400);
console.log("built");
