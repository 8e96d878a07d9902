// Changes to the text of a template that keep the rest of it as it is.

import { isMap, type Document } from 'yaml';
import type { TypeSchema } from './api/heat';
import { nameOf, required } from './example';
import { document as readYaml } from './yaml';

const EMPTY = 'heat_template_version: 2021-04-16\n\nresources: {}\n';

function open(text: string): Document.Parsed {
  const read = readYaml(text.trim() ? text : EMPTY);
  return isMap(read.contents) ? read : readYaml(EMPTY);
}

const close = (read: Document.Parsed): string => read.toString({ lineWidth: 0 });

/** Adds a resource of a type with its required properties; the result has its name. */
export function addResource(text: string, schema: TypeSchema): { text: string; name: string } {
  const read = open(text);
  const base = nameOf(schema.resource_type);
  let name = base;
  for (let number = 2; read.hasIn(['resources', name]); number++) name = `${base}_${number}`;
  const properties = Object.fromEntries(required(schema).map(([key, it]) => [key, it.default ?? null]));
  const resource = { type: schema.resource_type, ...(Object.keys(properties).length > 0 ? { properties } : {}) };
  const resources = read.get('resources');
  if (isMap(resources)) {
    resources.flow = false;
    resources.set(read.createNode(name), read.createNode(resource));
  } else read.set('resources', read.createNode({ [name]: resource }));
  return { text: close(read), name };
}

/** Sets a property of a resource; nothing removes it. */
export function setProperty(text: string, resource: string, property: string, value: unknown): string {
  const read = open(text);
  const path = ['resources', resource, 'properties', property];
  if (value === undefined) read.deleteIn(path);
  else {
    if (!isMap(read.getIn(path.slice(0, 3)))) read.setIn(path.slice(0, 3), read.createNode({}));
    read.setIn(path, read.createNode(value, { flow: typeof value === 'object' }));
  }
  return close(read);
}

/** Removes a resource. */
export function removeResource(text: string, resource: string): string {
  const read = open(text);
  read.deleteIn(['resources', resource]);
  return close(read);
}
