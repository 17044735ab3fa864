import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.js";

export type { components, paths };

/** The bodies of the API by their names in the document, such as `Schemas["Flow"]`. */
export type Schemas = components["schemas"];
/** The definition of a flow (docs/flows.md). */
export type FlowDefinition = Schemas["FlowDefinition"];
/** Calls operations by method and path: `api.GET("/flows/{id}", { params: { path: { id } } })`. */
export type FlowSdk = Client<paths>;

export interface Where {
  /** The address of the server, such as `https://chat.example.com`. */
  url: string;
  /** The language of messages in errors, `en` or `pt-BR`. */
  language?: string;
}

/** An answer that is no success. */
export class ApiError extends Error {
  readonly status: number;
  /** Stable, such as `not_found`. */
  readonly code: string;
  readonly details: readonly { field: string; message: string }[];
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined;

  constructor(status: number, body: Partial<Schemas["Error"]>) {
    super(`${status} ${body.code ?? "unknown"}: ${body.message ?? "no message"}`);
    this.name = "ApiError";
    this.status = status;
    this.code = body.code ?? "unknown";
    this.details = body.details ?? [];
    this.requestId = body.requestId;
  }
}

/** Returns the body of a success, and throws an {@link ApiError} otherwise. */
export function good<T>(answer: { data?: T; error?: unknown; response: Response }): NonNullable<T> {
  if (!answer.response.ok) throw new ApiError(answer.response.status, (answer.error ?? {}) as Partial<Schemas["Error"]>);
  return answer.data as NonNullable<T>;
}

/** A client with the token of an API client, or without one for public operations. */
export function connect(where: Where & { token?: string }): FlowSdk {
  const { token } = where;
  return clientOf(where, () => token);
}

/** Logs a person in. The access token is renewed before it expires, for as long as the refresh token is good. */
export async function login(where: Where & { email: string; password: string }): Promise<FlowSdk> {
  const { email, password } = where;
  const anonymous = connect({ ...where });
  let tokens: Schemas["Tokens"] = good(await anonymous.POST("/auth/login", { body: { email, password } }));
  let renewal: Promise<void> | null = null;
  const renew = async () => {
    const headers = { authorization: `Bearer ${tokens.refreshToken}` };
    tokens = good(await anonymous.GET("/auth/refresh", { headers }));
  };
  return clientOf(where, async () => {
    if (expiresSoon(tokens.accessToken)) {
      renewal ??= renew().finally(() => (renewal = null));
      await renewal;
    }
    return tokens.accessToken;
  });
}

const EARLIER_MS = 30_000;

function expiresSoon(token: string): boolean {
  const claims = JSON.parse(atob((token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/"))) as { exp?: number };
  return (claims.exp ?? Number.POSITIVE_INFINITY) * 1000 - Date.now() < EARLIER_MS;
}

function clientOf({ url, language }: Where, token: () => string | undefined | Promise<string | undefined>): FlowSdk {
  const client = createClient<paths>({ baseUrl: `${url.replace(/\/$/, "")}/api` });
  const sign: Middleware = {
    async onRequest({ request }) {
      const given = await token();
      if (given !== undefined && !request.headers.has("authorization")) {
        request.headers.set("authorization", `Bearer ${given}`);
      }
      if (language !== undefined) request.headers.set("accept-language", language);
      return request;
    },
  };
  client.use(sign);
  return client;
}
