import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { configFromJson, configToJson } from './config-json.ts'
import { validateConfig } from './config-validate.ts'
import { hasHealthTest, healthCheckTest } from './health-check.ts'
import { notApplied } from './not-applied.ts'

const words = [{ key: 'pg_isready' }, { key: '-U' }]

describe('the test of a health check', () => {
  it('has a form that the engine takes', () => {
    expect(healthCheckTest(undefined)).toBeUndefined()
    expect(healthCheckTest({ intervalSeconds: 5 })).toBeUndefined()
    expect(healthCheckTest({ command: 'true' })).toEqual(['CMD-SHELL', 'true'])
    expect(healthCheckTest({ test: 'shell', command: 'true' })).toEqual(['CMD-SHELL', 'true'])
    expect(healthCheckTest({ test: 'exec', arguments: words })).toEqual(['CMD', 'pg_isready', '-U'])
    expect(healthCheckTest({ test: 'none' })).toEqual(['NONE'])
  })

  it('is that of the image unless the configuration replaces it or switches it off', () => {
    expect(hasHealthTest(null, { hasHealthCheck: true })).toBe(true)
    expect(hasHealthTest(null, {})).toBe(false)
    expect(hasHealthTest({ test: 'exec', arguments: words }, {})).toBe(true)
    expect(hasHealthTest({ test: 'none' }, { hasHealthCheck: true })).toBe(false)
  })

  it('is refused if a setting belongs to another form', () => {
    const getProblems = (healthCheckConfig: NonNullable<ContainerConfigFields['healthCheckConfig']>) =>
      validateConfig({ healthCheckConfig }).map(({ property, error }) => `${property} ${error}`)
    expect(getProblems({ test: 'exec' })).toEqual(['healthCheckConfig.arguments required'])
    expect(getProblems({ test: 'exec', arguments: [] })).toEqual(['healthCheckConfig.arguments required'])
    expect(getProblems({ test: 'exec', arguments: words, command: 'true' })).toEqual([
      'healthCheckConfig.command oneOf',
    ])
    expect(getProblems({ arguments: words })).toEqual(['healthCheckConfig.arguments oneOf'])
    expect(getProblems({ test: 'none', command: 'true' })).toEqual(['healthCheckConfig.command oneOf'])
    expect(getProblems({ test: 'none', arguments: words })).toEqual(['healthCheckConfig.arguments oneOf'])
    expect(getProblems({ test: 'exec', arguments: words })).toEqual([])
    expect(getProblems({ test: 'shell' })).toEqual([])
    expect(getProblems({ test: 'none' })).toEqual([])
  })

  it('has its arguments as texts in JSON', () => {
    const fields: ContainerConfigFields = { healthCheckConfig: { test: 'exec', arguments: words } }
    const json = configToJson(fields)
    expect(json).toEqual({ healthCheckConfig: { test: 'exec', arguments: ['pg_isready', '-U'] } })
    const parsed = configFromJson(JSON.stringify(json), {}, { newId: () => crypto.randomUUID(), base: true })
    expect(parsed).toMatchObject({ ok: true, patch: fields })
  })
})

it('settings that Docker does not apply are listed: replicas above 1, and times of a test that is off', () => {
  const list = (config: ContainerConfigFields) => notApplied(config, 'docker').map(({ property }) => property)
  expect(list({ replicas: 1, healthCheckConfig: { test: 'none' } })).toEqual([])
  expect(list({ replicas: 2, healthCheckConfig: { test: 'none', retries: 3 } })).toEqual([
    'replicas',
    'healthCheckConfig.retries',
  ])
  expect(notApplied({ replicas: 2 }, 'k8s')).toEqual([])
})

it('replicas are a number from 0 to 100', () => {
  for (const replicas of [0, 100]) expect(validateConfig({ replicas })).toEqual([])
  for (const replicas of [-1, 101, 1.5]) expect(validateConfig({ replicas })).toMatchObject([{ property: 'replicas' }])
})
