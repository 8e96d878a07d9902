// Which resources fit a property: its cloud constraint names a kind of object, and types make such objects.

import type { PropertySchema } from './api/heat';

/** Kinds of objects whose types are named otherwise. */
const NAMES: Record<string, string> = { network: 'net', security_group: 'securitygroup', vtype: 'volumetype', loadbalancer: 'loadbalancer' };

/** The cloud constraint of a property, also inside of a list. */
export function constraintOf(schema: PropertySchema): string | null {
  const own = (schema.constraints ?? []).map((it) => it.custom_constraint).find((it) => typeof it === 'string');
  if (typeof own === 'string') return own;
  const item = schema.schema?.['*'];
  return schema.type === 'list' && item ? constraintOf(item) : null;
}

/** Whether a type makes the objects that a constraint asks for: `neutron.network` is made by `OS::Neutron::Net`. */
export function satisfies(type: string, constraint: string): boolean {
  const [service = '', kind = ''] = constraint.toLowerCase().split('.');
  const [, family = '', name = ''] = type.toLowerCase().split('::');
  const wanted = (NAMES[kind] ?? kind).replaceAll('_', '');
  return family === service && (name === wanted || name === `provider${wanted}`);
}
