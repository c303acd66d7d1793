import { expect, it } from 'vitest'
import { offeredHookKinds } from './registry-hook-kinds.ts'

it.each([
  [{ type: 'hub', url: 'hub.docker.com' }, ['hub']],
  [{ type: 'github', url: 'ghcr.io' }, ['github']],
  [{ type: 'v2', url: 'registry.example.com' }, ['v2', 'harbor']],
  [{ type: 'gitlab', url: 'registry.example.com' }, ['v2', 'harbor']],
  [{ type: 'gitlab', url: 'https://gitlab.example.com:5050' }, ['v2', 'harbor']],
  [{ type: 'gitlab', url: 'registry.gitlab.com' }, []],
  [{ type: 'gitlab', url: 'https://GitLab.com' }, []],
  [{ type: 'gitlab', url: 'registry.gitlab.com:443' }, []],
  [{ type: 'google', url: 'gcr.io' }, []],
  [{ type: 'unchecked', url: 'registry.example.com' }, []],
] as const)('a registry %j is offered the hooks %j', (registry, kinds) => {
  expect(offeredHookKinds(registry)).toEqual(kinds)
})
