// Requests with a token. An expired token is renewed by the user, and the request is sent again: nothing typed is lost.

/** One mistake in a template, as Kiln reports it. */
export interface Finding {
  code: string;
  severity: string;
  message: string;
  help?: string | null;
  place?: { file: string; line: number; column: number } | null;
}

/** A request that failed, with what the service said. Status 0 means that there was no response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly type = '',
    readonly findings: Finding[] = [],
  ) {
    super(message);
  }
}

/** What requests need of the session. */
export interface TokenSource {
  token(): string | null;
  /** Asks the user to log in again; false if they gave up. */
  renew(): Promise<boolean>;
}

let source: TokenSource = { token: () => null, renew: async () => false };

/** Says where tokens come from. */
export function useTokens(tokens: TokenSource): void {
  source = tokens;
}

/** A request. */
export interface Options {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sends no token, and takes 401 as an answer. */
  anonymous?: boolean;
}

/** Sends a request; the result is a response of success. */
export async function send(url: string, options: Options = {}): Promise<Response> {
  for (;;) {
    const response = await attempt(url, options);
    if (response.ok) return response;
    if (response.status === 401 && !options.anonymous && (await source.renew())) continue;
    throw await failure(response);
  }
}

async function attempt(url: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
  const token = options.anonymous ? null : source.token();
  if (token) headers['X-Auth-Token'] = token;
  const init: RequestInit = { method: options.method ?? 'GET', headers, cache: 'no-store' };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(options.body);
  }
  try {
    return await fetch(url, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, error instanceof Error ? error.message : String(error));
  }
}

/** Sends a request and reads JSON. */
export async function json<T>(url: string, options: Options = {}): Promise<T> {
  const response = await send(url, options);
  return (await response.json()) as T;
}

/** The error in a response: of the orchestration service, of Keystone, or of a proxy. */
async function failure(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const body = JSON.parse(text) as {
      error?: { message?: string; type?: string; title?: string; findings?: Finding[] };
      explanation?: string;
    };
    const message = body.error?.message || body.explanation || response.statusText;
    return new ApiError(response.status, message, body.error?.type, body.error?.findings);
  } catch {
    return new ApiError(response.status, response.statusText || `HTTP ${response.status}`);
  }
}
