// A short example of a resource type: its required properties, as parameters.

import type { PropertySchema, TypeSchema } from './api/heat';

const PARAMETER_TYPES: Record<string, string> = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', list: 'json', map: 'json', any: 'json' };

/** The name of a resource of a type, such as `server` for `OS::Nova::Server`. */
export const nameOf = (type: string): string => (type.split('::').at(-1) ?? 'resource').replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();

/** The required properties of a type. */
export const required = (schema: TypeSchema): [string, PropertySchema][] => Object.entries(schema.properties).filter(([, it]) => it.required);

/** A template with one resource. */
export function example(schema: TypeSchema): Record<string, unknown> {
  const needed = required(schema);
  const constraint = (it: PropertySchema): object => {
    const rules = (it.constraints ?? []).filter((rule) => 'custom_constraint' in rule || 'allowed_values' in rule);
    return rules.length > 0 && it.type === 'string' ? { constraints: rules } : {};
  };
  const parameters = Object.fromEntries(needed.map(([name, it]) => [name, { type: PARAMETER_TYPES[it.type] ?? 'string', ...constraint(it) }]));
  const properties = Object.fromEntries(needed.map(([name]) => [name, { get_param: name }]));
  const resource = nameOf(schema.resource_type);
  return {
    heat_template_version: '2021-04-16',
    ...(needed.length > 0 ? { parameters } : {}),
    resources: { [resource]: { type: schema.resource_type, ...(needed.length > 0 ? { properties } : {}) } },
    outputs: { id: { value: { get_resource: resource } } },
  };
}
