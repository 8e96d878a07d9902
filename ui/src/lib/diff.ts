// What an update changes in a template: properties of resources by their paths, and the parameters behind them.

type Map_ = Record<string, unknown>;
const isMap = (value: unknown): value is Map_ => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A difference at a path. */
export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

/** The differences of two values; a missing one is undefined. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isMap(before) && isMap(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => differences(before[key], after[key], path ? `${path}.${key}` : key));
  }
  return [{ path, before, after }];
}

/** The resources of a template, HOT or CloudFormation. */
function resourcesOf(template: unknown): Map_ {
  const found = isMap(template) ? (template.resources ?? template.Resources) : undefined;
  return isMap(found) ? found : {};
}

/** The parameters that a value refers to. */
export function parametersIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(parametersIn);
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = Array.isArray(inner) ? inner[0] : inner;
    return (key === 'get_param' || key === 'Ref') && typeof name === 'string' ? [name] : parametersIn(inner);
  });
}

/** Why a resource changes: what is written differently, and the parameters with new values that it refers to. */
export function changesOf(name: string, before: unknown, after: unknown, parameters: Difference[]): Difference[] {
  const [old, fresh] = [resourcesOf(before)[name], resourcesOf(after)[name]];
  const used = new Set(parametersIn(fresh));
  const behind = parameters.filter((it) => used.has(it.path)).map((it) => ({ ...it, path: `get_param ${it.path}` }));
  return [...differences(old, fresh), ...behind];
}
