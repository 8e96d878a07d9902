// The work of a client before a request: names of files in templates and environments become URLs, and the files they name
// are gathered, those of nested templates as well. The result is what python-heatclient sends for the same files.

import type { StackBody } from '../api/heat';
import { parse } from '../yaml';
import type { FileSet } from './drop';
import { pythonJson } from './python';
import { directory, join, pathOf, urlOf } from './url';

const VERSION_KEYS = ['heat_template_version', 'HeatTemplateFormatVersion', 'AWSTemplateFormatVersion'];
const SECTIONS = ['parameters', 'parameter_defaults', 'resource_registry', 'parameter_merge_strategies', 'encrypted_param_names', 'event_sinks'];

type Map_ = Record<string, unknown>;
const isMap = (value: unknown): value is Map_ => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A name that leads to no file. */
export interface Missing {
  url: string;
  /** The file that contains the name. */
  by: string;
}

/** What is sent, and what is missing for it. */
export interface Resolved {
  body: Required<Pick<StackBody, 'template' | 'files' | 'environment'>> & Pick<StackBody, 'environment_files'>;
  missing: Missing[];
}

const utf8 = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};

/** A file as text; the base64 form of binary content. */
function asText(bytes: Uint8Array): string {
  return utf8(bytes) ?? btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** What a file looks like. */
export function kindOf(bytes: Uint8Array): 'template' | 'environment' | 'other' {
  const text = utf8(bytes);
  if (text === null) return 'other';
  try {
    const content = parse(text.trimEnd());
    if (!isMap(content)) return 'other';
    if (VERSION_KEYS.some((key) => key in content)) return 'template';
    const keys = Object.keys(content);
    return keys.length > 0 && keys.every((key) => SECTIONS.includes(key)) ? 'environment' : 'other';
  } catch {
    return VERSION_KEYS.some((key) => text.includes(key)) ? 'template' : 'other';
  }
}

class Gatherer {
  readonly files: Record<string, string> = {};
  readonly missing: Missing[] = [];
  #pending: { url: string; by: string; isType: boolean }[] = [];
  #seen = new Set<string>();

  constructor(readonly source: FileSet) {}

  template(path: string): unknown {
    const url = urlOf(path);
    const content = parse(this.#text(path).trimEnd());
    const template = this.#template(content, directory(url), path);
    this.#readPending();
    return template;
  }

  environment(path: string): Map_ {
    const url = urlOf(path);
    const content = parse(this.#text(path)) ?? {};
    if (!isMap(content)) throw new Error(`${path}: an environment is a map`);
    const wrong = Object.keys(content).find((key) => !SECTIONS.includes(key));
    if (wrong) throw new Error(`environment has wrong section "${wrong}"`);
    const environment = this.#registry(content, directory(url), path);
    this.#seen.add(url);
    this.files[url] = pythonJson(environment);
    this.#readPending();
    return environment;
  }

  #text(path: string): string {
    const bytes = this.source.get(path);
    const text = bytes && utf8(bytes);
    if (text === undefined || text === null) throw new Error(`${path} is not text`);
    return text;
  }

  #readPending(): void {
    for (let next = this.#pending.shift(); next; next = this.#pending.shift()) {
      const { url, by, isType } = next;
      const path = pathOf(url);
      const bytes = path === null ? undefined : this.source.get(path);
      if (bytes) this.files[url] = this.#asSent(path ?? '', url, bytes);
      // Nested templates at web addresses are fetched by the service.
      else if (!(isType && /^https?:/.test(url))) this.missing.push({ url, by });
    }
  }

  /** A file as it is sent: a template as JSON with its names rewritten, everything else as it is. */
  #asSent(path: string, url: string, bytes: Uint8Array): string {
    const text = asText(bytes);
    if (!VERSION_KEYS.some((key) => text.includes(key))) return text;
    let content: unknown;
    try {
      content = parse(text.trimEnd());
    } catch {
      return text;
    }
    if (!isMap(content) || !VERSION_KEYS.some((key) => key in (content as Map_))) return text;
    return pythonJson(this.#template(content, directory(url), path));
  }

  #name(name: string, base: string, by: string, isType: boolean): string {
    const url = join(base, name);
    if (!this.#seen.has(url)) {
      this.#seen.add(url);
      this.#pending.push({ url, by, isType });
    }
    return url;
  }

  #template(value: unknown, base: string, by: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#template(item, base, by));
    if (!isMap(value)) return value;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
      const isType = key === 'type' && typeof inner === 'string' && /\.(yaml|template)$/.test(inner);
      if (typeof inner === 'string' && (key === 'get_file' || isType)) return [key, this.#name(inner, base, by, isType)];
      return [key, this.#template(inner, base, by)];
    });
    return Object.fromEntries(entries);
  }

  #registry(environment: Map_, base: string, by: string): Map_ {
    const registry = environment.resource_registry;
    if (!isMap(registry)) return environment;
    const own = baseOf(registry, base);
    const rewritten = this.#types(registry, own, by);
    if (isMap(registry.resources)) {
      const each = Object.entries(registry.resources).map(([name, inner]) => [name, isMap(inner) ? this.#types(inner, baseOf(inner, own), by) : inner]);
      rewritten.resources = Object.fromEntries(each);
    }
    return { ...environment, resource_registry: rewritten };
  }

  #types(map: Map_, base: string, by: string): Map_ {
    const PLAIN = ['hooks', 'restricted_actions', 'base_url'];
    const entries = Object.entries(map).map(([key, value]): [string, unknown] => {
      const isName = typeof value === 'string' && !value.includes('::') && !PLAIN.includes(key);
      return [key, isName ? this.#name(value, base, by, true) : value];
    });
    return Object.fromEntries(entries);
  }
}

const baseOf = (map: Map_, base: string): string => (typeof map.base_url === 'string' && map.base_url ? `${map.base_url.replace(/\/$/, '')}/` : base);

/** Merges a later environment into an earlier one: maps merge, other values replace, and null erases no map. */
function merge(into: unknown, later: unknown): unknown {
  if (!isMap(into)) return later;
  if (later === null) return into;
  if (!isMap(later)) return later;
  const merged: Map_ = { ...into };
  for (const [key, value] of Object.entries(later)) merged[key] = key in merged ? merge(merged[key], value) : value;
  return merged;
}

/** The body of a request for these files. */
export function resolve(source: FileSet, template: string, environments: string[]): Resolved {
  const gatherer = new Gatherer(source);
  const tree = gatherer.template(template);
  const trees = environments.map((path) => gatherer.environment(path));
  const environment = trees.reduce<unknown>((all, tree) => merge(all, tree), {}) as Map_;
  const names = environments.map(urlOf);
  const body = { template: tree, files: gatherer.files, environment, ...(names.length > 0 ? { environment_files: names } : {}) };
  return { body, missing: gatherer.missing };
}

/** The templates that no other template names, the most likely first; and the environments. */
export function sort(source: FileSet): { templates: string[]; environments: string[] } {
  const kinds = [...source].map(([path, bytes]) => [path, kindOf(bytes)] as const);
  const templates = kinds.filter(([, kind]) => kind === 'template').map(([path]) => path);
  const environments = kinds.filter(([, kind]) => kind === 'environment').map(([path]) => path);
  const named = new Set<string>();
  const gather = (work: (gatherer: Gatherer) => void): void => {
    const gatherer = new Gatherer(source);
    try {
      work(gatherer);
    } catch {
      // A file with mistakes is reported when it is used.
    }
    for (const url of Object.keys(gatherer.files)) named.add(pathOf(url) ?? '');
  };
  for (const path of templates) gather((it) => it.template(path));
  for (const path of environments) gather((it) => (it.environment(path), delete it.files[urlOf(path)]));
  const rank = (path: string): number => Number(named.has(path)) * 100 + path.split('/').length * 2 + Number(!/(main|template|stack|overcloud)[^/]*$/i.test(path));
  return { templates: templates.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)), environments: environments.sort() };
}
