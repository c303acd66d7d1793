import { describe, expect, test } from 'vitest'
import { splitReference } from '../../split-reference.ts'
import { holdsPort } from './container-engine.ts'
import { translate, translateRegistry } from './errors.ts'
import { idFrom } from './own-container.ts'
import { LayerProgress } from './pull.ts'

const answer = (statusCode: number, message: string) =>
  Object.assign(new Error(message), { statusCode, json: { message } })

describe('translate', () => {
  test.each([
    [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'unavailable'],
    [new Error('socket hang up'), 'unavailable'],
    [answer(404, 'No such container: x'), 'not-found'],
    [answer(409, 'Conflict. The container name is in use'), 'conflict'],
    [answer(500, 'Bind for 0.0.0.0:80 failed: port is already allocated'), 'port-taken'],
    [answer(500, 'listen tcp4 0.0.0.0:80: bind: address already in use'), 'port-taken'],
    [answer(500, 'anything else'), 'other'],
  ])('translates %s to %s', (error, kind) => {
    expect(translate(error, 'x').kind).toBe(kind)
  })

  test.each([
    [answer(404, 'manifest unknown: manifest unknown'), 'not-found'],
    [answer(500, 'Get "http://r/v2/": dial tcp 127.0.0.1:1: connect: connection refused'), 'registry-unavailable'],
    [answer(500, 'lookup r on 10.0.0.1:53: no such host'), 'registry-unavailable'],
    [answer(401, 'unauthorized: authentication required'), 'unauthorized'],
    [answer(500, 'no basic auth credentials'), 'unauthorized'],
    [answer(500, 'toomanyrequests: You have reached your pull rate limit'), 'refused'],
  ])('translates the registry answer %s to %s', (error, kind) => {
    const known = translateRegistry(error, 'r/app:1')
    expect(known.kind).toBe(kind)
    expect(known.message).toContain('r/app:1')
  })
})

/** Messages of engines, machines and registries that the tests of the engine's messages do not have, or that take too long there. */
describe('the translation of messages of other engines and registries', () => {
  test.each([
    [
      'failed to set up container networking: driver failed programming external connectivity on endpoint web (f60e): failed to bind host port for 0.0.0.0:8080:172.18.0.2:80/tcp: address already in use',
      'Port 8080 is taken on the node: choose another port, or stop what uses it',
    ],
    [
      'failed to bind host port 0.0.0.0:8080/tcp: address already in use',
      'Port 8080 is taken on the node: choose another port, or stop what uses it',
    ],
    ['error looking up logging plugin nope: plugin "nope" not found', 'Docker has no log driver nope: choose another'],
    [
      'OCI runtime create failed: runc create failed: container init was OOM-killed (memory limit too low?): unknown',
      'The memory limit is too low for the container to start: raise it',
    ],
    [
      'fork/exec /usr/bin/runc: cannot allocate memory',
      'The node has no memory left: stop something on it, or add memory',
    ],
  ])('explains %s', (message, sentence) => {
    expect(translate(answer(500, message), 'start the container').message).toBe(`${sentence} (Docker: ${message})`)
  })

  test('names the rights that the agent needs where the engine refuses access', () => {
    const denied = Object.assign(new Error('connect EACCES /var/run/docker.sock'), { code: 'EACCES' })
    expect(translate(denied, 'describe itself')).toMatchObject({
      kind: 'refused',
      message:
        'The agent may not use the Docker engine: run it as root, or as a member of the group docker (Docker: connect EACCES /var/run/docker.sock)',
    })
  })

  test.each([
    ['Get "https://r/v2/": x509: certificate signed by unknown authority', /^Docker does not trust the certificate/],
    ['http: server gave HTTP response to HTTPS client', /insecure-registries \(Docker: /],
    [
      'no matching manifest for linux/arm64/v8 in the manifest list entries',
      /^The image r\/app:1 is not built for the node's processor/,
    ],
    ['write /var/lib/docker/tmp/x: no space left on device', /^No space is left on the disk of the node/],
    ['toomanyrequests: You have reached your pull rate limit', /^The registry limits how often r\/app:1 may be pulled/],
  ])('explains %s', (message, sentence) => {
    expect(translateRegistry(answer(500, message), 'r/app:1').message).toMatch(sentence)
  })
})

describe('splitReference', () => {
  test.each([
    ['nginx', 'nginx', 'latest'],
    ['host:5000/a/b', 'host:5000/a/b', 'latest'],
    ['host:5000/a/b:1.2', 'host:5000/a/b', '1.2'],
    ['host/a@sha256:00', 'host/a', ''],
    ['host/a:1@sha256:00', 'host/a', '1'],
  ])('splits %s into %s and %s', (reference, name, tag) => {
    expect(splitReference(reference)).toEqual({ name, tag })
  })
})

describe('holdsPort', () => {
  const table = [
    '  sl  local_address rem_address   st',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000',
    '   1: 00000000:0050 00000000:0000 0A 00000000:00000000',
    '   2: 0100007F:0051 0100007F:C350 01 00000000:00000000',
  ].join('\n')
  const tcp = (hostPort: number, address = '') => ({ hostPort, protocol: 'tcp' as const, address })
  test('finds listening sockets on overlapping addresses and no others', () => {
    expect(holdsPort(table, tcp(8080))).toBe(true)
    expect(holdsPort(table, tcp(8080, '127.0.0.1'))).toBe(true)
    expect(holdsPort(table, tcp(8080, '10.0.0.1'))).toBe(false)
    expect(holdsPort(table, tcp(80, '10.0.0.1'))).toBe(true)
    expect(holdsPort(table, tcp(81))).toBe(false)
    expect(holdsPort(table, { ...tcp(8080), protocol: 'udp' })).toBe(false)
  })
})

describe('idFrom', () => {
  test('finds the id of the own container in the mounts of its files', () => {
    const id = 'a1'.repeat(32)
    expect(idFrom(`612 600 254:0 /var/lib/docker/containers/${id}/resolv.conf /etc/resolv.conf rw`)).toBe(id)
    expect(idFrom('21 1 254:0 / / rw,relatime')).toBeUndefined()
  })
})

describe('LayerProgress', () => {
  test('sums the bytes of all layers and never exceeds their total', () => {
    const layers = new LayerProgress()
    expect(layers.take({ status: 'Pulling from app', id: '1' })).toBe(false)
    layers.take({ id: 'a', status: 'Downloading', progressDetail: { current: 10, total: 100 } })
    layers.take({ id: 'b', status: 'Downloading', progressDetail: { current: 60, total: 50 } })
    expect(layers.sum()).toEqual({ currentBytes: 60, totalBytes: 150, status: 'Pulling' })
    layers.take({ id: 'a', status: 'Download complete' })
    layers.take({ id: 'a', status: 'Extracting', progressDetail: { current: 1, total: 100 } })
    expect(layers.sum()).toEqual({ currentBytes: 150, totalBytes: 150, status: 'Extracting' })
  })
})
