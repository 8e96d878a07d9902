// The values that a cloud constraint allows: objects of other services, for lists in forms.

import { session } from '../session.svelte';
import { json } from './http';

export interface Choice {
  value: string;
  label: string;
}

/** Where the objects are: services in the order in which they are tried, path, member of the response, wrapper of each. */
interface Collection {
  services: string[];
  path: string;
  member: string;
  wrapper?: string;
  byName?: boolean;
}

const network = (member: string): Collection => ({ services: ['network'], path: `/v2.0/${member.replaceAll('_', '-')}`, member });
const compute = (path: string, member: string): Collection => ({ services: ['compute'], path, member });
const volume = (path: string, member: string): Collection => ({ services: ['block-storage', 'volumev3', 'volume'], path, member });

const COLLECTIONS: Record<string, Collection> = {
  'barbican.secret': { services: ['key-manager'], path: '/v1/secrets', member: 'secrets' },
  'cinder.backup': volume('/backups', 'backups'),
  'cinder.snapshot': volume('/snapshots', 'snapshots'),
  'cinder.volume': volume('/volumes', 'volumes'),
  'cinder.vtype': volume('/types', 'volume_types'),
  'designate.zone': { services: ['dns'], path: '/v2/zones', member: 'zones' },
  'glance.image': { services: ['image'], path: '/v2/images', member: 'images' },
  'neutron.address_scope': network('address_scopes'),
  'neutron.network': network('networks'),
  'neutron.port': network('ports'),
  'neutron.qos_policy': { services: ['network'], path: '/v2.0/qos/policies', member: 'policies' },
  'neutron.router': network('routers'),
  'neutron.security_group': network('security_groups'),
  'neutron.subnet': network('subnets'),
  'neutron.subnetpool': { services: ['network'], path: '/v2.0/subnetpools', member: 'subnetpools' },
  'nova.flavor': compute('/flavors', 'flavors'),
  'nova.keypair': { ...compute('/os-keypairs', 'keypairs'), wrapper: 'keypair', byName: true },
  'nova.server': compute('/servers', 'servers'),
  'octavia.listener': { services: ['load-balancer'], path: '/v2.0/lbaas/listeners', member: 'listeners' },
  'octavia.loadbalancer': { services: ['load-balancer'], path: '/v2.0/lbaas/loadbalancers', member: 'loadbalancers' },
  'octavia.pool': { services: ['load-balancer'], path: '/v2.0/lbaas/pools', member: 'pools' },
};

/** The values for a constraint; none if they cannot be listed, and then the user types one. */
export async function choices(constraint: string): Promise<Choice[]> {
  const collection = COLLECTIONS[constraint];
  const endpoint = collection?.services.map((type) => session.endpoint(type)).find((it) => it !== undefined);
  if (!collection || !endpoint) return [];
  const versioned = /\/v\d[\d.]*$/.test(endpoint) ? collection.path.replace(/^\/v\d[\d.]*/, '') : collection.path;
  try {
    const body = await json<Record<string, Record<string, unknown>[]>>(endpoint + versioned);
    return (body[collection.member] ?? []).map((row) => read(row, collection));
  } catch {
    return [];
  }
}

function read(row: Record<string, unknown>, { wrapper, byName }: Collection): Choice {
  const object = (wrapper ? (row[wrapper] as Record<string, unknown> | undefined) : row) ?? {};
  const id = String(object.id ?? object.name ?? '');
  const name = String(object.name ?? '');
  return { value: byName || name ? name : id, label: name && name !== id ? `${name} (${id})` : id };
}
