import { expect, test } from 'vitest'
import { imagePorts } from '../docker/plan/image-ports.ts'
import { getRegistry, parseImage } from './image-reference.ts'

const digest = `sha256:${'a'.repeat(64)}`

test.each([
  ['alpine', { name: 'alpine', tag: 'latest', digest: undefined }, 'docker.io'],
  ['group/app:1.2', { name: 'group/app', tag: '1.2', digest: undefined }, 'docker.io'],
  [
    'index.docker.io/library/alpine',
    { name: 'index.docker.io/library/alpine', tag: 'latest', digest: undefined },
    'docker.io',
  ],
  ['localhost:5000/app', { name: 'localhost:5000/app', tag: 'latest', digest: undefined }, 'localhost:5000'],
  [`ghcr.io/a/b:c@${digest}`, { name: 'ghcr.io/a/b', tag: 'c', digest }, 'ghcr.io'],
])('parseImage parses %s', (text, image, registry) => {
  expect(parseImage(text)).toEqual(image)
  expect(getRegistry(parseImage(text).name)).toBe(registry)
})

test.each(['', 'UPPER/case', '-a', 'a b', 'a:', 'a@sha256:short', 'localhost:5000/', '../a', 'a//b', 'a:b c'])(
  'parseImage refuses %j',
  (text) => {
    expect(() => parseImage(text)).toThrow('is not the name of an image')
  },
)

const labels = (value: unknown) => ({
  'io.dyrector.cap.network.v1': typeof value === 'string' ? value : JSON.stringify(value),
})

test('imagePorts publishes the public ports of an image on any free port and exposes the rest', () => {
  expect(
    imagePorts(
      labels({
        ports: [
          { listening: 80, exposed: true },
          { listening: 9000, exposed: false },
        ],
      }),
    ),
  ).toEqual({
    exposed: [
      { port: 80, protocol: 'tcp' },
      { port: 9000, protocol: 'tcp' },
    ],
    published: [{ containerPort: 80, hostPort: 0, protocol: 'tcp', address: '' }],
  })
  expect(imagePorts({})).toEqual({ exposed: [], published: [] })
})

test('imagePorts reports a label that cannot be read and refuses a number that is no port', () => {
  for (const bad of ['{', '[]', { ports: 'all' }, { ports: [null] }])
    expect(imagePorts(labels(bad)).problem).toContain('cannot be read')
  for (const listening of [0, 65_536, 1.5, 'x'])
    expect(() => imagePorts(labels({ ports: [{ listening }] }))).toThrow('which is not a port')
})
