// What can be typed at a place of a template, and what it means: from the schemas of types, the functions, and the template.

import * as heat from '../../lib/api/heat';
import type { PropertySchema } from '../../lib/api/heat';
import { document as readYaml } from '../../lib/yaml';
import { placeOf } from './places';

export interface Proposal {
  label: string;
  detail: string;
  info: string;
  insert: string;
}

const SECTIONS = ['heat_template_version', 'description', 'parameter_groups', 'parameters', 'conditions', 'resources', 'outputs'];
const RESOURCE_KEYS = ['type', 'properties', 'depends_on', 'metadata', 'condition', 'deletion_policy', 'update_policy', 'external_id'];
const PARAMETER_KEYS = ['type', 'label', 'description', 'default', 'hidden', 'constraints', 'immutable', 'tags'];
const PARAMETER_TYPES = ['string', 'number', 'boolean', 'comma_delimited_list', 'json'];

type Map_ = Record<string, unknown>;
const isMap = (value: unknown): value is Map_ => typeof value === 'object' && value !== null && !Array.isArray(value);
const plain = (label: string, insert = label): Proposal => ({ label, detail: '', info: '', insert });

/** The template as far as it can be read. */
export function lenient(text: string): Map_ {
  try {
    const value: unknown = readYaml(text).toJS({ maxAliasCount: 100 });
    return isMap(value) ? value : {};
  } catch {
    return {};
  }
}

const section = (template: Map_, name: string): Map_ => (isMap(template[name]) ? (template[name] as Map_) : {});

/** The schemas of the properties at a path of a resource. */
async function propertiesAt(template: Map_, path: string[]): Promise<Record<string, PropertySchema>> {
  const resource = section(template, 'resources')[path[1] ?? ''];
  const type = isMap(resource) && typeof resource.type === 'string' ? resource.type : '';
  if (!type.includes('::')) return {};
  let at = (await heat.typeSchema(type)).properties;
  for (const part of path.slice(3)) {
    const inner = at[part]?.schema;
    if (!inner) continue;
    at = inner['*']?.schema ?? inner;
  }
  return at;
}

function property(name: string, schema: PropertySchema): Proposal {
  const insert = schema.type === 'map' || schema.type === 'list' ? `${name}:` : `${name}: `;
  return { label: name, detail: `${schema.type}${schema.required ? ' *' : ''}`, info: schema.description ?? '', insert };
}

/** The proposals for an offset. */
export async function propose(text: string, offset: number): Promise<Proposal[]> {
  const { path, key } = placeOf(text, offset);
  const template = lenient(text);
  const [first, , third] = path;
  if (key === 'get_param' || /get_param:\s*\S*$/.test(text.slice(0, offset))) return Object.keys(section(template, 'parameters')).map((it) => plain(it));
  if (/(get_resource|get_attr|depends_on):\s*\[?\s*\S*$/.test(text.slice(0, offset))) return Object.keys(section(template, 'resources')).map((it) => plain(it));
  if (key === 'type' && first === 'resources' && path.length === 2) return (await heat.types()).map((it) => ({ label: it.resource_type, detail: '', info: it.description, insert: it.resource_type }));
  if (key === 'type' && first === 'parameters') return PARAMETER_TYPES.map((it) => plain(it));
  if (key !== null && path.length < 3) return [];
  if (path.length === 0) return SECTIONS.map((it) => plain(it, `${it}:`));
  if (first === 'parameters' && path.length === 2) return PARAMETER_KEYS.map((it) => plain(it, `${it}: `));
  if (first === 'resources' && path.length === 2) return RESOURCE_KEYS.map((it) => plain(it, `${it}: `));
  if (first === 'resources' && third === 'properties') {
    const properties = await propertiesAt(template, path);
    if (key === null) return Object.entries(properties).map(([name, schema]) => property(name, schema));
    return valuesOf(properties[key]);
  }
  return [];
}

/** Values of a property: those its constraints allow, and functions. */
async function valuesOf(schema: PropertySchema | undefined): Promise<Proposal[]> {
  const allowed = (schema?.constraints ?? []).flatMap((it) => (Array.isArray(it.allowed_values) ? it.allowed_values : []));
  const booleans = schema?.type === 'boolean' ? ['true', 'false'] : [];
  const functions = ['get_param', 'get_resource', 'get_attr', 'get_file', 'str_replace', 'list_join'];
  return [...allowed.map(String), ...booleans].map((it) => plain(it)).concat(functions.map((it) => plain(it, `{${it}: `)));
}

/** What the word at an offset means. */
export async function explain(text: string, offset: number): Promise<string | null> {
  const end = offset + (/^[A-Za-z0-9_:.\-]*/.exec(text.slice(offset))?.[0].length ?? 0);
  const { path, word } = placeOf(text, end);
  const name = word.replace(/:$/, '');
  if (!name) return null;
  if (name.includes('::')) {
    const schema = await heat.typeSchema(name).catch(() => null);
    return schema ? `${name}\n${schema.description ?? ''}` : null;
  }
  if (path[0] === 'resources' && path[2] === 'properties') {
    const schema = (await propertiesAt(lenient(text), path))[name];
    return schema ? `${name}: ${schema.type}${schema.required ? ' *' : ''}\n${schema.description ?? ''}` : null;
  }
  return null;
}
