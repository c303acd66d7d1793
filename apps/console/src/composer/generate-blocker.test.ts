import type { ComposeProblem } from '@crux/compose'
import { expect, test } from 'vitest'
import type { ComposeResult, ServiceResult } from './compose-result.ts'
import { findGenerateBlocker } from './generate-blocker.ts'

const at = { file: 'compose.yaml', line: 1, column: 1 }
const makeService = (overrides: Partial<ServiceResult> = {}): ServiceResult => ({
  service: 'web',
  reference: 'nginx',
  name: 'docker.io/library/nginx',
  tag: null,
  position: at,
  config: {},
  registry: { id: '1', name: 'hub', imageName: 'nginx' },
  host: 'docker.io',
  dangers: [],
  problems: [],
  notKept: [],
  json: '{}',
  ...overrides,
})
const makeProblem = (level: ComposeProblem['level']): ComposeProblem => ({
  ...at,
  level,
  path: '',
  service: null,
  message: 'wrong',
})
const makeResult = (overrides: Partial<ComposeResult> = {}): ComposeResult => ({
  services: [makeService()],
  failedServices: [],
  problems: [],
  notKept: [],
  missingHosts: [],
  ...overrides,
})
const asUser = { isReady: true, isAdmin: false }
const dangerous = makeService({ dangers: [{ property: 'networkMode', value: 'host', reason: 'it reaches the node' }] })

test.each([
  ['the files were not read yet', null, { reason: 'reading' }],
  ['there is no service', makeResult({ services: [] }), { reason: 'noServices' }],
  ['there is an error', makeResult({ problems: [makeProblem('error')] }), { reason: 'problems', count: 1 }],
  ['a registry is missing', makeResult({ missingHosts: ['ghcr.io'] }), { reason: 'registries', count: 1 }],
  ['a user would reach the node', makeResult({ services: [dangerous] }), { reason: 'dangers', count: 1 }],
  [
    'there are more services than images in one request',
    makeResult({ services: Array.from({ length: 501 }, () => makeService()) }),
    { reason: 'tooMany', count: 501 },
  ],
])('prevents generating while %s', (_, result, expected) => {
  expect(findGenerateBlocker(result, asUser)).toEqual(expected)
})

test('prevents generating while reading takes long, because the result is outdated', () => {
  expect(findGenerateBlocker(makeResult(), { ...asUser, isReady: false })).toEqual({ reason: 'reading' })
})

test('allows generating with warnings, and for admins with settings that reach the node', () => {
  expect(findGenerateBlocker(makeResult({ problems: [makeProblem('warning')] }), asUser)).toBeNull()
  expect(findGenerateBlocker(makeResult({ services: [dangerous] }), { isReady: true, isAdmin: true })).toBeNull()
})
