// A template as a graph before there is a stack: resources, and what they refer to.

import type { Resource } from './api/heat';
import { grow, type Node } from './tree';

type Map_ = Record<string, unknown>;
const isMap = (value: unknown): value is Map_ => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The names of resources that a value refers to. */
export function references(value: unknown, names: ReadonlySet<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => references(item, names));
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const first = Array.isArray(inner) ? inner[0] : inner;
    const isReference = ['get_resource', 'get_attr', 'Ref', 'Fn::GetAtt'].includes(key);
    return isReference && typeof first === 'string' && names.has(first) ? [first] : references(inner, names);
  });
}

/** The nodes of a template that was read. */
export function sketch(template: unknown): Node[] {
  const found = isMap(template) ? (template.resources ?? template.Resources) : undefined;
  const resources = isMap(found) ? Object.entries(found).filter((it): it is [string, Map_] => isMap(it[1])) : [];
  const names = new Set(resources.map(([name]) => name));
  const requiredBy = new Map<string, Set<string>>(resources.map(([name]) => [name, new Set<string>()]));
  for (const [name, resource] of resources) {
    const explicit = [resource.depends_on ?? resource.DependsOn ?? []].flat();
    for (const other of [...explicit, ...references(resource, names)]) if (typeof other === 'string' && other !== name) requiredBy.get(other)?.add(name);
  }
  return grow(
    resources.map(([name, resource]): Resource => ({
      resource_name: name, logical_resource_id: name, physical_resource_id: '', resource_type: String(resource.type ?? resource.Type ?? ''), resource_status: 'INIT_COMPLETE',
      resource_status_reason: '', creation_time: '', updated_time: '', required_by: [...(requiredBy.get(name) ?? [])], links: [],
    })),
  );
}
