import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ConfigError, parseConfig } from './config.ts'

const schema = z.object({
  CRUX_PORT: z.coerce.number().int().min(1).max(65535).meta({ example: 8000 }).default(8000),
  DATABASE_URL: z.string().startsWith('postgres').meta({ example: 'postgres://host/crux' }),
})

function problem(env: NodeJS.ProcessEnv): string {
  try {
    parseConfig(schema, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
  }
  return 'accepted'
}

describe('parseConfig', () => {
  test('reads values and defaults, and treats an empty variable as absent', () => {
    const config = parseConfig(schema, { CRUX_PORT: '', DATABASE_URL: 'postgres://a/b', OTHER: 'x' })
    expect(config).toEqual({ CRUX_PORT: 8000, DATABASE_URL: 'postgres://a/b' })
  })

  test('reads X from the file that X_FILE names, without its trailing newline', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'url')
    writeFileSync(file, 'postgres://secret/b\n')
    expect(parseConfig(schema, { DATABASE_URL_FILE: file }).DATABASE_URL).toBe('postgres://secret/b')
  })

  test('reports variable, problem and example in one line, and never the value', () => {
    expect(problem({})).toBe('DATABASE_URL is required and missing (example: DATABASE_URL=postgres://host/crux)')
    const bad = problem({ CRUX_PORT: 'hunter2', DATABASE_URL: 'postgres://a' })
    expect(bad).toMatch(/^CRUX_PORT is not valid: .*\(example: CRUX_PORT=8000\)$/)
    expect(bad).not.toContain('hunter2')
  })

  test('refuses X together with X_FILE and a file that cannot be read', () => {
    expect(problem({ DATABASE_URL: 'postgres://a', DATABASE_URL_FILE: '/x' })).toContain(
      'set together with DATABASE_URL_FILE',
    )
    expect(problem({ DATABASE_URL_FILE: '/does/not/exist' })).toContain(
      'DATABASE_URL_FILE names a file that cannot be read: ENOENT',
    )
  })
})
