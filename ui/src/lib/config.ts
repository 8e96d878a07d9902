// Where the services are: `config.json` beside the page, which the server or the operator writes.

/** The content of `config.json`. */
export interface Config {
  /** The URL of the identity service, version 3. */
  identity: string;
  /** The URL of the orchestration API with `{project_id}`; the catalogue's if it is missing. */
  orchestration?: string;
  /** The URL of other services with `{type}`; the catalogue's if it is missing. */
  services?: string;
  /** Users to log in with one click, for trying things out. */
  users?: { name: string; password: string; project: string }[];
  /** Identity providers for single sign-on: the protocol's id, and its name for people. */
  websso?: { id: string; label: string }[];
  /** The URL of the identity service for single sign-on, which the browser visits itself. */
  websso_url?: string;
}

/** The configuration in force. */
export let config: Config = { identity: 'identity/v3' };

/** Reads `config.json`. Without one, the identity service is expected below the page. */
export async function loadConfig(): Promise<void> {
  const response = await fetch('config.json', { cache: 'no-store' }).catch(() => null);
  if (response?.ok) config = { ...config, ...((await response.json()) as Partial<Config>) };
}
