// What a launch or a change consists of, while it is put together.

import * as heat from '../../lib/api/heat';
import type { Changes, PlannedResource, Stack, StackBody, StackRef, Validation } from '../../lib/api/heat';
import { differences, type Difference } from '../../lib/diff';
import type { FileSet } from '../../lib/files/drop';
import { resolve, sort, type Missing } from '../../lib/files/resolve';

export interface Plan {
  changes: Changes;
  /** The template before; nothing for a new stack. */
  before: unknown;
  after: unknown;
  parameters: Difference[];
}

export class Wizard {
  files = $state.raw<FileSet>(new Map());
  templates = $state.raw<string[]>([]);
  environments = $state.raw<string[]>([]);
  template = $state('');
  chosen = $state<Record<string, boolean>>({});
  /** The address of a template that the service fetches. */
  templateUrl = $state('');
  missing = $state.raw<Missing[]>([]);
  validation = $state.raw<Validation | null>(null);
  values = $state<Record<string, string>>({});
  name = $state('');
  timeout = $state('');
  rollback = $state(false);
  tags = $state('');
  plan = $state.raw<Plan | null>(null);
  #initial: Record<string, string> = {};
  #sources: StackBody = {};

  constructor(
    readonly stack: StackRef | null,
    readonly current: Stack | null,
  ) {
    this.tags = current?.tags?.join(',') ?? '';
    this.rollback = current ? !current.disable_rollback : false;
    this.timeout = current?.timeout_mins ? String(current.timeout_mins) : '';
  }

  /** Whether the template of the stack stays as it is. */
  get keepsTemplate(): boolean {
    return !!this.stack && this.files.size === 0 && !this.templateUrl;
  }

  /** Takes files in place of the former ones. */
  take(files: FileSet): void {
    const { templates, environments } = sort(files);
    [this.files, this.templates, this.environments] = [files, templates, environments];
    this.template = templates[0] ?? '';
    this.chosen = environments.length === 1 && environments[0] ? { [environments[0]]: true } : {};
    if (!this.name && !this.stack) this.name = suggestedName(this.template);
    this.look();
  }

  /** Finds what is missing; a mistake in a file is thrown when the form is asked for. */
  look(): void {
    try {
      this.missing = this.template ? this.#resolve().missing : [];
    } catch {
      this.missing = [];
    }
  }

  #resolve(): ReturnType<typeof resolve> {
    return resolve(this.files, this.template, this.environments.filter((path) => this.chosen[path]));
  }

  /** Asks the service for the parameters. */
  async validate(): Promise<void> {
    if (this.keepsTemplate && this.stack) {
      const [template, files, environment] = await Promise.all([heat.template(this.stack), heat.files(this.stack), heat.environment(this.stack)]);
      this.#sources = {};
      this.validation = await heat.validate({ template, files, environment });
    } else {
      this.#sources = this.templateUrl ? ({ template_url: this.templateUrl } as StackBody) : this.#resolve().body;
      this.validation = await heat.validate(this.#sources);
    }
    this.#fill(this.validation);
  }

  /** The values that the form begins with. Hidden ones are never shown. */
  #fill({ Parameters }: Validation): void {
    const text = (value: unknown): string => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));
    const first = (name: string): string => {
      const schema = Parameters[name];
      if (!schema || String(schema.NoEcho) === 'true') return '';
      return text(this.current?.parameters?.[name] ?? schema.Value ?? schema.DefaultValue ?? schema.Default);
    };
    this.#initial = Object.fromEntries(Object.keys(Parameters).map((name) => [name, first(name)]));
    this.values = Object.fromEntries(Object.entries(this.#initial).map(([name, value]) => [name, this.values[name] || value]));
  }

  /** Only values that differ from the template's and the stack's are sent. */
  get parameters(): Record<string, unknown> {
    const given = Object.entries(this.values).filter(([name, value]) => value !== this.#initial[name]);
    return Object.fromEntries(given);
  }

  /** The request. */
  body(): StackBody {
    const settings: StackBody = { parameters: this.parameters, disable_rollback: !this.rollback };
    if (this.timeout) settings.timeout_mins = Number(this.timeout);
    if (this.tags || this.current?.tags?.length) settings.tags = this.tags;
    if (this.stack) return { ...this.#sources, ...settings, existing: true };
    return { stack_name: this.name, ...settings, ...this.#sources };
  }

  /** Asks the service what would happen. */
  async preview(): Promise<void> {
    const body = this.body();
    if (!this.stack) {
      const added = await heat.previewCreate(body);
      this.plan = { changes: { ...NONE, added }, before: null, after: body.template, parameters: [] };
      return;
    }
    const [changes, before] = await Promise.all([heat.previewUpdate(this.stack, body), heat.template(this.stack)]);
    const old = this.current?.parameters ?? {};
    const isHidden = (name: string): boolean => String(this.validation?.Parameters[name]?.NoEcho) === 'true';
    const shown = Object.fromEntries(Object.entries(this.parameters).map(([name, value]) => [name, isHidden(name) ? '••••••' : value]));
    const parameters = differences({ ...old, ...Object.fromEntries(Object.keys(shown).filter((it) => !(it in old)).map((it) => [it, undefined])) }, { ...old, ...shown });
    this.plan = { changes, before, after: body.template ?? before, parameters };
  }

  /** Carries it out. */
  async apply(): Promise<StackRef> {
    if (!this.stack) return heat.create(this.body());
    await heat.update(this.stack, this.body());
    return this.stack;
  }

  /** Forgets what was typed into hidden fields. */
  forget(): void {
    this.values = {};
  }
}

const NONE: Changes = { added: [], updated: [], replaced: [], deleted: [], unchanged: [] as PlannedResource[] };

/** A name from that of a file. */
export function suggestedName(path: string): string {
  const parts = path.split('/');
  const stem = (parts.at(-1) ?? '').replace(/\.[^.]*$/, '');
  const base = /^(main|template|stack|index)$/i.test(stem) && parts.length > 1 ? (parts.at(-2) ?? stem) : stem;
  const name = base.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z]+/, '');
  return name || 'stack';
}
