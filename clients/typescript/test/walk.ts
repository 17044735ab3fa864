// Drives a server with nothing but the types of its OpenAPI document: SERVER_URL, ADMIN_EMAIL, ADMIN_PASSWORD.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "../src/api.js";

const text = (name: string): string => process.env[name] ?? assert.fail(`${name} is not set`);
const baseUrl = `${text("SERVER_URL")}/api`;
const anonymous = createClient<paths>({ baseUrl });

/** The answer's body, or the end of the walk. */
function good<T>(answer: { data?: T; error?: unknown; response: Response }): NonNullable<T> {
  const { method, url, status } = { method: "", ...answer.response };
  assert.ok(answer.response.ok, `${method} ${url} ${status} ${JSON.stringify(answer.error)}`);
  return answer.data as NonNullable<T>;
}

const admin = { email: text("ADMIN_EMAIL"), password: text("ADMIN_PASSWORD") };
const session = good(await anonymous.POST("/auth/login", { body: admin }));
assert.deepEqual(session.permittedRoutes, []);
assert.equal(session.user.userRole, "admin");

const refreshed = good(
  await anonymous.GET("/auth/refresh", { headers: { authorization: `Bearer ${session.refreshToken}` } }),
);
const as = (token: string) => createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });
const api = as(refreshed.accessToken);
assert.equal(good(await api.GET("/auth/me")).user?.email, admin.email);

const group = good(
  await api.POST("/groups", {
    body: { name: "Suporte", permissions: [{ resource: "routers", actions: ["read"] }], routerIds: [] },
  }),
);
const person = { name: "Bia", email: "bia@example.com", phone: "5511999990000", password: "senha-da-bia" };
const user = good(await api.POST("/users", { body: { ...person, groupId: group.id } }));
assert.equal(user.group?.name, "Suporte");
assert.equal(user.userRole, "member");

const taken = await api.POST("/users", { body: person });
assert.equal(taken.response.status, 409);
assert.equal(taken.error?.code, "email_taken");

const at = { params: { path: { id: user.id } } };
assert.equal(good(await api.PATCH("/users/{id}", { ...at, body: { name: "Beatriz" } })).name, "Beatriz");
assert.equal(good(await api.PUT("/users/{id}", { ...at, body: { ...person, userRole: "member", groupId: null } })).group, null);
good(await api.PATCH("/users/{id}", { ...at, body: { groupId: group.id } }));
assert.equal(good(await api.GET("/users/{id}", at)).email, person.email);

// Pages of one, until there is none.
const seen: string[] = [];
for (let cursor: string | undefined; ; ) {
  const query = cursor === undefined ? { limit: 1 } : { limit: 1, cursor };
  const page = good(await api.GET("/users", { params: { query } }));
  seen.push(...page.items.map((item) => item.email));
  if (!page.nextCursor) break;
  cursor = page.nextCursor;
}
assert.deepEqual(seen, [person.email, admin.email]);

// The new user sees routers and nothing else.
const member = good(await anonymous.POST("/auth/login", { body: { email: person.email, password: person.password } }));
const bia = as(member.accessToken);
for (const router of good(await bia.GET("/routers")).items) {
  assert.equal(good(await bia.GET("/routers/{id}", { params: { path: { id: router.id } } })).id, router.id);
}
assert.equal((await bia.GET("/users")).error?.code, "permission_denied");
const device = good(await bia.POST("/user-devices", { body: { token: "push-token", platform: "android" } }));
const own = { params: { path: { id: device.id } } };
assert.equal(good(await bia.PATCH("/user-devices/{id}", { ...own, body: { platform: "ios" } })).platform, "ios");
assert.equal(good(await bia.GET("/user-devices")).items.length, 1);
assert.equal((await api.GET("/user-devices/{id}", own)).response.status, 404);
good(await bia.DELETE("/user-devices/{id}", own));

// An API client, its token, another token.
const made = good(
  await api.POST("/api-clients", {
    body: { name: "CRM", permissions: [{ resource: "audit_logs", actions: ["read"] }], routerIds: [] },
  }),
);
const client = { params: { path: { id: made.id } } };
good(await as(made.token).GET("/audit-logs", { params: { query: { limit: 1 } } }));
const rotated = good(await api.POST("/api-clients/{id}/rotate", client));
assert.equal((await as(made.token).GET("/audit-logs")).error?.code, "token_invalid");
good(await as(rotated.token).GET("/audit-logs"));
assert.equal(good(await api.PATCH("/api-clients/{id}", { ...client, body: { active: false } })).active, false);
assert.equal((await as(rotated.token).GET("/audit-logs")).response.status, 401);
good(await api.GET("/api-clients/{id}", client));
good(await api.GET("/api-clients"));
good(await api.DELETE("/api-clients/{id}", client));

good(await api.PATCH("/groups/{id}", { params: { path: { id: group.id } }, body: { permissions: [] } }));
assert.equal((await bia.GET("/routers")).error?.code, "permission_denied");
good(await api.GET("/groups/{id}", { params: { path: { id: group.id } } }));
good(await api.GET("/groups"));
good(await api.DELETE("/groups/{id}", { params: { path: { id: group.id } } }));
good(await api.DELETE("/users/{id}", at));
assert.equal((await bia.GET("/auth/me")).response.status, 401);

// What was done is on record; records are written beside the request, so they may take a moment.
for (let patience = 100; ; patience -= 1) {
  const query = { entityType: "USER", action: "DELETE" } as const;
  const log = good(await api.GET("/audit-logs", { params: { query } }));
  if (log.items[0]?.entityId === user.id) {
    assert.equal(log.items[0].actor?.email, admin.email);
    break;
  }
  assert.ok(patience > 0, "no record of the deletion");
  await new Promise((resolve) => setTimeout(resolve, 50));
}

const recovery = await anonymous.POST("/auth/password-recovery", { body: { email: "nobody@example.com" } });
assert.deepEqual([recovery.response.status, recovery.data], [202, { ok: true }]);
const wrong = await anonymous.POST("/auth/password-recovery/validate", {
  body: { email: "nobody@example.com", code: "000000", password: "uma-senha-nova" },
});
assert.equal(wrong.response.status, 400);

assert.equal((await api.POST("/auth/logout")).response.status, 204);
assert.equal((await api.GET("/auth/me")).error?.code, "session_ended");
console.log("walked");
