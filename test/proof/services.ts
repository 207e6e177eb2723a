import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What readers of the network and of daemons ask: a registry of packages, a cluster and a container daemon, each with one
 * of everything. They are told what they ask for and nothing more; whoever asks for a change is written down.
 */
export type Services = {
  /** `http://127.0.0.1:PORT`: the registry below `/npm`, the cluster below `/cluster`. */
  readonly address: string;
  /** Requests that would have changed something: `DELETE /…`. */
  readonly changes: readonly string[];
  /** Where the container daemon answers. */
  readonly socket: string;
  readonly close: () => void;
};

/** Questions that are asked with POST: what is vulnerable, who one is, whether one may. */
const ASKED_BY_POST = [
  '/npm/-/npm/v1/security/',
  '/cluster/apis/authorization.k8s.io/',
  '/cluster/apis/authentication.k8s.io/',
];

export async function startServices(): Promise<Services> {
  const changes: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    request.resume();
    const isQuestion = request.method === 'GET' || request.method === 'HEAD';
    const isAsked = request.method === 'POST' && ASKED_BY_POST.some((prefix) => path.startsWith(prefix));
    if (!isQuestion && !isAsked) changes.push(`${request.method} ${path}`);
    reply(response, path, request.headers.accept ?? '');
  };
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-services-'));
  // Whoever runs the commands has to reach it.
  chmodSync(directory, 0o755);
  const socket = join(directory, 'daemon.sock');
  const [far, near] = [createServer(answer), createServer(answer)];
  await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => near.listen({ path: socket, writableAll: true }, resolve));
  const { port } = far.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    socket,
    changes,
    close: () => {
      for (const server of [far, near]) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function reply(response: ServerResponse, path: string, accept: string): void {
  const body = bodyFor(path, accept) ?? { kind: 'Status', apiVersion: 'v1', code: 404, reason: 'NotFound' };
  const headers = { 'content-type': 'application/json', 'api-version': '1.47', ostype: 'linux' };
  response.writeHead(bodyFor(path, accept) === null ? 404 : 200, headers);
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Null: there is no such thing. */
function bodyFor(path: string, accept: string): unknown {
  if (path.startsWith('/npm/')) return ofRegistry(path.slice('/npm/'.length));
  if (path.startsWith('/cluster')) return ofCluster(path.slice('/cluster'.length), accept);
  return ofDaemon(path.replace(/^\/v[0-9.]+/, ''));
}

function ofRegistry(path: string): unknown {
  if (path.startsWith('-/v1/search')) return { objects: [], total: 0 };
  if (path === '-/whoami') return { username: 'tester' };
  if (path.startsWith('-/package/')) return { latest: '18.0.0' };
  if (path.startsWith('-/')) return {};
  const name = decodeURIComponent(path);
  const manifest = {
    name,
    version: '18.0.0',
    description: 'one of everything',
    dist: { tarball: 'http://127.0.0.1/x.tgz', shasum: '0'.repeat(40) },
  };
  return {
    name,
    'dist-tags': { latest: '18.0.0' },
    versions: { '18.0.0': manifest },
    time: { '18.0.0': '2024-01-01T00:00:00.000Z' },
    maintainers: [{ name: 'tester', email: 'tester@example.invalid' }],
  };
}

const KINDS: Readonly<Record<string, string>> = {
  pods: 'Pod',
  services: 'Service',
  nodes: 'Node',
  namespaces: 'Namespace',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  events: 'Event',
  deployments: 'Deployment',
  ingresses: 'Ingress',
};
const SHORT: Readonly<Record<string, string>> = {
  pods: 'po',
  services: 'svc',
  nodes: 'no',
  namespaces: 'ns',
  configmaps: 'cm',
  deployments: 'deploy',
  ingresses: 'ing',
};
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  '/api/v1': ['pods', 'services', 'nodes', 'namespaces', 'configmaps', 'secrets', 'events'],
  '/apis/apps/v1': ['deployments'],
  '/apis/networking.k8s.io/v1': ['ingresses'],
};

function ofCluster(path: string, accept: string): unknown {
  if (path === '/version') return { major: '1', minor: '32', gitVersion: 'v1.32.0' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis')
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: Object.keys(GROUPS).slice(1).map(groupOf) };
  const resources = Object.hasOwn(GROUPS, path) ? GROUPS[path] : undefined;
  if (resources !== undefined) {
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: versionOf(path),
      resources: resources.map(resourceOf),
    };
  }
  if (path.endsWith('/log')) return 'one\ntwo\n';
  const [last = '', before = ''] = path.split('/').reverse();
  const kind = Object.hasOwn(KINDS, last) ? KINDS[last] : undefined;
  if (kind !== undefined && accept.includes('as=Table')) {
    const columnDefinitions = [{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }];
    return { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, columnDefinitions, rows: [{ cells: ['web'] }] };
  }
  const group = Object.keys(GROUPS).find((prefix) => path.startsWith(`${prefix}/`)) ?? '/api/v1';
  const itemOf = (name: string, kindOf: string) => ({
    kind: kindOf,
    apiVersion: versionOf(group),
    metadata: { name, namespace: 'default', labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image: 'node:20' }] },
    status: { phase: 'Running' },
  });
  if (kind !== undefined) {
    return { kind: `${kind}List`, apiVersion: versionOf(group), metadata: {}, items: [itemOf('web', kind)] };
  }
  const one = Object.hasOwn(KINDS, before) ? KINDS[before] : undefined;
  return one === undefined ? null : itemOf(last, one);
}

/** `/apis/apps/v1` is `apps/v1`, `/api/v1` is `v1`. */
function versionOf(path: string): string {
  return path.split('/').slice(2).join('/');
}

function groupOf(path: string) {
  const groupVersion = versionOf(path);
  const [name = '', version = ''] = groupVersion.split('/');
  return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
}

function resourceOf(name: string) {
  const namespaced = name !== 'nodes' && name !== 'namespaces';
  const shortNames = Object.hasOwn(SHORT, name) ? [SHORT[name]] : [];
  return { name, singularName: '', namespaced, kind: KINDS[name], verbs: ['get', 'list'], shortNames };
}

const CONTAINER = {
  Id: '0'.repeat(64),
  Name: '/web',
  Names: ['/web'],
  Image: 'node:20',
  State: 'running',
  Status: 'Up',
  Created: 0,
  Ports: [],
  Labels: {},
};

function ofDaemon(path: string): unknown {
  if (path === '/_ping') return 'OK';
  if (path === '/version') return { Version: '28.2.2', ApiVersion: '1.47', Os: 'linux', Arch: 'amd64', Components: [] };
  if (path === '/containers/json') return [CONTAINER];
  if (path === '/images/json') return [{ Id: `sha256:${CONTAINER.Id}`, RepoTags: ['node:20'], Size: 1, Created: 0 }];
  if (path === '/volumes') return { Volumes: [{ Name: 'data', Driver: 'local' }] };
  if (path === '/networks') return [{ Name: 'bridge', Id: CONTAINER.Id, Driver: 'bridge', Scope: 'local' }];
  if (/^\/containers\/[^/]+\/json$/.test(path)) {
    return {
      ...CONTAINER,
      Created: '',
      State: { Status: 'running' },
      Config: { Tty: true },
      HostConfig: {},
      NetworkSettings: {},
    };
  }
  if (/^\/containers\/[^/]+\/top$/.test(path)) return { Titles: ['PID'], Processes: [['1']] };
  if (/^\/containers\/[^/]+\/logs$/.test(path)) return 'one\n';
  if (/\/(?:changes|history)$|^\/(?:plugins|nodes|services|tasks|secrets|configs)$/.test(path)) return [];
  return {};
}
